"""Pictures of what was found, as SVG: charts of cited values, a timeline, a map, and the evidence.

A picture is a function of the record: the same record gives the same bytes. It has no script, loads
nothing, and shows what strangers wrote as text.
"""
