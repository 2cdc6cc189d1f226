"""Billboard replay: the protocol of a trainer, the check that nothing leaks past the billboard, a coalition of clients."""
