"""The five strategies: small graphs over shared nodes."""
