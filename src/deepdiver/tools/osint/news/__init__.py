"""News: articles that GDELT lists, and the RSS and Atom feeds of the user."""
