"""What code understands of English: what a message asks, statements and values."""
