"""What past runs found, and how: hints for a new run, with their age, and never evidence."""
