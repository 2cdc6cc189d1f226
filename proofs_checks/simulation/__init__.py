"""Simulated privacy losses where no closed form is known: estimates with their bounds, which certify nothing."""
