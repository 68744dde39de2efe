"""Pure data and arithmetic, without input or output.

What a run holds, how belief moves, and what the surfaces show.
"""
