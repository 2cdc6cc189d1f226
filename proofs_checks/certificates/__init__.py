"""Certificates: what a verdict rests on, written for others to prove again, and the checker that does so."""
