"""Names on sanctions lists: how they are written, compared, indexed and looked up."""
