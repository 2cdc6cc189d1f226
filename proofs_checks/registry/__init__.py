"""Entries of the OpenDP deployments registry, read as claims and written from claims (YAML, its schema)."""
