"""The checker says how far it is, and ends with what it has accepted."""

from __future__ import annotations

import pytest

from dpcert.proofs_checks.proving import prove
from dpcert.proofs_checks.proving.checker import progress
from dpcert.proofs_checks.proving.checker.check import check_proof


def least(d, rng):
    return sorted(d)[0] + rng.laplace(0, 1)


def test_it_says_how_far_it_is() -> None:
    told: list[tuple[int, int]] = []
    assert prove(least, epsilon=1, up_to=3, checking=lambda *step: told.append(step)).proved
    assert told == [(k, 6) for k in range(7)]  # one, two and three cases


def interrupt_at(place: int):
    def step(done: int, total: int) -> None:
        if done == place:
            raise KeyboardInterrupt

    return step


@pytest.mark.parametrize(("place", "sizes"), [(2, (1,)), (4, (1, 2))])
def test_an_interrupt_leaves_what_is_accepted(place, sizes) -> None:
    proof = prove(least, epsilon=1, up_to=3, checking=interrupt_at(place))
    assert (proof.verdict, proof.up_to, proof.proved) == ("proved up to N", sizes[-1], False)
    assert proof.sizes == sizes
    assert str(proof).splitlines()[1] == "  stopped before the requested number of entries"
    assert check_proof(proof.certificate, least).sizes == sizes


def test_before_anything_is_accepted_nothing_is_proved() -> None:
    proof = prove(least, epsilon=1, up_to=3, checking=interrupt_at(1))
    assert (proof.verdict, proof.stopped) == ("not proved", True)


def test_the_end_of_its_time_is_one_for_it(monkeypatch) -> None:
    """It comes, here, once one entry is done."""

    def go_on(self):
        if self.sizes:
            raise progress.OutOfTime

    monkeypatch.setattr(progress.Watch, "go_on", go_on)
    assert prove(least, epsilon=1, up_to=3).sizes == (1,)


def test_its_deadline_is_looked_at() -> None:
    certificate = prove(least, epsilon=1, up_to=1).certificate
    with pytest.raises(progress.OutOfTime):
        check_proof(certificate, least, progress.Watch(deadline=0.0))
