"""The user's own documents."""
