"""What DPFedMTL's paper prints beside accuracies: the statistics of its data, and its trade-off curves."""
