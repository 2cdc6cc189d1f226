"""The language in words, made from its tables: the list in docs/prove.md."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpcert.proofs_checks.proving.checker.invariant import invariant
from dpcert.proofs_checks.proving.checker.language import generator, grammar, library, methods, numpy_library
from dpcert.proofs_checks.proving.checker.language.values import Appended, Array

BEGIN, END = "<!-- made from the tables: begin -->", "<!-- made from the tables: end -->"


def described() -> str:
    """The list, as Markdown."""
    named = sorted({_name(each) for each, _ in (*library.TABLE, *numpy_library.TABLE)})
    plain = [name for name in named if "." not in name]
    of_numpy = [name for name in named if name.startswith("np.")]
    of_math = [name for name in named if name.startswith("math.")]
    others = sorted({*named} - {*plain, *of_numpy, *of_math})
    lines = [
        f"- **Python**: {_listed(plain)}.",
        f"- **math**: {_listed(of_math)}.",
        f"- **numpy**: {_listed(of_numpy)}.",
        f"- **others**: {_listed(others)}.",
        *[f"- **{name}**: {_listed(sorted(table))}." for name, table in _methods()],
        f"- **rng**: {_listed(sorted(generator.TABLE))}.",
        "",
        "Not in the language, with what to write instead:",
        "",
        *[f"- {text}." for text in dict.fromkeys(grammar.INSTEAD.values())],
    ]
    return "\n".join(lines)


def _methods() -> list[tuple[str, list[str]]]:
    """Methods and attributes of each kind of value."""
    words: dict[Any, str] = {Array: "arrays", list: "lists", dict: "dicts", str: "texts"}
    attributes = {kind: list(table) for kind, table in methods.PROPERTIES}
    return [
        (words[kind], [*table, *attributes.get(kind, [])])
        for kind, table in methods.TABLE
        if kind is not Appended and kind in words
    ]


def _name(value: Any) -> str:
    """As it is written usually."""
    if value is invariant:
        return "prove.invariant"
    name, home = value.__name__, getattr(value, "__module__", None) or "numpy"
    if vars(np.linalg).get(name) is value:
        return f"np.linalg.{name}"
    if vars(np).get(name) is value:
        return f"np.{name}"
    return name if home == "builtins" else f"{home.removeprefix('_')}.{name}"


def _listed(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def in_page(page: str) -> str:
    """The page with the list in its place."""
    head, _, rest = page.partition(BEGIN)
    _, _, tail = rest.partition(END)
    return f"{head}{BEGIN}\n{described()}\n{END}{tail}"
