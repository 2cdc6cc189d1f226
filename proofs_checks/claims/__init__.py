"""Claims: the TOML schema, the run that a claim describes, whom it is judged against, what its reader should know."""
