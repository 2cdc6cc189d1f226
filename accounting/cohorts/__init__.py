"""Hidden cohorts of a fixed size: what adaptive rounds cost, from both sides."""
