"""Rates measured on noisy runs: slopes and intervals of made numbers, a rate measured again, and the page."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import rates_page as page
from measured import pmtl
from measured.rate import Rate, Relation, measured
from measured.watched import How, Seen
from measured.watched import pmtl as run_pmtl
from trainer_bugs import BUGS

from dpcert.mechanisms import InputError
from dpcert.proofs_checks import convergence

DOCS = Path(__file__).parents[2] / "docs"
SIZES = (1.0, 2.0, 4.0)


def _made(power: float, relation: Relation = "is", stated: float = 2.0, bound: float | None = None) -> Rate:
    """A power law with 5% of normal noise."""

    def measure(size: float, seed: int) -> float:
        return float(size**power * np.exp(0.05 * np.random.default_rng([seed, int(size)]).standard_normal()))

    known = None if bound is None else (lambda size: bound * size**power)
    return Rate("Made", "nowhere", "number", "size", stated, SIZES, measure, known, relation=relation)


@pytest.mark.parametrize(
    ("power", "relation", "bound", "verdict", "exceeded"),
    [
        (2.0, "is", 1.5, "attained", False),
        (2.0, "at most", 0.5, "attained", True),
        (1.0, "at most", None, "loose", False),
        (1.0, "is", None, "contradicted", False),
        (3.0, "at most", None, "contradicted", False),
        (3.0, "at most", 2.0, "not reached", False),
        (3.0, "at most", 0.5, "contradicted", True),
        (3.0, "at least", None, "loose", False),
    ],
)
def test_verdicts(power: float, relation: Relation, bound: float | None, verdict: str, exceeded: bool) -> None:
    found = measured(_made(power, relation, bound=bound), 8)
    assert (found.verdict, found.exceeded) == (verdict, exceeded)
    assert found.low <= power <= found.high
    assert found.loose is None or found.loose[0] == pytest.approx(bound, rel=0.2)


def test_a_run_that_clips_is_outside_the_theorem() -> None:
    assert measured(replace(_made(3.0, "at most"), clipping=True), 8).verdict == "outside"


def test_towards_small_values_a_power_bounds_from_the_other_side() -> None:
    assert measured(replace(_made(3.0, "at most"), towards="small"), 8).verdict == "loose"
    assert measured(replace(_made(1.0, "at most"), towards="small"), 8).verdict == "contradicted"


def _sigma() -> Rate:
    (rate,) = (
        each
        for each in pmtl.rates()
        if (each.problem, each.clipping, each.quantity, each.parameter)
        == ("quadratic", False, "squared gradient, noise", "sigma")
    )
    return replace(rate, sizes=(0.1, 0.4))


def test_the_noise_of_the_trainer_is_what_is_measured() -> None:
    """Noise that is three times what it should be is nine times as much, and above the bound."""
    found = measured(_sigma(), 3)
    assert found.verdict == "attained"
    assert found.loose is not None
    assert found.loose[0] > 1
    assert not found.exceeded
    pmtl._squares.cache_clear()
    (none,) = (bug for bug in BUGS if bug.name == "noise x 0")
    with none.planted("pmtl"):
        assert _sigma().measure(0.4, 0) == 0.0
    (thrice,) = (bug for bug in BUGS if bug.name == "noise x 3")
    pmtl._squares.cache_clear()
    with thrice.planted("pmtl"):
        again = measured(_sigma(), 3)
    assert again.loose is not None
    assert again.loose[0] == pytest.approx(found.loose[0] / 9, rel=1e-6)
    assert again.loose[0] < 1
    pmtl._squares.cache_clear()


def test_gradients_that_are_read_off_steps_are_the_clients(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the quadratic f_k = ||w - c_k||^2/2 + (lambda/2) ||w - w~||^2, from models that the run kept."""
    how = How("quadratic", rounds=4, sigma=0.3, step=0.2)
    seen: Seen = run_pmtl(how, 1)
    centres = pmtl.quadratic(how.clients, how.dimension).centres
    begin = np.repeat(centres.mean(axis=0)[None], how.clients, axis=0)
    before = np.concatenate([begin[None], seen.kept[:-1]])
    assert seen.gradients == pytest.approx(before - centres + (before - seen.broadcast[:, None]), abs=1e-9)


def test_the_page_is_that_of_the_recorded_numbers() -> None:
    results = page.read(DOCS / page.RESULTS)
    text = (DOCS / page.PAGE).read_text(encoding="utf-8")
    assert page.as_markdown(results) == text
    assert all((DOCS / page.FIGURES / each["figure"]).exists() for each in results)
    assert {page.of_recorded(each) for each in results} <= {page.of_rate(rate) for rate in page.rates()}
    # Planted: one rate's slope, and a rate that was not measured.
    results[0]["slope"] += 0.1
    assert page.as_markdown(results) != text
    without = page.as_markdown(results[1:])
    assert f"- {results[0]['paper']}, {results[0]['problem']}: {results[0]['parameter']}" in without


def test_recorded_slopes_are_those_of_the_recorded_values() -> None:
    for each in page.read(DOCS / page.RESULTS):
        logs = np.log(each["sizes"])
        slope = np.polyfit(logs, np.log(np.mean(each["values"], axis=0)), 1)[0]
        assert each["slope"] == pytest.approx(slope, abs=2e-4), each["figure"]


def test_usage_and_damage(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert page.main([]) == 2
    assert page.main(["docs", "--quickly"]) == 2
    assert "usage" in capsys.readouterr().err
    (tmp_path / "rates.json").write_text("[")
    with pytest.raises(InputError, match=r"rates\.json"):
        page.read(tmp_path / "rates.json")
    (tmp_path / "rates.json").write_text(json.dumps([]))
    assert page.read(tmp_path / "rates.json") == []


def test_the_room_knows_nothing_of_the_papers_register() -> None:
    """The register is built on it: the other way round its rows would be checked with themselves."""
    texts = {file.name: file.read_text() for file in Path(str(convergence.__file__)).parent.glob("*.py")}
    assert len(texts) >= 8
    assert not [name for name, text in texts.items() if "..papers" in text or "import papers" in text]
