"""How results look: tables, plots, pages, what other tools read. The command line above it asks, and shows these."""
