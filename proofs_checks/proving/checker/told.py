"""What the steps of a function's loops can do, told as data: for a search that wants to suggest an induction.

Question and answer are JSON, so that whoever looks for a proof needs no code of the checker's. Nothing rests on what
is told here: the checker finds out again when it is shown a certificate (induction.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from .cut import cut
from .farkas import Prover
from .following import Refused
from .forms import Form, Sign
from .invariant import listening
from .pairs import Data
from .steps import Steps, Way
from .surroundings import Surroundings


def told(function: Callable[..., Any], relation: str) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    """What answers questions on the function's loops. Raises Refused where the function cannot be cut at its loops.

    An answer holds "loops" (the names of each one's state), and the "ways" to the first loop's head ("ask": "start"),
    through a step ("step"), from a loop on ("end"), or of a dataset that lacks the entry ("idle"); or it is "refused".
    """
    made, around, prover = cut(function, relation), Surroundings(function), Prover()

    def answer(question: Mapping[str, Any]) -> dict[str, Any]:
        wide, appended, whole = (frozenset(question[name]) for name in ("wide", "appended", "whole"))
        event = None if question["event"] is None else tuple(question["event"])
        steps = Steps(made, around, wide, appended, whole, event, question["stage"])
        data, heard = Data(False), list[tuple[tuple[Any, ...], Any]]()
        for name, (low, high, integral) in question["variables"].items():
            data.declare(name, _number(low), _number(high), integral)
        try:
            with listening(lambda facts, spent: heard.append((facts, spent))):
                ways = _ways(steps, question, data, prover)
        except Refused as problem:
            return {"refused": str(problem)}
        return {
            "loops": [list(loop.names) for loop in made.loops],
            "ways": [_way(way) for way in ways],
            "variables": {name: [_text(e) for e in ends] + [name in data.whole] for name, ends in data.ends.items()},
            "said": [_said(facts, spent) for facts, spent in heard],
        }

    return answer


def _ways(steps: Steps, question: Mapping[str, Any], data: Data, prover: Prover) -> list[Way]:
    if question["ask"] == "start":
        return steps.start(data, prover)
    layout, numbers = question["layout"], [_read(form) for form in question["numbers"]]
    if question["ask"] == "step":
        return steps.step(layout, numbers, _read(question["entry"]), data, prover)
    return steps.end(layout, numbers, data, prover) if question["ask"] == "end" else steps.idle(layout, numbers)


def _way(way: Way) -> dict[str, Any]:
    return {
        "tests": [_sign(test) | {"name": test.name()} for test in way.tests],
        "cell": sorted(way.cell),
        "draws": [list(draw) for draw in way.draws],
        "label": way.label,
        "control": way.control,
        "layout": way.layout,
        "released": [_form(form) for form in way.released],
        "after": [_form(form) for form in way.after],
        "event": way.event,
        "appends": way.appends,
    }


def _said(facts: tuple[Any, ...], spent: Any) -> dict[str, Any]:
    """What an author says of the state (invariant.py), as far as it is linear."""
    signs = [_sign(fact) for fact in facts if isinstance(fact, Sign)]
    return {"facts": signs, "spent": None if spent is None else _form(Form.lift(spent))}


def _sign(sign: Sign) -> dict[str, Any]:
    return {"form": _form(sign.form), "strict": sign.strict}


def _form(form: Form) -> dict[str, str]:
    return {name: str(slope) for name, slope in form.slopes.items()} | {"": str(form.at_zero)}


def _read(form: Mapping[str, str]) -> Form:
    values = {name: Fraction(value) for name, value in form.items()}
    return Form({name: value for name, value in values.items() if name}, values.get("", Fraction(0)))


def _number(text: str | None) -> Fraction | None:
    return None if text is None else Fraction(text)


def _text(number: Fraction | None) -> str | None:
    return None if number is None else str(number)
