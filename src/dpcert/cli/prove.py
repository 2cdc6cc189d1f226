"""dpcert prove: prove that a Python function is differentially private, or show where no proof exists."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..mechanisms.text_input import numbers
from ..mechanisms.validate import lacks
from ..presentation.output import show
from ..presentation.progress import bars
from .declared import with_fields
from .options import Json

if TYPE_CHECKING:
    from ..proofs_checks.proving import Proof

PROVED, REFUTED, UNDECIDED, PROVED_UP_TO = 0, 1, 3, 4


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be proved of which function; the fields are the options, in the order of --help."""

    mechanism: Annotated[
        str, typer.Argument(metavar="MODULE:FUNCTION", help="A Python function: mechanism(dataset, rng) -> output.")
    ]
    epsilon: Annotated[float | None, "Claimed epsilon. Default: find the least that can be proved."] = None
    rho: Annotated[float | None, "Claimed rho-zCDP instead, of a function whose noise is Gaussian."] = None
    zcdp: Annotated[bool, "Find the least rho that can be proved."] = False
    mu: Annotated[float | None, "Claimed mu-GDP instead, of a function whose noise is Gaussian."] = None
    gdp: Annotated[bool, "Find the least mu that can be proved."] = False
    entries: Annotated[
        int, "Where no proof for every number of entries is found, try data sets of 1 to this many entries."
    ] = 4
    up_to: Annotated[int | None, "Data sets have at most this many entries, so a proof for these is enough."] = None
    relation: Annotated[
        str, "How neighbouring data differ: replace-one, add-remove, or answers (each changes by at most 1)."
    ] = "replace-one"
    low: Annotated[float, "Least value of an entry, or -inf."] = 0
    high: Annotated[float, "Largest value of an entry, or inf."] = 1
    whole: Annotated[bool, "Entries are integers."] = False
    values: Annotated[str | None, "Entries have these values only, such as 0,1: every case is enumerated exactly."] = (
        None
    )
    delta: Annotated[float, "Claimed delta, for Gaussian noise; or with --epsilon and --values."] = 0.0
    rounds: Annotated[int, "With --delta: the function runs this often, by the accountants."] = 1
    sampling_rate: Annotated[float, "With --delta: each run is on a Poisson sample of the data."] = 1.0
    container: Annotated[str, "What the function takes: array, list, or rows (2-d, one record each)."] = "array"
    max_seconds: Annotated[float, "Time limit of the search in seconds; the checker has the same."] = 300
    max_work: Annotated[
        int | None, "Limit on the number of solver queries, which does not depend on the machine's speed."
    ] = None

    def options(self) -> dict[str, Any]:
        """The keyword arguments of `prove`."""
        same = (
            "epsilon", "rho", "mu", "entries", "up_to", "relation", "whole", "container", "delta", "rounds",
            "sampling_rate", "max_seconds", "max_work",
        )  # fmt: skip
        return {name: getattr(self, name) for name in same} | {
            "notion": "zcdp" if self.zcdp else "gdp" if self.gdp else None,
            "low": None if math.isinf(self.low) else self.low,
            "high": None if math.isinf(self.high) else self.high,
            "values": None if self.values is None else numbers("--values", self.values),
        }


@with_fields(Asked)
def prove_command(
    asked: Asked,
    certificate: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write the proof into this folder, for dpcert check.")
    ] = None,
    trials: Annotated[
        int, "Where nothing is proved, calls per data set of the audit that follows; 0 means no audit."
    ] = 20_000,
    exact_noise: Annotated[bool, "Name samplers whose noise does not leak through floating-point digits."] = False,
    as_json: Json = False,
) -> None:
    """dpcert reads the function's source. For each output it looks for a shift of the noise that gives the same output
    on every neighbour. A proof is about real numbers: floating-point noise leaks information even where a proof exists.

    Exit code: 0 proved for every number of entries (or for --up-to N, where asked); 4 proved for up to N entries only;
    1 refuted by the audit of a pair at which every proof fails; 2 bad input; 3 neither. Ctrl-C answers with what is
    proved so far.
    """
    from ..mechanisms.validate import count
    from ..proofs_checks.auditing.target import load

    try:
        from ..proofs_checks.proving import prove
        from ..proofs_checks.proving.refutation import EXACT_NOISE, Examined, refute
    except ModuleNotFoundError as problem:
        raise lacks("`dpcert prove`", "z3", "dpcert[prove]") from problem

    count("--trials", trials, least=0)
    target, options = load(asked.mechanism, "([0.0], [1.0])", field="MODULE:FUNCTION"), asked.options()
    with bars("neighbours searched", "checked") as (progress, checking):
        proof = prove(target.mechanism, progress=progress, checking=checking, **options)
    written = _written(proof, certificate, asked.mechanism)
    audit = refute(target.mechanism, proof, trials)
    found = Examined(proof, audit, written, asked.mechanism, EXACT_NOISE if exact_noise else ())
    show(found, as_json)
    if proof.proved:
        raise typer.Exit(PROVED)
    raise typer.Exit(PROVED_UP_TO if proof.up_to is not None else REFUTED if found.refuted else UNDECIDED)


def _written(proof: Proof, folder: Path | None, mechanism: str) -> str | None:
    if folder is None or proof.certificate is None:
        return None
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / (mechanism.replace("/", "_").replace(":", ".") + ".proof.json")
    path.write_text(json.dumps(proof.certificate | {"function": mechanism}, indent=1) + "\n", "utf-8")
    return str(path)
