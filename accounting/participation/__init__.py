"""What is left of amplification when participation is seen, pooled or hidden."""
