"""Inversion of the privacy profile on a contour: certified both ways, at a cost that does not grow with the rounds."""
