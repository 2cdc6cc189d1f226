"""MOCHA's experiments: Table 1, Figures 1 to 3 and the private variant, as resumable grids with tables and plots."""
