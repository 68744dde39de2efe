"""Names on sanctions lists: how they are read, compared, indexed and looked up."""
