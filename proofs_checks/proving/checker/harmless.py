"""Which of Python's own modules a function may use: those that remember nothing, read no memory and ask nobody."""

from __future__ import annotations

import sys

HARMLESS = {
    "__future__", "abc", "bisect", "builtins", "collections", "copy", "dataclasses", "enum", "fractions", "functools",
    "heapq", "itertools", "keyword", "math", "numbers", "operator", "re", "statistics", "string", "textwrap", "types",
    "typing",
}  # fmt: skip


def foreign(module: str) -> bool:
    """Whether the module is one of Python's own that a function must not use: its own parts in C are called _name."""
    root = module.split(".")[0]
    return root in sys.stdlib_module_names and root.removeprefix("_") not in HARMLESS and root not in HARMLESS
