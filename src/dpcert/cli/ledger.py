"""dpcert ledger: is a ledger file whole, what does it hold and cost, and its events as plain text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from ..accounting import epsilon as epsilon_of
from ..accounting.ledger import Ledger, LedgerError
from ..adapters.opacus_checkpoint import run_of_checkpoint
from ..mechanisms import InputError, Mechanism, Repeat, Sequence, rounds_by_step
from ..mechanisms.digits import as_given, interval
from ..mechanisms.text_table import text_table
from ..presentation.output import print_json, say
from . import options
from .help import Commands
from .setting import relation, timed

app = Commands(help="Check, show, export or import a ledger: the record of what was released.")

File = Annotated[Path, options.named("LEDGER", "The ledger's SQLite file.")]
Head = Annotated[
    str | None,
    "The last hash, which you noted elsewhere: detects a ledger that was rewritten as a whole.",
]


def _counted(opened: Ledger) -> str:
    return "1 event" if len(opened) == 1 else f"{len(opened)} events"


@app.command("check")
def check_command(ledger: File, head: Head = None, as_json: options.Json = False) -> None:
    """Verify every event of a ledger against its hash chain.

    Exit code: 0 the ledger is whole; 2 it is missing, truncated, edited, or ends otherwise than --head says.
    """
    opened = _open(ledger)
    if head is not None and opened.head != head:
        raise InputError("--head", head, f"the ledger's own last hash, {opened.head}")
    if as_json:
        print_json({"file": str(ledger), "whole": True, "events": len(opened), "head": opened.head})
        return
    say(f"whole: {_counted(opened)}")
    say(f"  head {opened.head}")


@app.command("show")
def show_command(
    ledger: File,
    delta: options.Delta = None,
    neighbouring: options.Neighbouring = None,
    notion: options.Notion = "dp",
    participation: options.Participation = None,
    accountant: options.Accountant = "best",
    as_json: options.Json = False,
) -> None:
    """List what was released, per mechanism; with --delta also its certified epsilon."""
    opened = _open(ledger)
    document: dict[str, Any] = {"file": str(ledger), "events": len(opened), "head": opened.head}
    steps = _steps(opened)
    document["mechanisms"] = [{"rounds": rounds, "mechanism": text} for text, rounds in steps]
    if delta is not None:
        named = relation(neighbouring, notion, participation)
        against = {"neighbouring": named, "notion": notion, "participation": participation}
        found, seconds = timed(lambda: opened.epsilon(delta, accountant=accountant, **against))  # type: ignore[arg-type]
        document |= found.to_json("epsilon") | {"delta": delta, "seconds": seconds} | against
    if as_json:
        print_json(document)
        return
    columns = {"header": "rounds", "justify": "right", "no_wrap": True}, {"header": "mechanism"}
    say(text_table(columns, [(str(rounds), text) for text, rounds in steps]))
    say(f"{_counted(opened)}, head {opened.head}")
    if delta is not None:
        say(f"epsilon in {interval(found)} at delta = {as_given(delta)}; {found.kind}, by {found.method}, {named}")


@app.command("import")
def import_command(
    checkpoint: Annotated[Path, options.named("CHECKPOINT", "A checkpoint of Opacus: torch.save or JSON.")],
    into: Annotated[
        Path | None, typer.Option(metavar="LEDGER", help="Also record the steps in this ledger.", show_default=False)
    ] = None,
    delta: options.Delta = None,
    neighbouring: options.Neighbouring = None,
    as_json: options.Json = False,
) -> None:
    """Read what an Opacus accountant (rdp, prv, gdp) counted in a finished run; with --delta its certified epsilon.

    The steps are taken for Poisson-sampled ones (poisson_sampling=True): Opacus does not note how batches were drawn.

    Example: dpcert ledger import checkpoint.pt --delta 1e-5
    """
    if delta is None and into is None:
        raise InputError("--delta", None, "a value, for the certified epsilon; or --into, to record the steps")
    run = run_of_checkpoint(checkpoint)
    steps = [(str(step), rounds) for step, rounds in rounds_by_step(run).items()]
    document: dict[str, Any] = {"file": str(checkpoint)}
    document["mechanisms"] = [{"rounds": rounds, "mechanism": text} for text, rounds in steps]
    if delta is not None:
        named: Any = relation(neighbouring, "dp", None)
        found, seconds = timed(lambda: epsilon_of(run, delta, named))
        document |= found.to_json("epsilon") | {"delta": delta, "neighbouring": named, "seconds": seconds}
    if into is not None:
        _record(run, into)
        document["ledger"] = str(into)
    if as_json:
        print_json(document)
        return
    for text, rounds in steps:
        say(f"{rounds} x {text}")
    if delta is not None:
        told = f"{found.kind}, by {found.method}, {named}"
        say(f"epsilon in {interval(found)} at delta = {as_given(delta)}; {told}, Poisson batches")
    if into is not None:
        say(f"recorded in {into}; what it costs: dpcert ledger show {into} --delta DELTA", err=True)


def _record(run: Mechanism, into: Path) -> None:
    """The run's parts as releases of a ledger, which may hold others."""
    try:
        ledger = Ledger(into)
        for step, rounds in rounds_by_step(run).items():
            ledger.record(Repeat(step, rounds))
    except LedgerError as problem:
        raise InputError("--into", str(into), f"a whole ledger, or a new file: {problem}") from None


@app.command("export")
def export_command(
    ledger: File,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A new file; default: stdout.", show_default=False)
    ] = None,
) -> None:
    """Export every event as one JSON object per line: sequence, event_id, mechanism, hash."""
    if output is not None and output.exists():
        raise InputError("--output", str(output), "a file that does not exist yet")
    lines = [
        json.dumps(
            {
                "sequence": sequence,
                "event_id": event.event_id,
                "mechanism": json.loads(event.mechanism),
                "hash": event.hash,
            }
        )
        for sequence, event in enumerate(_open(ledger).events(), start=1)
    ]
    text = "".join(line + "\n" for line in lines)
    if output is None:
        typer.echo(text, nl=False)
    else:
        try:
            output.write_text(text, "utf-8")
        except OSError as problem:
            raise InputError("--output", str(output), f"a file that can be written ({problem})") from None


def _open(path: Path) -> Ledger:
    """The ledger of an existing file, every event verified; InputError where it cannot be trusted."""
    if not path.is_file():
        raise InputError("LEDGER", str(path), "an existing ledger file")
    try:
        return Ledger(path)
    except LedgerError as problem:
        raise InputError("LEDGER", str(path), f"a whole ledger: {problem}") from None
    except InputError:  # the chain is whole, and its events are something else
        expected = "a ledger whose events are mechanisms; spent.sqlite in a checkpoint has digests of releases, which "
        raise InputError(
            "LEDGER", str(path), expected + "dpcert train and dpcert mocha check when they resume"
        ) from None


def _steps(opened: Ledger) -> list[tuple[str, int]]:
    """(description, rounds) of every distinct mechanism, in the order of its first release."""
    run = opened.run()
    if not isinstance(run, Sequence):
        return []
    return [(str(part.mechanism), part.rounds) for part in run.mechanisms if isinstance(part, Repeat)]
