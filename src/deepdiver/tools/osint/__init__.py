"""Intelligence feeds: typed arguments in, typed rows out.

A feed is a module with an object `FEED` (see `feed.py`) and a line in the entry points
`deepdiver.feeds`. A feed that asks several services has a folder with a module for each service.
"""
