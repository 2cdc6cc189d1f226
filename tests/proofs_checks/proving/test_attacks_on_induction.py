"""Functions that are private for a few entries and not for more: no induction may be found, whatever epsilon."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import shadowed_names
from cases import few

from dpcert.proofs_checks.proving import prove
from dpcert.proofs_checks.proving.checker.cutting import cut, real_runs


def exact_from_eleven_on(d, rng):
    total = 0.0
    for x in d:
        total = total + x
    if len(d) > 10:
        return total
    return total + rng.laplace(0, 1)


def exact_from_place_fifty_on(d, rng):
    out = []
    for i, x in enumerate(d):
        if i > 50:
            out.append(x)
        else:
            out.append(x + rng.laplace(0, 1))
    return out


def exact_by_a_counter(d, rng):
    out = []
    seen = 0
    for x in d:
        seen += 1  # noqa: SIM113
        if seen > 20:
            out.append(x)
        else:
            out.append(x + rng.laplace(0, 1))
    return out


def heavier_late(d, rng):
    total = 0.0
    seen = 0
    for x in d:
        seen = seen + 1
        total = total + 99 * x if seen > 30 else total + x
    return total + rng.laplace(0, 1)


def sparse_vector_without_an_end(answers, rng):
    bound = rng.laplace(0, 2)
    out = []
    for answer in answers:
        out.append(bool(answer + rng.laplace(0, 4) >= bound))
    return out


def sparse_vector_whose_budget_grows_back(answers, rng):
    bound = rng.laplace(0, 2)
    out = []
    spent = 0
    for answer in answers:
        above = bool(answer + rng.laplace(0, 4) >= bound)
        out.append(above)
        spent = spent + 1 if above else spent - 1
        if spent >= 1:
            break
    return out


def bound_drawn_again_for_nothing(answers, rng):
    bound = rng.laplace(0, 2)
    out = []
    for answer in answers:
        above = bool(answer + rng.laplace(0, 4) >= bound)
        out.append(above)
        if above:
            bound = rng.laplace(0, 2)
    return out


def released_maximum(answers, rng):
    best = -np.inf
    for answer in answers:
        value = answer + rng.laplace(0, 2)
        if value > best:
            best = value
    return best


def noise_that_shrinks(d, rng):
    return d.sum() + rng.laplace(0, 2 / len(d))


def round_that_is_none(d, rng):
    round = max
    return round((d > 0.5).sum(), 1) + rng.laplace(0, 1)


HARMFUL = [
    (exact_from_eleven_on, "replace-one"),
    (exact_from_place_fifty_on, "replace-one"),
    (exact_by_a_counter, "replace-one"),
    (heavier_late, "replace-one"),
    (sparse_vector_without_an_end, "answers"),
    (sparse_vector_whose_budget_grows_back, "answers"),
    (bound_drawn_again_for_nothing, "answers"),
    (released_maximum, "answers"),
    (noise_that_shrinks, "replace-one"),
]


@pytest.mark.parametrize(("mechanism", "relation"), few(HARMFUL, 8), ids=lambda part: getattr(part, "__name__", ""))
def test_what_holds_for_two_entries_is_not_said_of_all(mechanism, relation) -> None:
    """They are proved for two: it is the induction that has to see it."""
    proof = prove(mechanism, epsilon=40, up_to=2, relation=relation)
    assert proof.sizes == (1, 2)
    assert proof.proved
    assert not proof.every_size


def test_a_name_that_the_cut_goes_by_means_what_it_says() -> None:
    proof = prove(round_that_is_none, epsilon=40, up_to=2)
    assert "the name 'round' means something else" in proof.bounded


@pytest.mark.parametrize("function", shadowed_names.SHADOWED)
def test_names_that_mean_two_things_are_not_taken_for_one(function):
    """What a name means inside of a lambda or a comprehension is not what it means around it."""
    proof = prove(function, entries=2)
    assert (proof.every_size, proof.verdict) == (False, "proved up to N")


def test_names_may_be_used_again():
    proof = prove(shadowed_names.names_used_again, epsilon=0.5)
    assert proof.every_size, str(proof)


def test_without_names_of_their_own_a_leak_would_be_proved(monkeypatch):
    monkeypatch.setattr(cut, "Apart", lambda: SimpleNamespace(visit=lambda statement: statement))
    assert not prove(shadowed_names.index_in_a_lambda, entries=2).every_size  # runs on more entries differ
    monkeypatch.setattr(real_runs, "larger_sizes", lambda _: [])
    assert prove(shadowed_names.index_in_a_lambda, entries=2).every_size


def test_numpy_s_name_is_numpy_s_function(monkeypatch):
    """Somebody's function in its place is followed for each number of entries by itself."""
    assert prove(shadowed_names.summed, entries=2).every_size
    monkeypatch.setattr(np, "sum", shadowed_names.OTHERS.sum)
    proof = prove(shadowed_names.summed, entries=2)
    assert (proof.every_size, proof.verdict) == (False, "proved up to N")
    assert "np.sum is not numpy's own" in proof.bounded


def test_what_is_given_has_a_name_that_nobody_else_has():
    """With 40 entries and more the sum is taken a thousand times, by noise of scale 2."""
    assert prove(shadowed_names.given_by_another_name, entries=2).epsilon == 500
