"""For every number of entries: the search for an induction over the steps of a function's loops."""
