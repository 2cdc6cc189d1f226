"""Private Multi-Task Learning as first submitted (joint differential privacy; main text only): rows alone."""
