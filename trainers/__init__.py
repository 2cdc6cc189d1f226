"""WHO uses it: minimal torch reference trainers of the source papers' algorithms."""
