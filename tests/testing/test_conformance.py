"""Our accountant passes its own kit, and one planted fault a property is caught by exactly that property's test."""

from __future__ import annotations

import math
from collections.abc import Iterable

import pytest
from cases import few
from hypothesis import strategies as st

from dpcert.accounting import epsilon
from dpcert.accounting.accountants import composed
from dpcert.accounting.pricing.dominating import dominating
from dpcert.mechanisms import Gaussian, InputError, Mechanism, Poisson, Repeat, Sequence
from dpcert.testing import PROPERTIES, AccountantConformance, NotServed, Phase, Subject, conformance
from dpcert.testing.conformance import PROVED

_KNOWN: dict[tuple, float] = {}


class Ours(Subject):
    """The accounting of a plain list of phases: the record that the planted faults spoil."""

    name = "dpcert"

    def new(self) -> list[Phase]:
        return []

    def compose(self, accountant: list[Phase], phase: Phase) -> list[Phase]:
        accountant.append(phase)
        return accountant

    def run(self, accountant: list[Phase]) -> Mechanism:
        steps = [(Poisson(Gaussian(p.noise_multiplier), p.sampling_rate), p.rounds) for p in accountant]
        return Sequence(tuple(Repeat(step, rounds) for step, rounds in steps))

    def bracket(self, accountant: list[Phase], delta: float):
        key = tuple(accountant), delta, self.neighbouring
        if key not in _KNOWN:
            _KNOWN[key] = epsilon(self.run(accountant), delta, self.neighbouring)
        return _KNOWN[key]

    def epsilon(self, accountant: list[Phase], delta: float) -> float:
        return self.bracket(accountant, delta).upper if accountant else 0.0

    def epsilon_lower(self, accountant: list[Phase], delta: float) -> float:
        return self.bracket(accountant, delta).lower

    def state(self, accountant: list[Phase]) -> list[Phase]:
        return list(accountant)

    def restore(self, state: list[Phase]) -> list[Phase]:
        return list(state)

    def misuse(self, accountant: list[Phase]) -> None:
        accountant.append(Phase(-1.0, 0.1, 1))

    def phases(self) -> st.SearchStrategy[Phase]:
        """Without runs of a few rounds at a tiny rate, which take our own accountant seconds each."""
        rates = st.sampled_from(
            (1.0, 0.01, 0.1, 0.3)
        )  # The first one, on which every search starts, is proved at once.
        return st.builds(Phase, st.sampled_from((0.6, 1.0, 2.0, 5.0)), rates, st.sampled_from((20, 50, 200)))


class TestOurs(AccountantConformance):
    subject = Ours()
    examples = 6


class OursReplaceOne(Ours):
    neighbouring = "replace-one"


@pytest.mark.nightly
class TestOursReplaceOne(AccountantConformance):
    subject = OursReplaceOne()
    examples = 4


class OursEverywhere(Ours):
    phases = Subject.phases


@pytest.mark.nightly
class TestOursEverywhere(AccountantConformance):
    subject = OursEverywhere()
    examples = 30


def _single(accountant: list[Phase]) -> Phase | None:
    """The only phase, where all are equal but for their rounds."""
    kinds = {(phase.noise_multiplier, phase.sampling_rate) for phase in accountant}
    return accountant[0] if len(kinds) == 1 else None


class NegativeWhenEmpty(Ours):
    def epsilon(self, accountant, delta):
        return super().epsilon(accountant, delta) if accountant else -0.0048


class CheaperAtLast(Ours):
    """A surcharge for every even number of rounds."""

    def epsilon(self, accountant, delta):
        even = sum(phase.rounds for phase in accountant) % 2 == 0
        return super().epsilon(accountant, delta) * (1.2 if even else 1.0)


class NoisierIsDearer(Ours):
    """A surcharge for noise above the least that is tried."""

    def epsilon(self, accountant, delta):
        dear = any(phase.noise_multiplier > 0.6 for phase in accountant)
        return super().epsilon(accountant, delta) * (4.0 if dear else 1.0)


class RarerIsDearer(Ours):
    """A surcharge for the least rate that is tried."""

    def epsilon(self, accountant, delta):
        dear = any(phase.sampling_rate <= 0.01 for phase in accountant)
        return super().epsilon(accountant, delta) * (4.0 if dear else 1.0)


class StricterIsCheaper(Ours):
    """A surcharge for every delta above 1e-3."""

    def epsilon(self, accountant, delta):
        return super().epsilon(accountant, delta) * (3.0 if delta > 1e-3 else 1.0)


class OrderMatters(Ours):
    """A surcharge where the last phase has more noise than the first."""

    def epsilon(self, accountant, delta):
        rising = accountant and accountant[-1].noise_multiplier > accountant[0].noise_multiplier
        return super().epsilon(accountant, delta) * (1.1 if rising else 1.0)


class EveryCallCosts(Ours):
    """A surcharge for every call of compose."""

    def epsilon(self, accountant, delta):
        return super().epsilon(accountant, delta) * (1 + 0.01 * len(accountant))


class PartsAreDearer(Ours):
    """A surcharge for everything that has one kind of phase only."""

    def epsilon(self, accountant, delta):
        return super().epsilon(accountant, delta) * (3.0 if _single(accountant) else 1.0)


class TooLow(Ours):
    """2% too low, everywhere."""

    def epsilon(self, accountant, delta):
        return super().epsilon(accountant, delta) * 0.98


class AddingOnly(Ours):
    """The cost of adding a unit, not that of removing one where it is over 2% more: closer ones are truth's to find."""

    def epsilon(self, accountant, delta):
        if not accountant:
            return 0.0
        pairs = dominating(self.run(accountant), "add-remove").upper
        sampled = [pair for pair in pairs if any(getattr(part, "order", "") == "add" for part, _ in pair)]
        added = min(composed(pair, "best", "epsilon", delta, 1e-6).upper for pair in sampled or pairs)
        both = super().epsilon(accountant, delta)
        return added if both > 1.02 * added else both


class LowerTooHigh(Ours):
    def epsilon_lower(self, accountant, delta):
        return super().epsilon(accountant, delta) * 1.02


class StateIsShared(Ours):
    """The saved state is the accountant's own list, as in libraries whose load_state_dict keeps a reference."""

    def restore(self, state):
        return state


class ReadingCounts(Ours):
    """Every reading composes what was composed last once more."""

    def epsilon(self, accountant, delta):
        value = super().epsilon(accountant, delta)
        if accountant:
            accountant.append(accountant[-1])
        return value


class RefusalForgets(Ours):
    """Takes out the last entry to look at it, and loses it when it raises."""

    def misuse(self, accountant):
        accountant.pop()
        raise ValueError("noise multiplier and sample rate have to stay constant")


PLANTED = {
    "numbers": NegativeWhenEmpty,
    "rounds": CheaperAtLast,
    "noise": NoisierIsDearer,
    "rate": RarerIsDearer,
    "delta": StricterIsCheaper,
    "order": OrderMatters,
    "grouping": EveryCallCosts,
    "post_processing": PartsAreDearer,
    "truth": TooLow,
    "add_and_remove": AddingOnly,
    "lower_bound": LowerTooHigh,
    "state": StateIsShared,
    "getters": ReadingCounts,
    "refusals": RefusalForgets,
}


def test_a_fault_is_planted_for_every_property():
    assert list(PLANTED) == list(PROPERTIES)


def _broken(subject: Subject, names: Iterable[str], examples: int) -> list[str]:
    return [
        finding.property for finding in conformance(subject, names, examples=examples) if finding.outcome != "passed"
    ]


@pytest.mark.parametrize("broken", few(PLANTED, 8))
def test_a_planted_fault_is_caught_by_exactly_its_property(broken):
    """By day the properties that need slow proofs are tried on few settings where they should pass."""
    subject = PLANTED[broken]()
    assert _broken(subject, [broken], examples=24) == [broken]
    assert not _broken(subject, [name for name in PROPERTIES if name not in {broken, *PROVED}], examples=5)
    assert not _broken(subject, sorted(PROVED - {broken}), examples=3)


@pytest.mark.nightly
@pytest.mark.parametrize("broken", PLANTED)
def test_no_other_property_is_broken(broken):
    assert _broken(PLANTED[broken](), PROPERTIES, examples=18) == [broken]


def test_what_an_accountant_does_not_serve_breaks_nothing():
    class Silent(Ours):
        def compose(self, accountant, phase):
            raise NotServed("too much noise")

    assert {finding.outcome for finding in conformance(Silent(), examples=2)} == {"not served"}


def test_an_accountant_without_an_answer_is_broken():
    class Crashes(Ours):
        def epsilon(self, accountant, delta):
            raise IndexError("list index out of range")

    (finding,) = conformance(Crashes(), ["numbers"], examples=2)
    assert finding.outcome == "broken"
    assert "IndexError" in finding.detail


def test_hard_settings_are_held_to_the_truth():
    class LowAtTinyDelta(Ours):
        def epsilon(self, accountant, delta):
            return super().epsilon(accountant, delta) - (0.001 if delta < 1e-9 else 0.0)

    hard = [((Phase(1.0, 0.01, 1000),), 1e-10)]
    (plain,) = conformance(LowAtTinyDelta(), ["truth"], examples=2)
    (found,) = conformance(LowAtTinyDelta(), ["truth"], examples=0, hard=hard)
    assert (plain.outcome, found.outcome) == ("passed", "broken")
    assert "proved for remove" in found.detail


def test_hard_settings_hold_lower_bounds_to_the_truth_too():
    class HighAtOneDelta(Ours):
        def epsilon_lower(self, accountant, delta):
            return super().epsilon_lower(accountant, delta) + (0.01 if delta == 0.029 else 0.0)

    hard = [((Phase(2.0, 0.1, 500),), 0.029)]
    (plain,) = conformance(HighAtOneDelta(), ["lower_bound"], examples=2)
    (found,) = conformance(HighAtOneDelta(), ["lower_bound"], examples=0, hard=hard)
    (right,) = conformance(Ours(), ["lower_bound"], examples=0, hard=hard)
    assert (plain.outcome, found.outcome, right.outcome) == ("passed", "broken", "passed")
    assert "above the truth" in found.detail


@pytest.mark.parametrize("field", ["noise_multiplier", "sampling_rate", "rounds"])
def test_phases_are_validated(field):
    values = {"noise_multiplier": 1.0, "sampling_rate": 0.1, "rounds": 10}
    with pytest.raises(InputError, match=field):
        Phase(**{**values, field: math.nan})
