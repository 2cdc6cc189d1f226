"""What a verdict is about: what ran, against whom, by whose word, and which dpcert judged it on which day."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from ...mechanisms.tables.fields import Table
from ...mechanisms.tables.phase import Phase
from ...version import __version__
from .assumptions import observer_in_words
from .claim import Claim

_MANY = 4
"""Lists that are longer are counted in words, not repeated."""


@dataclass(frozen=True, slots=True)
class JudgedPhase:
    """One stretch of the run, as the claim describes it. rounds: as stated, or as so many epochs come to."""

    mechanism: dict[str, Any]
    sampling: dict[str, Any]
    rounds: int

    @property
    def noise_in_words(self) -> str:
        """ "gaussian: noise_multiplier 1.1"."""
        return " and ".join(_in_words(table, "kind") for table in self.mechanism.get("parts", [self.mechanism]))

    @property
    def sampling_in_words(self) -> str:
        """ "poisson: sampling_rate 0.01"."""
        return _in_words(self.sampling, "scheme")


@dataclass(frozen=True, slots=True)
class Issued:
    """Which dpcert judged, on which day (UTC), and the sha256 of the claim's file; None where it has none."""

    dpcert: str
    date: str
    claim_sha256: str | None


@dataclass(frozen=True, slots=True)
class Judged:
    """What was judged. days: on how many of them the phases ran, where the claim is about one.
    group: how many units change at once; phases_per_unit: in how many phases one unit's data are; None: one, all.

    observer: in words; None for plain privacy, which is about whoever sees the output.
    """

    phases: tuple[JudgedPhase, ...]
    days: int
    unit: str
    group: int | None
    phases_per_unit: int | None
    neighbouring: str
    notion: str
    observer: str | None
    source: str
    convention: str | None
    issued: Issued

    def to_json(self) -> dict[str, Any]:
        """Plain data, under the names of the fields."""
        return asdict(self)


def judged(claim: Claim) -> Judged:
    """What is judged with this claim, now."""
    statement = claim.statement
    return Judged(
        phases=tuple(map(_phase, claim.phases)),
        days=claim.days,
        unit=statement.unit,
        group=statement.group,
        phases_per_unit=statement.phases_per_unit,
        neighbouring=statement.neighbouring,
        notion=statement.notion,
        observer=observer_in_words(claim),
        source=statement.source,
        convention=statement.convention,
        issued=issued(claim),
    )


def issued(claim: Claim) -> Issued:
    """dpcert's version, the day (UTC), and the hash of the claim's file as it is now."""
    file = Path(claim.file) if claim.file else None
    content = file.read_bytes() if file and file.is_file() else None
    hashed = None if content is None else sha256(content).hexdigest()
    return Issued(__version__, datetime.now(UTC).date().isoformat(), hashed)


def _phase(phase: Phase) -> JudgedPhase:
    tables = [_stated(table) for table in phase.tables]
    mechanism = tables[0] if len(tables) == 1 else {"kind": phase.mechanism.kind, "parts": tables}
    return JudgedPhase(mechanism, _stated(phase.sampling), phase.steps)


def _stated(table: Table) -> dict[str, Any]:
    """The table's keys that say something, lists as lists."""
    stated = table.model_dump(mode="json", exclude_none=True)
    releases = stated.pop("releases", 1)
    return stated if releases == 1 else stated | {"releases": releases}


def _in_words(table: dict[str, Any], name: str) -> str:
    keys = [f"{key} {_value(value)}" for key, value in table.items() if key != name]
    return f"{table[name]}: {', '.join(keys)}" if keys else str(table[name])


def _value(value: Any) -> str:
    if isinstance(value, list):
        return f"{len(value)} numbers" if len(value) > _MANY else ", ".join(map(_value, value))
    return f"{value:,}" if isinstance(value, int) and value >= 10_000 else str(value)
