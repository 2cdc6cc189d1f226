"""The papers' findings as experiments: grids of runs that can be interrupted and resumed, tables and plots."""
