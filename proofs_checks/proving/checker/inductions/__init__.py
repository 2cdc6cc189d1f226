"""Re-proving an induction over the steps of a cut function."""
