"""Internet outages: IODA and Cloudflare Radar."""
