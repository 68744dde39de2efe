"""`orchestrated`: agents over one research context."""
