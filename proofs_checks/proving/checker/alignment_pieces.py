"""A certificate's pieces, read with suspicion: anything unexpected is refused."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .forms import Form, Sign
from .noise import COMPUTED, KINDS, Draw
from .refusals import Refused


@dataclass(frozen=True)
class Piece:
    """Noise in `source` is moved by `shifts` into `target`; `bounds` are at least the sizes of the shifts."""

    key: str
    draws: tuple[Draw, ...]
    source: tuple[Sign, ...]
    target: tuple[Sign, ...]
    shifts: tuple[Form, ...]
    bounds: tuple[Form, ...]
    caps: tuple[Fraction, ...] = ()

    def moved(self, form: Form) -> Form:
        """The form at the shifted noise."""
        return form.inserted({f"n{k}": Form.variable(f"n{k}") + s for k, s in enumerate(self.shifts)})

    def to_json(self) -> dict[str, Any]:
        """As certificates have it: numbers are fractions as text."""
        listed = {name: getattr(self, name) for name in ("source", "target", "shifts", "bounds")}
        return {
            "output": json.loads(self.key),
            "draws": [[kind, str(scale)] for kind, scale in self.draws],
            **{name: [each.to_json() for each in several] for name, several in listed.items()},
            "caps": [str(cap) for cap in self.caps],
        }


def read_piece(entry: Any, known: set[str]) -> Piece:
    """The piece; known: the data variables that may occur."""
    try:
        draws = tuple((str(kind), _parameter(str(kind), scale)) for kind, scale in entry["draws"])
        names = known | {f"n{k}" for k in range(len(draws))}
        sizes = known | {f"abs:{name}" for name in known}
        piece = Piece(
            json.dumps(entry["output"]),
            draws,
            tuple(read_sign(each, names) for each in entry["source"]),
            tuple(read_sign(each, names) for each in entry["target"]),
            tuple(read_form(each, names) for each in entry["shifts"]),
            tuple(read_form(each, sizes) for each in entry["bounds"]),
            tuple(Fraction(each) for each in entry.get("caps", [])),
        )
    except (KeyError, TypeError, ValueError, ZeroDivisionError) as problem:
        raise Refused(f"a piece that cannot be read ({type(problem).__name__}: {problem})") from None
    if not len(piece.shifts) == len(piece.bounds) == len(draws) or any(kind not in KINDS for kind, _ in draws):
        raise Refused("a piece whose shifts and bounds do not match its noise")
    return piece


def read_form(entry: Mapping[str, str], names: set[str]) -> Form:
    if set(entry) - names - {""}:
        raise Refused(f"unknown variables {sorted(set(entry) - names)}")
    values = {name: Fraction(value) for name, value in entry.items()}
    return Form({name: value for name, value in values.items() if name}, values.get("", Fraction(0)))


def read_sign(entry: Mapping[str, Any], names: set[str]) -> Sign:
    if not isinstance(entry["strict"], bool):
        raise Refused("a condition that is neither strict nor not")
    return Sign(read_form(entry["form"], names), entry["strict"])


def _parameter(kind: str, text: Any) -> str:
    """The parameter as the tracer writes it: a fraction, or what a computed value is."""
    return str(text) if kind in COMPUTED else str(Fraction(text))


def determinant(piece: Piece) -> Fraction:
    """Of the linear map that shifting is on the noise."""
    size = len(piece.shifts)
    rows = [
        [shift.slopes.get(f"n{j}", Fraction(0)) + (1 if i == j else 0) for j in range(size)]
        for i, shift in enumerate(piece.shifts)
    ]
    product = Fraction(1)
    for column in range(size):
        pivot = next((r for r in range(column, size) if rows[r][column]), None)
        if pivot is None:
            return Fraction(0)
        if pivot != column:
            rows[pivot], rows[column] = rows[column], rows[pivot]
            product = -product
        product *= rows[column][column]
        for r in range(column + 1, size):
            factor = rows[r][column] / rows[column][column]
            if factor:
                rows[r] = [a - factor * b for a, b in zip(rows[r], rows[column], strict=True)]
    return product
