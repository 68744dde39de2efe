"""Which version of deepdiver this is."""

VERSION = "0.1.0"
