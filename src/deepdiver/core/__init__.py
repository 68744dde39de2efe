"""Pure data and arithmetic: what a run holds, how belief moves, what surfaces see.

No input, no output.
"""
