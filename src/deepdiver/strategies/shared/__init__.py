"""What the strategies share."""
