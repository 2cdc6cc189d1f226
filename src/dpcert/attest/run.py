"""An attestation at the end of a training run: model, claim, schedule log and ledger that fit together."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..accounting.ledger import Ledger
from ..mechanisms import InputError, Mechanism, rounds_by_step
from ..proofs_checks.claims.toml import as_toml
from .attestation import Attestation, attest
from .parts import parsed_claim

if TYPE_CHECKING:
    from securesystemslib.signer._crypto_signer import CryptoSigner

    from ..trainers.engine.outcome import Outcome
    from ..trainers.engine.trainer import Trainer

MODEL, CLAIM, SCHEDULE, LEDGER, NAME = "model.pt", "claim.toml", "schedule.json", "ledger.sqlite", "model.intoto.jsonl"
POPULATION_TOO = ("fixed-size", "shuffle", "cyclic")
"""Schemes whose claims name the population."""


class AttestRun:
    """Writes model.pt, claim.toml, schedule.json, ledger.sqlite and model.intoto.jsonl into a folder.

    files: what the attestation is about, in place of the released model; needed where an algorithm releases none.
    The schedule says who took part and the ledger when: keep both; only their digests are in the attestation.
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        title: str | None = None,
        files: Sequence[Path] = (),
        signer: CryptoSigner | None = None,
    ) -> None:
        self.folder, self.title, self.files, self.signer = Path(folder), title, tuple(files), signer
        self.attestation: Attestation | None = None

    def begin(self, trainer: Trainer) -> None:
        """Checks what can be checked before any training, and keeps the schedule from now on.

        Raises InputError for a folder that holds an attestation, a run without noise, an algorithm that releases no
        single model (unless files are named), and noise that clients add.
        """
        from ..trainers.training import keep_schedule

        name = trainer.algorithm.name
        if (self.folder / NAME).exists():
            raise InputError("attest", str(self.folder), "a folder without an attestation")
        if trainer.cost.round_mechanism is None:
            raise InputError("attest", name, "a run with noise: there is no epsilon to attest")
        if trainer.algorithm.noise_at != "server":
            raise InputError("attest", name, "an algorithm whose server adds the noise")
        if not self.files and trainer.released_state() is None:
            raise InputError("attest", name, "files that it is about: this algorithm releases no single model")
        planned = self._claim(trainer, 1.0, trainer.sampler.drawings(range(trainer.settings.rounds)))
        _same_run(as_toml(planned), trainer.mechanism())
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise InputError("attest", str(self.folder), f"a folder to write to ({problem.strerror})") from None
        if trainer.sampler.sampling != "full":
            keep_schedule(trainer)

    def end(self, trainer: Trainer, outcome: Outcome) -> None:
        """Writes the files and the attestation about them."""
        from torch import save

        from ..trainers.training import schedule_of

        files = list(self.files)
        if not files:
            save(trainer.released_state(), self.folder / MODEL)
            files = [self.folder / MODEL]
        claim, log = self.folder / CLAIM, None
        assert outcome.privacy is not None  # begin() saw that there is noise
        text = as_toml(self._claim(trainer, rounded_up(outcome.privacy.upper), outcome.spent))
        _same_run(text, outcome.mechanism)
        claim.write_text(text, "utf-8")
        if trainer.sampler.sampling != "full":
            log = self.folder / SCHEDULE
            log.write_text(json.dumps(schedule_of(trainer)), "utf-8")
        ledger = _ledger(self.folder / LEDGER, trainer, outcome)
        self.attestation = attest(claim, files, schedule_log=log, ledger=ledger, signer=self.signer)
        self.attestation.write(self.folder / NAME)

    def _claim(self, trainer: Trainer, epsilon: float, drawings: int) -> dict[str, Any]:
        cost, population = trainer.cost, trainer.federation.population
        sampling = dict(trainer.sampler.in_claims())
        if sampling.get("scheme") in POPULATION_TOO or "max_cohort" in sampling:
            sampling["population"] = population
        rounds = drawings * trainer.sampler.period
        title = self.title or f"{trainer.algorithm.name} on {trainer.federation.name}, {rounds} rounds"
        told: dict[str, Any] = {
            "claim": {
                "title": title,
                "unit": "client",
                "notion": cost.notion,
                "neighbouring": cost.relation,
                "epsilon": epsilon,
                "delta": cost.goal.delta,
            },
            "mechanism": {"kind": "gaussian", "noise_multiplier": trainer.settings.noise_multiplier},
        }
        if sampling:
            told["sampling"] = sampling
        return told | {"composition": {"rounds": rounds}}


def rounded_up(epsilon: float) -> float:
    """The bound with four digits, rounded upwards: what one would print."""
    if not 0.0 < epsilon < math.inf:
        raise InputError("attest", epsilon, "a run whose epsilon is finite")
    place = 3 - math.floor(math.log10(epsilon))
    return float(f"{math.ceil(epsilon * 10.0**place) / 10.0**place:.12g}")


def _same_run(claim: str, mechanism: Mechanism | None) -> None:
    """The claim describes the run: else no attestation is made of it."""
    assert mechanism is not None  # there is noise
    if rounds_by_step(parsed_claim(claim, "the run's claim").run) != rounds_by_step(mechanism):
        expected = "a run that a claim can state; write a claim of it, and use dpcert attest"
        raise InputError("attest", type(mechanism).__name__, expected)


def _ledger(path: Path, trainer: Trainer, outcome: Outcome) -> Path:
    """An event for each drawing of cohorts that was paid for, named by the run's own record of its releases."""
    ledger, step = Ledger(path, run_id="training"), trainer.cost.round_mechanism
    assert step is not None
    head = trainer.paid.head
    for drawing in range(outcome.spent):
        ledger.record(step, f"drawing-{drawing}-{head[:16]}")
    return path
