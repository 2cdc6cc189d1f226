"""The place that a row names, and its formula, are in the paper: looked up where transcripts are at hand."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dpcert.proofs_checks.papers import Kind, Row, register

SHARED = Path(__file__).parents[4] / "shared" / "papers"
TRANSCRIPTS = {"pmtl": "pmtl.md", "pmtl-jdp": "pmtl-jdp-version.md", "dpfedmtl": "dpfedmtl.md", "mocha": "mocha.md"}
NAMED = re.compile(
    r"(Theorem|Lemma|Corollary|Definition|Assumption|Algorithm|Figure|Table|Section|section) "
    r"([A-Z]?\.?\d+(?:\.\d+)*)"
)
EXTRACTED = {"pmtl-jdp"}
"""Papers whose transcript is a text extraction, which has letters where the others' have formulas in TeX."""
GREEK = {"sigma": 0x3C3, "delta": 0x3B4, "gamma": 0x3B3, "lambda": 0x3BB, "eta": 0x3B7, "beta": 0x3B2, "Pi": 0x3A0}
ALIKE = {"epsilon": (0x3F5, 0x3B5), "mu": (0xB5, 0x3BC), "Delta": (0x2206, 0x394)}
"""Of two signs that look alike the extraction's, and the alphabet's."""
GLYPHS = {name: chr(code) for name, code in GREEK.items()} | {name: chr(own) for name, (own, _) in ALIKE.items()}
GLYPHS |= {"log": "log", "min": "min", "Pr": "Pr", "infty": chr(0x221E)}
PLAIN = {other: own for own, other in ALIKE.values()} | str.maketrans("", "", "_*[] \n\t")
TOGETHER = 120
"""Letters: within so many stand all terms of a formula of the extraction; most within 50."""


def squashed(text: str) -> str:
    return re.sub(r"\s+", "", text)


def absent(place: str, formula: str, transcript: str) -> list[str]:
    """What of the place, and the formula, the transcript does not have."""
    missing = []
    for kind, number in NAMED.findall(place):
        wanted = (
            rf"(^|[^\d.]){re.escape(number)}([^\d]|$)" if kind.lower() == "section" else rf"{kind}\W{{0,4}}{number}\b"
        )
        if not re.search(wanted, transcript, flags=re.IGNORECASE | re.MULTILINE):
            missing.append(f"{kind} {number}")
    for number in re.findall(r"\((\d+)\)", place):
        if f"({number})" not in transcript:
            missing.append(f"({number})")
    if formula and squashed(formula) not in squashed(transcript):
        missing.append(formula)
    return missing


def terms(formula: str) -> set[str]:
    """Its letters, words and numbers, as an extraction has them."""
    found = set()
    for command, plain in re.findall(r"\\([A-Za-z]+)|([A-Za-z]+|\d+(?:\.\d+)?)", formula):
        found.add(GLYPHS.get(command, "") if command else plain.removeprefix("0."))
    return found - {""}


def stretch(wanted: set[str], transcript: str) -> float:
    """Of how many letters the shortest piece is that has all of these; infinite where one is nowhere."""
    text = transcript.translate(PLAIN)
    places = sorted((found.start(), each) for each in wanted for found in re.finditer(re.escape(each), text))
    shortest, last = math.inf, dict[str, int]()
    for at, each in places:
        last[each] = at
        if len(last) == len(wanted):
            shortest = min(shortest, at - min(last.values()))
    return shortest


MADE = r"""
## 3.1 Set-up
**Theorem 2** (Rate). If $\eta = \frac{1}{2L}$, then
$$ f(w) \leq \frac{C}{T} \quad (7) $$
Algorithm 1 does so, as Table 3 shows.
"""


@pytest.mark.parametrize(
    ("place", "formula", "missing"),
    [
        ("Section 3.1, Theorem 2, (7)", r"\eta =\frac{1}{2L}", []),
        ("Algorithm 1, line 8; Table 3", "", []),
        ("Section 3.2", "", ["Section 3.2"]),
        ("Theorem 22, (7)", "", ["Theorem 22"]),
        ("Theorem 2, (17)", "", ["(17)"]),
        ("Lemma 2", "", ["Lemma 2"]),
        ("Theorem 2", r"\eta = \frac{1}{3L}", [r"\eta = \frac{1}{3L}"]),
    ],
)
def test_what_is_not_there_is_named(place: str, formula: str, missing: list[str]) -> None:
    assert absent(place, formula, MADE) == missing


EXTRACTION = "_If {sigma} = [4][{gamma}]_ T _[log(1][/][{delta})]_ then{dots} _M_ is 8 times as large".format(
    **GLYPHS, dots=200 * "."
)


@pytest.mark.parametrize(
    ("formula", "is_there"),
    [
        (r"\sigma = 4\gamma \sqrt{T \log(1/\delta)}", True),
        (r"\sigma = 8\gamma \sqrt{T \log(1/\delta)}", False),
        (r"\sigma = 4\gamma \sqrt{T \log(1/\delta)} / M", False),
        (r"\eta = 4\gamma", False),
    ],
)
def test_terms_that_are_nowhere_together_are_no_formula(formula: str, is_there: bool) -> None:
    assert (stretch(terms(formula), EXTRACTION) <= TOGETHER) is is_there


PRINTED = [row for row in register() if row.kind is Kind.PRINTED and row.paper in TRANSCRIPTS]


@pytest.mark.parametrize("row", [pytest.param(row, id=row.id) for row in PRINTED])
def test_the_place_and_the_formula_are_in_the_paper(row: Row) -> None:
    file = SHARED / TRANSCRIPTS[row.paper]
    if not file.is_file():
        pytest.skip("no transcripts at hand")
    transcript = file.read_text(encoding="utf-8")
    if row.paper in EXTRACTED:
        assert absent(row.place, "", transcript) == []
        assert stretch(terms(row.formula), transcript) <= TOGETHER
    else:
        assert absent(row.place, row.formula, transcript) == []


def numbers_in(value: Any) -> Iterator[float]:
    if isinstance(value, tuple):
        for each in value:
            yield from numbers_in(each)
    elif isinstance(value, int | float):
        yield value


def not_printed(values: Iterable[float], transcript: str) -> list[float]:
    """Of a table's numbers: those whose digits the transcript does not have (thousands with commas or without)."""
    digits = transcript.replace(",", "")
    return [each for each in values if f"{each:g}".removeprefix("0.") not in digits]


def test_a_number_that_is_not_in_the_table_is_named() -> None:
    table = "| .645 | 0.606 | 1,234 | 13.4 (0.2) |"
    assert not_printed([0.645, 0.606, 1234, 13.4], table) == []
    assert not_printed([0.646, 13.5], table) == [0.646, 13.5]


IN_TABLES = [row for row in PRINTED if "Table" in row.place and row.function.endswith("kinds:numbers")]


@pytest.mark.parametrize("row", [pytest.param(row, id=row.id) for row in IN_TABLES])
def test_the_numbers_of_a_table_are_in_the_paper(row: Row) -> None:
    """The extraction of the earlier version runs the digits of a column together, and is searched all the same."""
    file = SHARED / TRANSCRIPTS[row.paper]
    if not file.is_file():
        pytest.skip("no transcripts at hand")
    told = numbers_in(tuple(row.readings[0].domain.values()))
    assert not_printed(told, file.read_text(encoding="utf-8")) == []


def test_formulas_are_braced() -> None:
    for row in register():
        assert row.formula.count("{") == row.formula.count("}"), row.id
