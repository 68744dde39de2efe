"""The audit of a report that anybody wrote: read it, read what it cites, judge each sentence."""
