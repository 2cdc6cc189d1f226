"""What ran becomes pairs of distributions: those that dominate it, and those that some two neighbours attain."""
