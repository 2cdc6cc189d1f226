"""What can be inverted: the losses of runs as densities, and as atoms on lattices; one room each."""
