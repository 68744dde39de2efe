"""What past runs found, and how they went about it: hints for a new run, with their age.

Never evidence.
"""
