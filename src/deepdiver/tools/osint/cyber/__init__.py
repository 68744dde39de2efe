"""Vulnerabilities: CISA's catalogue of exploited ones (KEV) and NVD."""
