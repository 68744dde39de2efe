"""`overwatch`: its graph, and a module for each phase."""
