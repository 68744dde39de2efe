"""Thermal anomalies: pixels from NASA FIRMS, and the sightings that they make up."""
