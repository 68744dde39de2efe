"""A library in a PostgreSQL database that many machines share."""
