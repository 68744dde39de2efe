"""How good deepdiver is, in figures that code computes."""
