"""WHO uses it: reference algorithms of the source papers on a fast engine (docs/trainers/algorithm-1-to-code.md)."""
