"""Search providers: one file each."""
