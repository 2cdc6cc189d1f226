"""The HTML report and the comparison: what was judged, nothing cut, nothing fetched, readable on paper and a phone."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from scipy.stats import norm

from dpcert.accounting import epsilon
from dpcert.cli import run
from dpcert.mechanisms import Gaussian, Sequence
from dpcert.presentation.report import ORDERS, _page
from dpcert.proofs_checks.claims.claim import load_claim, parse_claim
from dpcert.proofs_checks.verification.exposure import RATES, Exposure, band, exposure
from dpcert.proofs_checks.verification.verdict import Verification
from dpcert.proofs_checks.verification.verdicts import Verdicts, compare
from dpcert.proofs_checks.verification.verify import verify

pytest.importorskip("jinja2")

TITLE = "a title so long that a table has cut it in the middle before, where two claims differed only at its end: "


def claim(epsilon: float = 6.0, title: str = "one", noise: float = 1.0, **more: object) -> dict[str, object]:
    """The tables of a claim on one Gaussian round."""
    statement = {"title": title, "neighbouring": "add-remove", "epsilon": epsilon, "delta": 1e-5} | more
    return {"claim": statement, "mechanism": {"kind": "gaussian", "noise_multiplier": noise}}


def of(*tables: dict[str, object]) -> Verdicts:
    return Verdicts(tuple(judged(*tables)))


def judged(*tables: dict[str, object]) -> list[Verification]:
    return [verify(parse_claim(each)) for each in tables]


class Page(HTMLParser):
    """Collects tags, ids and every address."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.addresses: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.ids += [value or "" for name, value in attrs if name == "id"]
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href", "action", "srcset")]


def test_the_report_says_what_was_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "ours.toml"
    file.write_text(
        '[claim]\ntitle = "ours <&>"\nsource = "Table 7"\nunit = "device"\nneighbouring = "zero-out"\nepsilon = 30.0\n'
        'delta = 1e-5\n[mechanism]\nkind = "gaussian"\nnoise_multiplier = 1.25\n'
        '[sampling]\nscheme = "poisson"\nsampling_rate = 0.015\n[composition]\nrounds = 12345\n'
    )
    assert run(["verify", "--json", "--report", str(tmp_path / "r.html"), str(file)]) == 0
    (entry,) = json.loads(capsys.readouterr().out)["claims"]
    said = entry["judged"]
    (phase,) = said["phases"]
    assert phase["mechanism"] == {"kind": "gaussian", "noise_multiplier": 1.25}
    assert phase["sampling"] == {"scheme": "poisson", "sampling_rate": 0.015}
    assert phase["rounds"] == 12345
    assert [said[key] for key in ("unit", "neighbouring", "notion", "source")] == [
        "device",
        "zero-out",
        "dp",
        "Table 7",
    ]
    from hashlib import sha256

    assert said["issued"]["claim_sha256"] == sha256(file.read_bytes()).hexdigest()
    text = (tmp_path / "r.html").read_text("utf-8")
    told = (
        "gaussian: noise_multiplier 1.25",
        "poisson: sampling_rate 0.015",
        "12,345",
        "device",
        "zero-out",
        "Table 7",
        said["issued"]["claim_sha256"],
        said["issued"]["date"],
        f"dpcert {said['issued']['dpcert']}",
        "ours &lt;&amp;&gt;",
    )
    assert [word for word in told if word not in text] == []
    assert "ours <&>" not in text


def test_the_page_fetches_nothing_runs_nothing_and_has_an_address_for_every_claim() -> None:
    results = judged(claim(), claim(1.0), claim(title="another"), claim(1.0, TITLE + "A"), claim(1.0, TITLE + "B"))
    text = _page(Verdicts(tuple(results)))
    page = Page(text)
    assert "script" not in page.tags
    assert page.addresses
    assert all(address.startswith("#") and address[1:] in page.ids for address in page.addresses)
    assert len(set(page.ids)) == len(page.ids)
    assert {"one", "one-2", "another"} <= set(page.ids)
    assert f"{TITLE}A</span>" in text
    assert f"{TITLE}B</span>" in text


def test_every_order_numbers_all_rows() -> None:
    results = judged(claim(title="b"), claim(1.0, "c"), claim(title="a", noise=9.0))
    text = _page(Verdicts(tuple(results)))
    for index, name in enumerate(ORDERS, start=1):
        assert sorted(re.findall(rf"--place-{index}:(\d+);", text)) == ["1", "2", "3"], name
    assert re.findall(r"--place-3:(\d+);", text) == ["2", "3", "1"]  # by title
    assert re.findall(r"--place-2:(\d+);", text)[1] == "1"  # the refuted one


def test_on_paper_everything_is_unfolded_and_nothing_needs_a_wide_screen() -> None:
    text = _page(of(claim()))
    style = text.split("<style>")[1].split("</style>")[0]
    paper = style.split("@media print{")[1]
    assert ".body{display:block}" in paper
    assert "details" not in Page(text).tags  # which browsers print folded
    outside = style.split("@media")[0]
    assert all(int(size) <= 350 for size in re.findall(r"(?<!max-)width:(\d+)px", outside))
    assert not re.search(r"overflow-x|nowrap(?!})", outside)


def test_notes_are_told_where_they_apply() -> None:
    bounded = claim(1e-9, "bounded") | {"mechanism": {"kind": "pure-dp", "epsilon": 1.0}}
    assert "lower end of 0" not in _page(of(claim()))
    assert "lower end of 0" in _page(of(claim(), bounded))
    assert "infinity" not in _page(of(claim(), bounded))
    assert "Together" not in _page(of(claim()))


def test_the_band_of_a_gaussian_round_holds_its_curve() -> None:
    found = exposure(parse_claim(claim(noise=1.0)))
    assert found is not None
    for rate in RATES:
        exact = norm.cdf(norm.ppf(rate) + 1)
        assert found.found_out(rate).lower <= exact <= found.found_out(rate).upper
        assert found.found_out(rate).width < 1e-6
    assert found.right_guess == pytest.approx(norm.cdf(0.5), rel=1e-6)
    drawn = band(found, parse_claim(claim()).statement)
    assert drawn is not None
    assert [rate for rate, _, _ in drawn.rates] == ["0.1", "0.01", "0.001", "0.0001"]


def test_a_band_of_what_is_only_bounded_has_no_lower_edge() -> None:
    tables = claim() | {"mechanism": {"kind": "pure-dp", "epsilon": 1.0}}
    found = exposure(parse_claim(tables))
    assert found is not None
    assert found.found_out(0.01).lower == 0.01
    assert found.found_out(0.01).upper >= 0.01 * math.e


def test_a_band_covers_the_relation_that_covers_the_claim() -> None:
    """A mean over everybody divides by who is there: add-remove moves it by up to what replace-one does."""
    tables = claim() | {
        "mechanism": {"kind": "gaussian-mean", "noise_std": 0.1, "clip_norm": 1.0},
        "sampling": {"population": 10},
    }
    found = exposure(parse_claim(tables))
    assert isinstance(found, Exposure)
    assert found.found_out(0.01).upper >= norm.cdf(norm.ppf(0.01) + 2) * (1 - 1e-9)
    assert not found.attained


def test_claims_side_by_side_are_at_one_delta_and_their_total_is_the_composition(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = []
    for name, noise, delta in (("a", 2.0, "1e-5"), ("b", 3.0, "1e-7")):
        files.append(tmp_path / f"{name}.toml")
        files[-1].write_text(
            f'[claim]\ntitle = "{name}"\nneighbouring = "add-remove"\nepsilon = 9.0\ndelta = {delta}\n'
            f'[mechanism]\nkind = "gaussian"\nnoise_multiplier = {noise}\n'
        )
    assert run(["verify", "--compare", "--json", *map(str, files), "--report", str(tmp_path / "r.html")]) == 0
    found = json.loads(capsys.readouterr().out)["comparison"]
    assert found["delta"] == 1e-7
    assert [entry["epsilon_upper"] for entry in found["claims"]] == [
        pytest.approx(epsilon(Gaussian(noise), 1e-7).upper, rel=1e-9) for noise in (2.0, 3.0)
    ]
    both = epsilon(Sequence((Gaussian(2.0), Gaussian(3.0))), 1e-7)
    assert found["total"] == {
        "epsilon_lower": pytest.approx(both.lower, rel=1e-9),
        "epsilon_upper": pytest.approx(both.upper, rel=1e-9),
    }
    page = (tmp_path / "r.html").read_text("utf-8")
    assert "Together: [" in page
    assert '<span class="whole">at delta 1e-05</span>' in page  # no number is broken over two lines
    assert run(["verify", "--compare", *map(str, files)]) == 0
    out = capsys.readouterr().out
    assert "side by side, at delta = 1e-07" in out
    assert "Together: [" in out


def test_what_differs_in_whom_it_is_about_has_no_total() -> None:
    found = compare(judged(claim(), claim(neighbouring="zero-out")))
    assert found.total is None
    assert "neighbouring" in found.no_total
    assert found.epsilons[0].upper == found.epsilons[1].upper


def test_claims_about_groups_and_some_phases_have_no_total_with_others() -> None:
    found = compare(judged(claim(), claim(group=3)))
    assert found.total is None
    assert "group" in found.no_total
    assert found.epsilons[1].lower > found.epsilons[0].upper
    of_groups = judged(claim(group=3), claim(group=3))
    both = compare(of_groups).total
    assert both is not None
    assert both.upper == pytest.approx(epsilon(Gaussian(math.sqrt(0.5) / 3), 1e-5).upper, rel=1e-6)
    assert "3 at once" in _page(Verdicts(tuple(of_groups)))


def test_other_currencies_are_compared_in_epsilon() -> None:
    stated = claim() | {"claim": {"title": "mu", "neighbouring": "add-remove", "mu": 1.5}}
    found = compare(judged(claim(), stated))
    assert found.delta == 1e-5
    assert found.epsilons[1].upper == pytest.approx(found.epsilons[0].upper, rel=1e-5)


def test_a_pure_claim_does_not_make_the_others_infinite() -> None:
    pure = {"claim": {"title": "pure", "neighbouring": "add-remove", "epsilon": 1.0, "delta": 0.0}}
    pure |= {"mechanism": {"kind": "pure-dp", "epsilon": 1.0}}
    found = compare(judged(claim(), pure))
    assert found.delta == 1e-5
    assert found.epsilons[0].upper < 6.0
    assert found.epsilons[1].upper <= 1.0 + 1e-5
    assert compare(judged(pure, pure)).delta == 0.0  # where all are pure they are compared as they are


def test_a_claim_takes_at_most_eight_lines_of_eighty_columns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    (result,) = judged(claim(1.0, 3 * TITLE))
    long = replace(result, reproduced_by=("RDP, a conversion whose name goes on; " * 12,))
    lines = str(Verdicts((long, result))).splitlines()
    assert len(lines) <= 2 * 8 + 1
    assert max(map(len, lines)) <= 80
    assert [line.split()[0] for line in lines if not line.startswith(" ")][:2] == ["refuted", "refuted"]


def test_every_shipped_claim_can_be_described() -> None:
    from dpcert.proofs_checks.claims.judged import judged as described

    for file in sorted((Path(__file__).parents[2] / "claims").rglob("*.toml")):
        said = described(load_claim(file))
        json.dumps(said.to_json(), allow_nan=False)
        assert all(phase.noise_in_words and phase.sampling_in_words for phase in said.phases)
