"""Was a run sampled as it is accounted? Logged cohorts against the scheme (docs/auditing-schedules.md)."""
