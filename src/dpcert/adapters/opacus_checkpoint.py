"""What Opacus's accountants keep of a run, read from a checkpoint: neither Opacus nor its accountant is needed.

`PrivacyEngine.save_checkpoint` keeps `accountant.state_dict()`: {"mechanism": "rdp" | "prv" | "gdp" | ..., "history": a
list of (noise multiplier, sample rate, steps)}, whatever the accountant. Opacus notes nothing of how batches were
drawn: like its own numbers, what follows from a history is for Poisson sampling (poisson_sampling=True).
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..accounting import epsilon
from ..accounting.ledger import Ledger, LedgerError
from ..accounting.ledger.contents import Cost, counted, listed
from ..mechanisms import (
    InputError,
    Mechanism,
    Neighbouring,
    Poisson,
    Repeat,
    Sequence,
    relation_meant,
    rounds_by_step,
)
from ..mechanisms.no_noise import gaussian_or_none
from ..mechanisms.paths import content
from ..mechanisms.validate import count, lacks, rate

KEPT_BY = ("rdp", "prv", "gdp", "dpcert")
"""The accountants of Opacus whose histories are these tuples, and ours."""

STATE = "privacy_accountant_state_dict"
"""Where save_checkpoint puts it."""

_EXPECTED = f"a checkpoint of Opacus ({STATE}), or an accountant's state_dict: mechanism and history"


@dataclass(frozen=True, slots=True)
class Imported:
    """What a checkpoint counted. cost: where a delta was named; ledger: where the steps were recorded."""

    file: str
    mechanisms: tuple[tuple[int, str], ...]
    cost: Cost | None
    ledger: str | None

    def __str__(self) -> str:
        steps = [f"{rounds} x {text}" for rounds, text in self.mechanisms]
        return "\n".join([*steps, *([] if self.cost is None else [f"{self.cost}, Poisson batches"])])

    def to_json(self) -> dict[str, Any]:
        """Plain data; infinities stay floats."""
        cost = {} if self.cost is None else self.cost.to_json()
        return {"file": self.file} | listed(self.mechanisms) | cost | ({"ledger": self.ledger} if self.ledger else {})


def imported(
    path: Path, delta: float | None = None, neighbouring: Neighbouring | None = None, into: Path | None = None
) -> Imported:
    """A checkpoint's steps, with a delta their certified epsilon, recorded in a ledger if one is named.

    Raises InputError as `run_of_checkpoint` does, and for a ledger that is not whole.
    """
    run, cost = run_of_checkpoint(path), None
    if delta is not None:
        relation = relation_meant(neighbouring)
        cost = Cost(epsilon(run, delta, relation), delta, relation)
    if into is not None:
        _record(run, into)
    return Imported(str(path), counted(run), cost, None if into is None else str(into))


def _record(run: Mechanism, into: Path) -> None:
    """The run's parts as releases of a ledger, which may hold others."""
    try:
        ledger = Ledger(into)
        for step, rounds in rounds_by_step(run).items():
            ledger.record(Repeat(step, rounds))
    except LedgerError as problem:
        raise InputError("--into", str(into), f"a whole ledger, or a new file: {problem}") from None


def run_of_checkpoint(path: Path) -> Mechanism:
    """The Poisson-sampled Gaussian steps that the checkpoint's accountant has counted; noise 0 is none.

    The file is one of torch.save (read with weights_only=True: nothing in it is executed) or JSON. InputError for
    anything else, and where PyTorch is not installed for a file that needs it.
    """
    return run_of_history(_state(_document(path), str(path))["history"])


def run_of_history(history: Any) -> Mechanism:
    """The steps as a run; entries of no steps, and of rate 0, are nothing."""
    parts: list[Mechanism] = []
    for entry in history if isinstance(history, list | tuple) else [history]:
        if not isinstance(entry, list | tuple) or len(entry) != 3:
            raise InputError("history", entry, "tuples (noise multiplier, sample rate, steps)")
        noise, share, steps = entry
        if count("steps", steps, least=0) and share:
            one, part = gaussian_or_none(noise), rate("sample_rate", share)
            parts.append(Repeat(one if part == 1.0 else Poisson(one, part), steps))
    if not parts:
        raise InputError("history", history, "at least one step")
    return parts[0] if len(parts) == 1 else Sequence(parts)


def _document(path: Path) -> Any:
    read = content("CHECKPOINT", path)
    if read.lstrip()[:1] == b"{":
        try:
            return json.loads(read.decode())
        except ValueError as problem:
            raise InputError("CHECKPOINT", str(path), f"a JSON object ({problem})") from None
    try:
        import torch
    except ModuleNotFoundError:
        raise lacks("A checkpoint of torch.save", "PyTorch", "dpcert[train]") from None
    try:
        return torch.load(io.BytesIO(read), map_location="cpu", weights_only=True)
    except Exception as problem:  # of many kinds, for what is no such file
        reason = " ".join(str(problem).split())[:160]
        raise InputError("CHECKPOINT", str(path), f"a file of torch.save, or JSON ({reason})") from None


def _state(document: Any, path: str) -> Mapping[str, Any]:
    state = document.get(STATE, document) if isinstance(document, Mapping) else None
    if not isinstance(state, Mapping) or not {"mechanism", "history"} <= set(state):
        raise InputError("CHECKPOINT", path, _EXPECTED)
    if state["mechanism"] not in KEPT_BY:
        kept_by = ", ".join(KEPT_BY)
        raise InputError("mechanism", state["mechanism"], f"the history of one of these accountants: {kept_by}")
    return state
