"""Search providers, one small file each."""
