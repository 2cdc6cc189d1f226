"""Every shipped claim that an accountant decides has a certificate that the checker proves, with the same verdict."""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path

import pytest

from dpcert.cli import run
from dpcert.proofs_checks.certificates import checker
from dpcert.proofs_checks.claims.claim import load_claim

CLAIMS = Path(__file__).parents[3] / "claims"
FILES = sorted(CLAIMS.rglob("*.toml"))
QUICK = (
    "abadi16-mnist-e100",
    "census-pl94-person",
    "chua24-shuffle-as-poisson",
    "dpfedmtl-femnist-sigma0.65-as-multiplier",
    "gboard-spanish-2022",
    "opacus-issue643-gdp",
    "pmtl-figure2-femnist",
    "pmtl-reference-code-femnist-weighted",
    "pmtl-theorem1-epsilon40",
    "wikimedia-pageviews",
)
ONE_SIDED = ("zcdp",)
"""Kinds of which only a bound is known: no pair of neighbours attains it, so the certificate's lower end is 0."""


def claim_file(name: str) -> Path:
    (file,) = CLAIMS.rglob(f"{name}.toml")
    return file


def certified(files: list[Path], folder: Path, capsys: pytest.CaptureFixture[str]) -> list[dict]:
    code = run(["verify", "--json", "--certificate", str(folder), *map(str, files)])
    assert code in (0, 1, 3)
    claims = json.loads(capsys.readouterr().out)["claims"]
    assert len(claims) == len(files) == len(list(folder.iterdir()))
    return claims


def end(value: object) -> float:
    return math.inf if value == "inf" else float(str(value))


def check_all(claims: list[dict], capsys: pytest.CaptureFixture[str]) -> None:
    for claim in claims:
        path = Path(claim["certificate"])
        assert run(["check", "--json", str(path)]) == 0, path.name
        assert json.loads(capsys.readouterr().out)["proved"], path.name
        document = json.loads(path.read_text("utf-8"))
        low, high = (end(document["interval"][f"epsilon_{name}"]) for name in ("lower", "upper"))
        known = claim["certified"]
        assert low <= end(known["epsilon_upper"]), path.name
        assert end(known["epsilon_lower"]) <= high, path.name
        assert document["verdict"] == claim["verdict"], path.name
        kinds = {phase.mechanism.kind for phase in load_claim(claim["file"]).phases}
        assert (low == 0) == bool(kinds & set(ONE_SIDED)), path.name
        assert math.isfinite(high), path.name
        if kinds & {"tree-aggregation", "matrix-factorisation"}:
            assert "certified: all rounds" in document["claim"]["source"]
            assert "certificate-restates" in {finding["id"] for finding in claim["findings"]}


def test_a_selection_of_the_shipped_claims(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check_all(certified([claim_file(name) for name in QUICK], tmp_path, capsys), capsys)


@pytest.mark.nightly
def test_all_shipped_claims(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    claims = certified(FILES, tmp_path, capsys)
    check_all(claims, capsys)
    widths = Counter[str]()
    for claim in claims:
        document = json.loads(Path(claim["certificate"]).read_text("utf-8"))
        low, high = (end(document["interval"][f"epsilon_{name}"]) for name in ("lower", "upper"))
        own = end(claim["certified"]["epsilon_upper"]) - end(claim["certified"]["epsilon_lower"])
        widths["wide"] += low > 0 and high - low > own + 1e-3 * high
    assert widths["wide"] <= 5, "those with next to no noise, where hidden coins are worth a share of epsilon"
    assert checker.check(Path(claims[0]["certificate"])).ok
