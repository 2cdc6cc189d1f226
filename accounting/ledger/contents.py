"""What a ledger, or another record of releases, holds and costs: as the command line prints it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ...mechanisms import Mechanism, rounds_by_step
from ...mechanisms.digits import as_given, interval
from ...mechanisms.neighbours import Neighbouring, Notion, PrivacyNotion, Relation, Visibility, relation_meant
from ...mechanisms.notebook import InNotebook
from ...mechanisms.paths import is_file
from ...mechanisms.text_table import text_table
from ...mechanisms.validate import InputError
from ..accountants import AccountantName
from ..bracket import Bracket
from .ledger import Ledger
from .store import LedgerError

SPENT = "a ledger that records mechanisms; the spent.sqlite of a checkpoint records digests of releases, which "


@dataclass(frozen=True, slots=True)
class WholeLedger(InNotebook):
    """A ledger whose every event agrees with its chain of hashes."""

    file: str
    events: int
    head: str

    def __str__(self) -> str:
        return f"whole: {self.counted}\n  head {self.head}"

    @property
    def counted(self) -> str:
        """How many events there are."""
        return "1 event" if self.events == 1 else f"{self.events} events"

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self) | {"whole": True}


@dataclass(frozen=True, slots=True)
class Cost:
    """The certified epsilon of all that was released, at this delta and against whom."""

    epsilon: Bracket
    delta: float
    neighbouring: Relation
    notion: Notion = PrivacyNotion.DP
    participation: Visibility | None = None

    def __str__(self) -> str:
        found = f"{self.epsilon.kind}, by {self.epsilon.method}, {self.neighbouring}"
        return f"epsilon in {interval(self.epsilon)} at delta = {as_given(self.delta)}; {found}"

    def to_json(self) -> dict[str, Any]:
        """Plain data; infinities stay floats."""
        seconds = 0.0 if self.epsilon.about is None else self.epsilon.about.seconds
        against = {"neighbouring": self.neighbouring, "notion": self.notion, "participation": self.participation}
        return self.epsilon.to_json("epsilon") | {"delta": self.delta, "seconds": seconds} | against


@dataclass(frozen=True, slots=True)
class Contents(InNotebook):
    """ledger: the file and its head. mechanisms: how many rounds of each, in words. cost: where a delta was named."""

    ledger: WholeLedger
    mechanisms: tuple[tuple[int, str], ...]
    cost: Cost | None = None

    def __str__(self) -> str:
        columns = {"header": "rounds", "justify": "right", "no_wrap": True}, {"header": "mechanism"}
        table = text_table(columns, [(str(rounds), text) for rounds, text in self.mechanisms])
        counted = f"{self.ledger.counted}, head {self.ledger.head}"
        return "\n".join([table, counted, *([] if self.cost is None else [str(self.cost)])])

    def to_json(self) -> dict[str, Any]:
        """Plain data; infinities stay floats."""
        about = {"file": self.ledger.file, "events": self.ledger.events, "head": self.ledger.head}
        return about | listed(self.mechanisms) | ({} if self.cost is None else self.cost.to_json())


def listed(mechanisms: tuple[tuple[int, str], ...]) -> dict[str, Any]:
    """How often which mechanism ran, as plain data."""
    return {"mechanisms": [{"rounds": rounds, "mechanism": text} for rounds, text in mechanisms]}


def counted(run: Mechanism | None) -> tuple[tuple[int, str], ...]:
    """How many rounds of each distinct mechanism, in words, in the order of its first release."""
    return () if run is None else tuple((rounds, str(step)) for step, rounds in rounds_by_step(run).items())


def opened(path: Path) -> Ledger:
    """The ledger of an existing file, every event verified; InputError where it cannot be trusted."""
    if not is_file(path):
        raise InputError("LEDGER", str(path), "an existing ledger file", f"{path} does not exist, or is not a file.")
    try:
        return Ledger(path)
    except LedgerError as problem:
        reason = str(problem).removeprefix(f"{path}: ").rstrip(".")
        said = f"{path} is not a whole ledger: {reason}. Use a copy that `dpcert ledger check` accepts."
        raise InputError("LEDGER", str(path), "a whole ledger", said) from None
    except InputError:  # the chain is whole, and its events are something else
        raise InputError("LEDGER", str(path), f"{SPENT}dpcert train and dpcert mocha check when they resume") from None


def whole(path: Path) -> WholeLedger:
    """The ledger's last hash, if all of it is whole; else raises InputError."""
    ledger = opened(path)
    return WholeLedger(str(path), len(ledger), ledger.head)


def contents(
    path: Path,
    delta: float | None = None,
    neighbouring: Neighbouring | None = None,
    *,
    notion: Notion = PrivacyNotion.DP,
    participation: Visibility | None = None,
    accountant: AccountantName = "best",
) -> Contents:
    """What was released, and with a delta its certified epsilon. Raises InputError for a file that is no ledger."""
    ledger, cost = opened(path), None
    if delta is not None:
        relation = relation_meant(neighbouring, notion, participation)
        against: dict[str, Any] = {"notion": notion, "participation": participation}
        cost = Cost(ledger.epsilon(delta, relation, accountant=accountant, **against), delta, relation, **against)
    return Contents(WholeLedger(str(path), len(ledger), ledger.head), counted(ledger.run()), cost)


def exported(path: Path) -> str:
    """Every event as a line of JSON: sequence, event_id, mechanism, hash."""
    return "".join(
        json.dumps({"sequence": sequence, **asdict(event), "mechanism": json.loads(event.mechanism)}) + "\n"
        for sequence, event in enumerate(opened(path).events(), start=1)
    )
