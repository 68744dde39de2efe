"""Searching and reading: providers, feeds, pages, documents and the tools of others."""
