"""A library in a folder of this machine."""
