"""Where the search fails, in numbers: a pair of neighbours and noise, as far apart as neighbours can be."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from .checker.forms import Form, Sign
from .checker.language.record_entries import entry_name
from .checker.noise import Draw
from .proof import Counterexample
from .search import Failure, Piece
from .solver import Pair

MOST = 6
FAR = 1000, 1
"""How large numbers without ends are made, and by how much they differ."""


def found(pair: Pair, pieces: Iterable[Piece], failures: Iterable[Failure], claim: Any) -> list[Counterexample]:
    """One for each output without an alignment; else for those that cost more than the claim, the dearest first."""
    examples = [_example(pair, each.conditions, each.draws, each.key, each.why) for each in failures]
    dear = sorted((p for p in pieces if p.cost > claim), key=lambda p: -p.cost)
    examples += [where(pair, piece) for piece in dear[:MOST]]
    return [example for example in examples if example is not None][:MOST]


def where(pair: Pair, piece: Piece) -> Counterexample | None:
    """Neighbours and noise at which it costs what it does."""
    why = f"the cheapest alignment costs {float(piece.cost):.6g}"
    return _example(pair, piece.source, piece.draws, piece.key, why)


def _example(
    pair: Pair, conditions: tuple[Sign, ...], draws: tuple[Draw, ...], key: str, why: str
) -> Counterexample | None:
    space, known = pair.space, list(conditions)
    point = space.point(known)
    if point is None:
        return None
    for form in _differences(pair):  # one after the other as large as possible, as far as that is possible
        for gap in [end for end in space.data.between(form) if end is not None] or FAR:
            tried = [*known, Sign(form - gap, False), Sign(-form + gap, False)]
            found = space.point(tried)
            if found is not None:
                known, point = tried, found
                break
    point = dict.fromkeys(space.data.ends, Fraction(0)) | point
    return Counterexample(
        tuple(_entry(entry, point, pair.case.data.columns) for entry in pair.case.dataset),
        tuple(_entry(entry, point, pair.case.data.columns) for entry in pair.case.neighbour),
        tuple(float(point.get(f"n{k}", 0)) for k in range(len(draws))),
        shown(json.loads(key)),
        why,
    )


def _entry(entry: Form, point: Mapping[str, Fraction], columns: int) -> float | tuple[float, ...]:
    """A number, or the record of which so many entries are asked for; what is not known of it is 0."""
    if not columns:
        return float(entry.value(point))
    return tuple(float(point.get(name, 0)) for name in _entries(entry, columns))


def _entries(record: Form, columns: int) -> list[str]:
    (name,) = record.slopes
    return [entry_name(name, place) for place in range(columns)]


def _differences(pair: Pair) -> list[Form]:
    """By what the two datasets differ; of records, in what is asked for."""
    data, here, there = pair.case.data, pair.case.dataset, pair.case.neighbour
    if len(here) != len(there):
        return [Form({name: 1}) for name in sorted(pair.space.touched)]
    apart = [(a, b) for a, b in zip(here, there, strict=True) if (b - a).slopes]
    if not data.columns:
        return [b - a for a, b in apart]
    made = []
    for one, other in apart:
        for names in zip(_entries(one, data.columns), _entries(other, data.columns), strict=True):
            if data.ends.keys() >= set(names):
                a, b = map(Form.variable, names)
                made += [b, -a, b - a, a - b]
    return made


def shown(key: Any) -> str:
    """The discrete part of an output, to be read: numbers that depend on noise are dots."""
    if key in ("real", "vector"):
        return "..."
    if isinstance(key, list) and len(key) == 2 and key[0] in ("bool", "int", "float", "str", "bytes", "NoneType"):
        return str(key[1])
    if key[0] == "text":
        return "a text"
    name: Any = key[0]
    inner = ", ".join(shown(part) for part in list(key)[1:])
    if isinstance(name, list):
        return f"array([{inner}])" if name[0] in ("array", "records") else f"{name[1]}({inner})"
    return {"list": f"[{inner}]", "tuple": f"({inner})"}.get(name, f"{{{inner}}}")
