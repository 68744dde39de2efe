"""`navigator`: one decision, one tool and one analysis at a time."""
