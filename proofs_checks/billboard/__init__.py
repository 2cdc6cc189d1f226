"""Billboard replay: the protocol of a trainer, the check for leaks past the billboard, a coalition of clients."""
