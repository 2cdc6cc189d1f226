"""One engine for all algorithms: cohorts, clipping, noise, accounting, checkpoints, replay."""
