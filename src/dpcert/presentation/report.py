"""The HTML report: one self-contained file, no script, no network; readable in light and dark, on paper and a phone.

What the page says is gathered here, how it looks is in report.html.j2. Rows are sorted by the page itself: each has
its place in every order as a number, and the style sheet picks one.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track

from ..mechanisms.digits import interval
from ..mechanisms.validate import lacks
from ..proofs_checks.auditing import AuditWitness
from ..proofs_checks.claims.assumptions import NOT_CHECKED
from ..proofs_checks.verification.exposure import Band, band, exposure
from ..proofs_checks.verification.hazards import Evidence, Hazard, hazards
from ..proofs_checks.verification.verdict import Verification
from ..proofs_checks.verification.verdicts import Verdicts

NARROWEST, WIDEST = -3, 8
"""The axis of the bars ends at 10 to these powers of the claimed number, and sooner where no bar reaches."""

ORDERS: dict[str, Callable[[Verification], Any]] = {
    "as given": lambda result: 0,
    "verdict": lambda result: ("refuted", "undecided", "holds").index(result.verdict),
    "title": lambda result: result.claim.statement.title.casefold(),
    "times the claim": lambda result: -result.certified.upper / max(result.stated, 1e-300),
}
"""By what the rows can be sorted, each with its key."""


@dataclass(frozen=True, slots=True)
class Bar:
    """The certified interval on the axis of the claimed number, in percent of its length."""

    left: float
    width: float


@dataclass(frozen=True, slots=True)
class Row:
    """A claim as the page shows it. places: its number in each of ORDERS."""

    anchor: str
    result: Verification
    printed: str
    interval: str
    bar: Bar
    places: dict[str, int]
    not_checked: tuple[str, ...]
    witness: tuple[str, ...]
    band: Band | None
    hazards: tuple[Hazard, ...]


def check_templates() -> None:
    """Raises InputError where jinja2 is not installed, before any work."""
    try:
        import jinja2  # noqa: F401
    except ImportError:
        raise lacks("`--report`", "jinja2", "dpcert[report]") from None


def write_report(path: Path, judged: Verdicts) -> None:
    """Write the report; an existing file is replaced."""
    path.write_text(_page(judged), encoding="utf-8")


def _page(judged: Verdicts) -> str:
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(files(__package__).joinpath("report.html.j2").read_text("utf-8"))
    results = judged.results
    axis = Axis.of(results)
    counts = Counter[str](result.verdict for result in results)
    return template.render(
        rows=_rows(results, axis),
        ticks=axis.ticks(),
        claimed_at=axis.place(0),
        counts=[(counts[word], word) for word in ("holds", "refuted", "undecided")],
        orders=list(ORDERS),
        problems=judged.problems,
        not_checked=NOT_CHECKED,
        comparison=judged.comparison,
        compared=_compared(judged),
        no_lower_end=any(result.certified.lower == 0 for result in results),
        no_upper_end=any(math.isinf(result.certified.upper) for result in results),
        interval=interval,
    )


@dataclass(frozen=True, slots=True)
class Axis:
    """Powers of ten of (number / claimed number), from `low` to `high`."""

    low: int
    high: int

    @classmethod
    def of(cls, results: Sequence[Verification]) -> Axis:
        """As long as the bars that end somewhere need it, and at least from a tenth to ten times."""
        ends = [_power(end, result.stated) for result in results for end in _ends(result)]
        within = [end for end in ends if NARROWEST <= end <= WIDEST] or [0.0]
        return cls(min(math.floor(min(within)), -1), max(math.ceil(max(within)), 1))

    def place(self, power: float) -> float:
        """In percent of the axis."""
        return 100 * (min(max(power, self.low), self.high) - self.low) / (self.high - self.low)

    def ticks(self) -> list[tuple[float, str]]:
        """(percent, words)."""
        step = max(1, (self.high - self.low) // 6)
        powers = sorted({0, *range(0, self.low - 1, -step), *range(0, self.high + 1, step)})
        return [(self.place(power), "claimed" if power == 0 else f"{10.0**power:g}x") for power in powers]

    def bar(self, result: Verification) -> Bar:
        """The interval's bar, never thinner than can be seen."""
        left, right = (self.place(_power(end, result.stated)) for end in _ends(result))
        return Bar(left, max(right - left, 0.8))


def _ends(result: Verification) -> tuple[float, float]:
    return result.certified.lower, result.certified.upper


def _power(end: float, stated: float) -> float:
    """log10(end / stated), where 0 is far below everything, and what is above a claimed 0 far above."""
    if end == 0.0:
        return -math.inf if stated > 0 else 0.0
    if math.isinf(end) or stated == 0.0:
        return math.inf
    return math.log10(end) - math.log10(stated)


def _rows(results: Sequence[Verification], axis: Axis) -> list[Row]:
    places = {name: _places(results, key) for name, key in ORDERS.items()}
    anchors = _anchors(results)
    rows = []
    for index, result in enumerate(track(results, "drawing", console=Console(stderr=True), transient=True)):
        row = Row(
            anchor=anchors[index],
            result=result,
            printed=result.printed,
            interval=interval(result.certified, 6),
            bar=axis.bar(result),
            places={name: of_all[index] for name, of_all in places.items()},
            not_checked=tuple(sentence for sentence in result.not_checked if sentence not in NOT_CHECKED),
            witness=_witness(result),
            band=band(exposure(result.claim), result.claim.statement),
            hazards=hazards(Evidence(result.claim, result.findings, proved=result.verdict_is_proved)),
        )
        rows.append(row)
    return rows


def _places(results: Sequence[Verification], key: Callable[[Verification], Any]) -> list[int]:
    """Each row's number when the rows are sorted by the key."""
    order = sorted(range(len(results)), key=lambda index: key(results[index]))
    return [order.index(index) + 1 for index in range(len(results))]


def _anchors(results: Sequence[Verification]) -> list[str]:
    """A name for each claim's address on the page: its file's, or its title's; numbered where several share one."""
    seen = Counter[str]()
    anchors = []
    for result in results:
        source = Path(result.claim.file).stem if result.claim.file else result.claim.statement.title
        name = re.sub(r"[^a-z0-9.]+", "-", source.lower()).strip("-") or "claim"
        seen[name] += 1
        anchors.append(name if seen[name] == 1 else f"{name}-{seen[name]}")
    return anchors


def _witness(result: Verification) -> tuple[str, ...]:
    """The witness in a few paragraphs; none where nothing was refuted."""
    seen = result.witness
    if seen is None:
        return ()
    return (str(seen),) if isinstance(seen, AuditWitness) else tuple(str(seen).splitlines())


def _compared(judged: Verdicts) -> list[tuple[Verification, str, str]]:
    """(claim, as printed, epsilon at the common delta)."""
    if judged.comparison is None:
        return []
    pairs = zip(judged.results, judged.comparison.epsilons, strict=True)
    return [(result, result.printed, interval(epsilon, 6)) for result, epsilon in pairs]
