"""What is raised where a trainer does not do what was to stand for it."""

from __future__ import annotations


class UnlikeTheTrainer(Exception):
    """A recursion, or a round written out, is not the trainer's: nothing may rest on it."""
