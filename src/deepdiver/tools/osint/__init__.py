"""Intelligence feeds: services that answer typed arguments with typed rows, one module each."""
