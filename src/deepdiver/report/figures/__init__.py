"""Pictures of what was found: a timeline, a map, and a matrix of hypotheses and evidence, as SVG.

A picture is a function of the record: the same record gives the same bytes. It holds no script and
asks for nothing from outside, and what strangers wrote stands in it as text.
"""
