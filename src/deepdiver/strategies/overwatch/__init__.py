"""`overwatch`, one module for each phase."""
