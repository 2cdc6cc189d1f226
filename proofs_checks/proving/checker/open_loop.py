"""A loop over the data that is being written, for what the function computes of an array."""

from __future__ import annotations

import ast

from .statements import parsed


class OpenLoop:
    """A loop under construction, at its place in the function."""

    def __init__(self) -> None:
        self.before: list[str] = []
        self.body: list[ast.stmt] = []

    def add(self, before: str, *body: str) -> None:
        self.before += [before] if before else []
        self.body += parsed(*body)
