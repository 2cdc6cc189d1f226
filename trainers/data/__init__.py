"""Federations of clients: loaders of the formats that federated data come in, and synthetic ones."""

from .federation import Client, Federation, Samples, Task, split_clients
from .source import load_federation

__all__ = ["Client", "Federation", "Samples", "Task", "load_federation", "split_clients"]
