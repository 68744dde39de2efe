"""Composing, auditing and rendering reports."""
