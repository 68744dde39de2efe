"""What code understands of English: what a message asks, its spelling, statements and values."""
