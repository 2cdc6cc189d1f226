"""Broken mechanisms that try to slip past the proof: each is refused in one sentence with its line, or not proved."""

from __future__ import annotations

import re

import attacks_on_proofs
import finite_attacks
import hidden_peeks
import hidden_state
import hidden_tells
import pytest
from attack_answers import ANSWERS

from dpcert.proofs_checks.proving import prove
from dpcert.proofs_checks.proving.checker import check
from dpcert.proofs_checks.proving.checker.language import grammar


def attacks():
    """(group, name, function, options) of all of them."""
    for function in attacks_on_proofs.BROKEN:  # of the mild ones a larger epsilon is true
        yield (
            "values",
            function.__name__,
            function,
            {"epsilon": 0.4 if function in attacks_on_proofs.MILD else 3, "up_to": 2},
        )
    for container in ("array", "list"):
        for way in hidden_peeks.WAYS:
            yield f"peeks in a {container}", way, hidden_peeks.mechanism(way), {"container": container}
        for function in hidden_peeks.ALIKE:
            if (function.__name__, container) != ("no_copy", "list"):  # of a list it is a copy
                yield f"alike in a {container}", function.__name__, function, {"container": container}
        for function in finite_attacks.ASKING:
            options = {"epsilon": 0.1, "values": (0, 1), "container": container}
            yield f"coins of a {container}", function.__name__, function, options
    for function in (*hidden_state.KEPT, *hidden_state.OTHERS):
        yield "memory", function.__name__, function, {}
    for function in hidden_tells.TELLS:
        yield "tells", function.__name__, function, {}


def answer(function, options):
    """The verdict, or the sentence that refuses it, without the line."""
    proof = prove(function, **({"epsilon": 1, "up_to": 1, "max_seconds": 30} | options))
    assert proof.certificate is None, str(proof)
    assert proof.verdict in ("not proved", "unsupported")
    if proof.verdict == "not proved":
        return "not proved"
    placed = re.match(r"(\w+\.py, line \d+)( \(`.*`\))?: (.*)$", proof.reason, re.DOTALL)
    assert placed, proof.reason
    assert "\n" not in proof.reason
    return placed[3]


@pytest.mark.parametrize(
    ("group", "name", "function", "options"), list(attacks()), ids=[f"{group}, {name}" for group, name, *_ in attacks()]
)
def test_it_is_refused_or_not_proved(group, name, function, options):
    assert answer(function, options) == ANSWERS[general(group)][name]


def general(group):
    """Without the container."""
    return re.sub(r" (in|of) a (array|list)$", "", group)


def test_nothing_is_said_of_what_is_not_there():
    assert {general(group) for group, *_ in attacks()} == ANSWERS.keys()


def is_true(d, rng):
    return (d.tolist()[0] > 0.5) is True


def test_real_runs_see_what_the_language_would_hide(monkeypatch):
    """Planted: `is` is taken for `==`. The one way through the function has its point at 0, where all seems well."""
    monkeypatch.setattr(grammar, "_problem", lambda node: "")
    proof = prove(is_true, epsilon=1, up_to=2)
    assert not proof.proved
    assert "the real output is True" in proof.reason
    monkeypatch.setattr(check, "at_random", lambda *_, **__: 0)
    assert prove(is_true, epsilon=1, up_to=2).proved


def compared_with_none(d, rng):
    best = None
    for x in d:
        value = x + rng.laplace(0, 2)
        if best is None or value > best:
            best = value
    return best


def test_what_is_harmless_is_still_proved():
    assert prove(compared_with_none, epsilon=1, up_to=2).proved


def test_numbers_beyond_the_floats_of_the_search_are_one_sentence():
    def huge(d, rng):
        return d[0] * 1e308 * 10 + rng.laplace(0, 1e308) * 10

    assert "too large" in prove(huge, epsilon=1, up_to=1).reason
