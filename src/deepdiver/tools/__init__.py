"""Searching and reading."""
