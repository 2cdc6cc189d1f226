"""Runs of hidden cohorts through the facade: brackets at a chosen width, phases in order, results kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dpcert.accounting import delta, epsilon
from dpcert.accounting.bracket import Bracket
from dpcert.accounting.cohorts import bracket_store
from dpcert.accounting.cohorts import hidden_cohorts as cohorts
from dpcert.accounting.cohorts.grid_layout import Phase
from dpcert.accounting.question import Question
from dpcert.mechanisms import FixedSize, Gaussian, Mechanism, Neighbouring, Poisson, Repeat, Sequence

STEP = FixedSize(Gaussian(8.0), population=400, cohort=100)
RUN = Repeat(STEP, 60)
WIDE = 0.9
"""A width that every accountant has: nothing is narrowed."""


@pytest.mark.parametrize("relation", ["replace-one", "zero-out"])
def test_the_bracket_is_inside_the_one_of_product_pairs(relation: Neighbouring) -> None:
    plain, narrow = (epsilon(RUN, 1e-5, relation, rtol=rtol) for rtol in (WIDE, 0.01))
    assert plain.lower <= narrow.lower <= narrow.upper <= plain.upper
    assert narrow.reached
    assert narrow.certified
    assert "cohorts" in narrow.method


def test_finer_is_inside_coarser_up_to_the_truth() -> None:
    brackets = [epsilon(RUN, 1e-5, "replace-one", rtol=rtol) for rtol in (0.02, 0.004)]
    assert brackets[1].narrower_than(0.004)
    assert max(b.lower for b in brackets) <= min(b.upper for b in brackets)


def test_delta_and_epsilon_agree() -> None:
    at = epsilon(RUN, 1e-5, "replace-one", rtol=0.01)
    found = delta(RUN, at.upper, "replace-one", rtol=0.05)
    assert found.lower <= 1e-5
    assert delta(RUN, at.lower, "replace-one", rtol=0.05).upper >= 1e-5


def test_other_questions_are_left_alone() -> None:
    known = Bracket(1.0, 2.0, True, "known")
    seen = Question.about(RUN, "epsilon", "replace-one", participation="visible")
    named = Question.about(RUN, "epsilon", "replace-one", accountant="rdp")
    coins = Question.about(Repeat(Poisson(Gaussian(8.0), 0.25), 60), "epsilon", "replace-one")
    absent = Question.about(RUN, "epsilon", "add-remove")
    for question in (seen, named, coins, absent):
        assert cohorts.narrowed(question, known, 1e-5) is known


def test_phases_keep_their_order() -> None:
    other = FixedSize(Gaussian(4.0), population=400, cohort=40)
    first, second = Phase(1 / 8, 0.25, 3), Phase(1 / 4, 0.1, 2)
    assert cohorts.phases(Sequence((Repeat(STEP, 3), Repeat(other, 2)))) == (first, second)
    assert cohorts.phases(Sequence((Repeat(other, 2), STEP, Repeat(STEP, 2)))) == (second, first)
    twice = Repeat(Sequence((STEP, other)), 2)
    assert cohorts.phases(twice) == (Phase(1 / 8, 0.25, 1), Phase(1 / 4, 0.1, 1)) * 2
    assert cohorts.phases(Repeat(Repeat(STEP, 5), 4)) == (Phase(1 / 8, 0.25, 20),)
    assert cohorts.phases(Repeat(Sequence((STEP, STEP)), 3)) == (Phase(1 / 8, 0.25, 6),)
    assert cohorts.phases(Repeat(Sequence((STEP, STEP)), 1000)) is None
    mixed: tuple[Mechanism, ...] = (STEP, Gaussian(1.0))
    assert cohorts.phases(Sequence(mixed)) is None


def test_two_phases_are_between_their_parts() -> None:
    other = FixedSize(Gaussian(4.0), population=400, cohort=40)
    both = Sequence((Repeat(STEP, 40), Repeat(other, 20)))
    found = epsilon(both, 1e-5, "replace-one", rtol=0.02)
    assert found.reached
    assert epsilon(Repeat(STEP, 40), 1e-5, "replace-one", rtol=WIDE).lower < found.lower


def test_the_work_is_told() -> None:
    told: list[float] = []
    with cohorts.watched(told.append):
        epsilon(RUN, 1e-5, "replace-one", rtol=0.02)
    assert told
    assert all(0.0 <= share <= 1.0 for share in told)


class TestStored:
    """What is kept is found again for the same setting only, and a damaged file counts as missing."""

    @pytest.fixture
    def folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        monkeypatch.setenv("DPCERT_CACHE", str(tmp_path / "kept"))
        return tmp_path / "kept"

    SETTING = bracket_store.key((Phase(1 / 8, 0.25, 60),), "replace-one", "epsilon", 1e-5)
    KNOWN = Bracket(1.0, 4.0, True, "known")
    BETTER = Bracket(2.0, 3.0, True, "cohorts")

    def test_the_same_setting(self, folder: Path) -> None:
        bracket_store.write(self.SETTING, self.BETTER)
        found = bracket_store.read(self.SETTING, self.KNOWN)
        assert (found.lower, found.upper) == (2.0, 3.0)
        assert len(list(folder.iterdir())) == 1

    def test_another_setting(self, folder: Path) -> None:
        bracket_store.write(self.SETTING, self.BETTER)
        other = bracket_store.key((Phase(1 / 8, 0.25, 61),), "replace-one", "epsilon", 1e-5)
        assert bracket_store.read(other, self.KNOWN) == self.KNOWN

    @pytest.mark.parametrize("change", ["upper", "lower", "setting", "checksum", "cut"])
    def test_a_damaged_file(self, folder: Path, change: str) -> None:
        bracket_store.write(self.SETTING, self.BETTER)
        (place,) = folder.iterdir()
        content = json.loads(place.read_text())
        if change == "cut":
            place.write_text(place.read_text()[:40])
        else:
            content[change] = {} if change == "setting" else (2.5).hex()
            place.write_text(json.dumps(content))
        assert bracket_store.read(self.SETTING, self.KNOWN) == self.KNOWN

    def test_a_contradiction_is_not_believed(self, folder: Path) -> None:
        bracket_store.write(self.SETTING, self.BETTER)
        known = Bracket(3.5, 4.0, True, "known")
        assert bracket_store.read(self.SETTING, known) == known

    def test_the_second_answer_costs_no_recursion(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        first = epsilon(RUN, 1e-5, "replace-one", rtol=0.02)
        monkeypatch.setattr(cohorts, "_attempt", None)
        again = epsilon(RUN, 1e-5, "replace-one", rtol=0.02)
        assert (again.lower, again.upper) == (first.lower, first.upper)

    @pytest.mark.parametrize("named", ["off", "", None])
    def test_nothing_is_kept_unless_a_folder_is_named(self, named: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("DPCERT_CACHE") if named is None else monkeypatch.setenv("DPCERT_CACHE", named)
        assert bracket_store.folder() is None
        bracket_store.write(self.SETTING, self.BETTER)
        assert bracket_store.read(self.SETTING, self.KNOWN) == self.KNOWN


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("noise", "cohort", "population", "rounds", "delta_"),
    [(16, 100, 205, 1000, 1e-5), (8, 100, 515, 1000, 1e-5), (8, 100, 400, 600, 1e-5), (2, 100, 400, 600, 0.0025)],
)
@pytest.mark.parametrize("relation", ["replace-one", "zero-out"])
def test_published_settings_are_within_three_per_mille(
    noise: float, cohort: int, population: int, rounds: int, delta_: float, relation: Neighbouring
) -> None:
    run = Repeat(FixedSize(Gaussian(noise), population, cohort), rounds)
    assert epsilon(run, delta_, relation, rtol=0.003).reached
