"""`navigator`: a decision, a tool and an analysis at a time."""
