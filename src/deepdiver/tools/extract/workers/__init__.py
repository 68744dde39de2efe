"""The processes that read files, confined, and the pool that starts them."""
