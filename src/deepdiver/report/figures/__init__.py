"""Pictures of what was found: a timeline, a map, and a matrix of hypotheses and evidence, as SVG.

A picture is a function of the record: the same record gives the same bytes. It has no script, loads
nothing, and shows what strangers wrote as text.
"""
