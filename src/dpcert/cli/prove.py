"""dpcert prove: prove that a Python function is differentially private, or show where no proof exists."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from ..mechanisms import InputError
from ..mechanisms.digits import jsonable, rounded_down, rounded_up
from ..mechanisms.validate import lacks
from ..presentation.output import print_json, say
from .declared import with_fields
from .options import Json
from .setting import as_option

if TYPE_CHECKING:
    from ..proofs_checks.auditing import AuditResult
    from ..proofs_checks.proving import Proof

Step = Callable[[int, int], None]
PROVED, REFUTED, UNDECIDED, PROVED_UP_TO = 0, 1, 3, 4

EXACT_NOISE = (
    "dpcert.mechanisms.samplers.discrete_laplace(scale): whole numbers, drawn exactly; of values that are whole too "
    "(round them to a grid first) it is proved as it runs, with --whole",
    "dpcert.mechanisms.samplers.discrete_gaussian(sigma), or GridGaussian(sigma).release(value), for rng.normal",
    "rng.geometric and rng.choice are discrete, but drawn from floating-point numbers",
)
"""What to draw in place of noise that leaks through the low-order bits of its floating-point numbers."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be proved of which function; the fields are the options, in the order of --help."""

    mechanism: Annotated[
        str, typer.Argument(metavar="MODULE:FUNCTION", help="A Python function: mechanism(dataset, rng) -> output.")
    ]
    epsilon: Annotated[
        float | None, typer.Option("--epsilon", help="Claimed epsilon. Default: find the least that can be proved.")
    ] = None
    rho: Annotated[
        float | None, typer.Option("--rho", help="Claimed rho-zCDP instead, of a function whose noise is Gaussian.")
    ] = None
    zcdp: Annotated[bool, typer.Option("--zcdp", help="Find the least rho that can be proved.")] = False
    mu: Annotated[
        float | None, typer.Option("--mu", help="Claimed mu-GDP instead, of a function whose noise is Gaussian.")
    ] = None
    gdp: Annotated[bool, typer.Option("--gdp", help="Find the least mu that can be proved.")] = False
    entries: Annotated[
        int,
        typer.Option(
            "--entries",
            help="Where no proof for every number of entries is found, try data sets of 1 to this many entries.",
        ),
    ] = 4
    up_to: Annotated[
        int | None,
        typer.Option("--up-to", help="Data sets have at most this many entries, so a proof for these is enough."),
    ] = None
    relation: Annotated[
        str,
        typer.Option(
            "--relation",
            help="How neighbouring data differ: replace-one, add-remove, or answers (each changes by at most 1).",
        ),
    ] = "replace-one"
    low: Annotated[str, typer.Option("--low", help="Least value of an entry, or -inf.")] = "0"
    high: Annotated[str, typer.Option("--high", help="Largest value of an entry, or inf.")] = "1"
    whole: Annotated[bool, typer.Option("--whole", help="Entries are integers.")] = False
    values: Annotated[
        str | None,
        typer.Option("--values", help="Entries have these values only, such as 0,1: every case is enumerated exactly."),
    ] = None
    delta: Annotated[
        float, typer.Option("--delta", help="Claimed delta, for Gaussian noise; or with --epsilon and --values.")
    ] = 0.0
    rounds: Annotated[
        int, typer.Option("--rounds", help="With --delta: the function runs this often, by the accountants.")
    ] = 1
    sampling_rate: Annotated[
        float, typer.Option("--sampling-rate", help="With --delta: each run is on a Poisson sample of the data.")
    ] = 1.0
    container: Annotated[
        str, typer.Option("--container", help="What the function takes: array, list, or rows (2-d, one record each).")
    ] = "array"
    max_seconds: Annotated[
        float, typer.Option("--max-seconds", help="Time limit of the search in seconds; the checker has the same.")
    ] = 300
    max_work: Annotated[
        int | None,
        typer.Option(
            "--max-work", help="Limit on the number of solver queries, which does not depend on the machine's speed."
        ),
    ] = None

    def options(self) -> dict[str, Any]:
        """The keyword arguments of `prove`."""
        same = (
            "epsilon", "rho", "mu", "entries", "up_to", "relation", "whole", "container", "delta", "rounds",
            "sampling_rate", "max_seconds", "max_work",
        )  # fmt: skip
        return {name: getattr(self, name) for name in same} | {
            "notion": "zcdp" if self.zcdp else "gdp" if self.gdp else None,
            "low": _end("--low", self.low),
            "high": _end("--high", self.high),
            "values": None if self.values is None else _numbers(self.values),
        }


@with_fields(Asked)
def prove_command(
    asked: Asked,
    certificate: Annotated[
        Path | None,
        typer.Option("--certificate", metavar="DIR", help="Write the proof into this folder, for dpcert check."),
    ] = None,
    trials: Annotated[
        int,
        typer.Option(
            "--trials", help="Where nothing is proved, calls per data set of the audit that follows; 0 means no audit."
        ),
    ] = 20_000,
    exact_noise: Annotated[
        bool,
        typer.Option("--exact-noise", help="Name samplers whose noise does not leak through floating-point digits."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Prove that a Python function is epsilon-DP, or show the neighbours at which no proof exists.

    The function is read and evaluated on symbols, and for each output a shift of the noise is found that leads to the
    same output on every neighbour. What is proved is about real numbers: floating-point noise leaks whatever is proved.

    Exit code: 0 proved for every number of entries (or for --up-to N, where asked); 4 proved for up to N entries only;
    1 refuted by the audit of a pair at which every proof fails; 2 bad input; 3 neither. Ctrl-C answers with what is
    proved so far.
    """
    from ..mechanisms.validate import count
    from ..proofs_checks.auditing.target import load

    try:
        from ..proofs_checks.proving import prove
    except ModuleNotFoundError as problem:
        raise lacks("`dpcert prove`", "z3", "dpcert[prove]") from problem

    count("--trials", trials, least=0)
    target, options = load(asked.mechanism, "([0.0], [1.0])", field="MODULE:FUNCTION"), asked.options()
    with _progress() as (progress, checking):
        try:
            proof = prove(target.mechanism, progress=progress, checking=checking, **options)
        except InputError as problem:
            raise as_option(problem) from None
    audit = _audited(target.mechanism, proof, trials)
    written = _written(proof, certificate, asked.mechanism)
    _say(asked.mechanism, proof, audit, written, EXACT_NOISE if exact_noise else (), as_json)
    raise typer.Exit(_exit_code(proof, audit))


@contextmanager
def _progress() -> Iterator[tuple[Step, Step]]:
    """Two bars on stderr, each from its first step on: of the search and of the checker."""
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    bar = Progress(*columns, console=Console(stderr=True))

    def steps(what: str) -> Step:
        task = bar.add_task(what, total=None, visible=False)

        def step(done: int, total: int) -> None:
            bar.start()
            bar.update(task, completed=done, total=total, visible=True)

        return step

    try:
        yield steps("neighbours searched"), steps("checked")
    finally:
        bar.stop()


def _end(option: str, text: str) -> float | None:
    """A bound on entries; None for an infinite one."""
    try:
        value = float(text)
    except ValueError:
        raise InputError(option, text, "a number, -inf or inf") from None
    return None if value in (float("inf"), float("-inf")) else value


def _numbers(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise InputError("--values", text, "numbers separated by commas") from None


def _audited(mechanism: Any, proof: Proof, trials: int) -> AuditResult | None:
    """The pairs at which no proof exists, handed to the auditor; where nothing was claimed, for a lower bound."""
    wanted = proof.counterexamples or (proof.claim is None and proof.dearest)
    of_one_run = proof.notion == "dp" and (proof.rounds, proof.sampling_rate) == (1, 1.0)
    if trials == 0 or not wanted or not of_one_run:
        return None
    from ..proofs_checks.proving.refutation import refute

    return refute(mechanism, proof, trials)


def _named(proof: Proof) -> str:
    from ..proofs_checks.proving.proof import NAMES

    return NAMES[proof.notion]


def _refuted(proof: Proof, audit: AuditResult | None) -> bool:
    """Whether a claim was refuted; without one the audit only looks for a lower bound."""
    return proof.claim is not None and audit is not None and audit.refuted


def _exit_code(proof: Proof, audit: AuditResult | None) -> int:
    if proof.proved:
        return PROVED
    if proof.up_to is not None:
        return PROVED_UP_TO
    return REFUTED if _refuted(proof, audit) else UNDECIDED


def _written(proof: Proof, folder: Path | None, mechanism: str) -> str | None:
    if folder is None or proof.certificate is None:
        return None
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / (mechanism.replace("/", "_").replace(":", ".") + ".proof.json")
    path.write_text(json.dumps(proof.certificate | {"function": mechanism}, indent=1) + "\n", "utf-8")
    return str(path)


def _say(
    mechanism: str,
    proof: Proof,
    audit: AuditResult | None,
    written: str | None,
    samplers: tuple[str, ...],
    as_json: bool,
) -> None:
    lower = audit.epsilon_lower(0.0) if audit is not None else 0.0
    if as_json:
        found = {"audit": None if audit is None else audit.to_json()}
        verdict = {"verdict": "refuted"} if _refuted(proof, audit) else {}
        document = proof.to_json() | verdict | {f"{_named(proof)}_lower": lower, "certificate": written, **found}
        print_json(jsonable(document | {"mechanism": mechanism} | ({"exact_noise": samplers} if samplers else {})))
        return
    say("REFUTED" + str(proof).removeprefix("not proved") if _refuted(proof, audit) else str(proof))
    if proof.epsilon is not None and proof.claim is None:
        say(f"  {_named(proof)} is in [{rounded_down(lower, 5)}, {rounded_up(proof.epsilon)}]")
    if audit is not None and _refuted(proof, audit):
        say(f"  refuted by running it (error probability {audit.alpha:g})\n{audit.witness}")
    elif audit is not None and proof.claim is not None:
        say("  not refuted by running it on these neighbours either")
    if proof.certificate is not None:
        say(f"  checked: {proof.reason}")
        say("  This is about real numbers: see docs/prove.md for floating-point noise.")
    if written is not None:
        say(f"  certificate: {written}")
    if samplers:
        say("\n".join(["  exact noise, so that it holds as it runs:", *(f"    {line}" for line in samplers)]))
