"""dpcert ledger: is a ledger file whole, what does it hold and cost, and its events as plain text."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..accounting.ledger.contents import contents, exported, whole
from ..adapters.opacus_checkpoint import imported
from ..mechanisms import InputError
from ..mechanisms.paths import place_for_new
from ..presentation.output import say, show
from . import options
from .help import Commands
from .setting import asking

app = Commands()

File = Annotated[Path, options.named("LEDGER", "The ledger's SQLite file.")]
Head = Annotated[
    str | None, "The last hash, which you noted elsewhere: detects a ledger that was rewritten as a whole."
]


@app.command("check")
def check_command(ledger: File, head: Head = None, as_json: options.Json = False) -> None:
    """Verify every event of a ledger against its hash chain.

    Exit code: 0 the ledger is whole; 2 it is missing, truncated, edited, or ends otherwise than --head says.
    """
    found = whole(ledger)
    if head is not None and found.head != head:
        raise InputError("--head", head, f"the ledger's own last hash, {found.head}")
    show(found, as_json)


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
    against = {"notion": notion, "participation": participation, "accountant": accountant}
    show(asking(lambda: contents(ledger, delta, neighbouring, **against)), as_json)  # type: ignore[arg-type] # checked there


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
    show(asking(lambda: imported(checkpoint, delta, neighbouring, into)), as_json)  # type: ignore[arg-type] # checked there
    if into is not None and not as_json:
        say(f"recorded in {into}; what it costs: dpcert ledger show {into} --delta DELTA", err=True)


@app.command("export")
def export_command(
    ledger: File,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A new file; default: stdout.", show_default=False)
    ] = None,
) -> None:
    """Export every event as one JSON object per line: sequence, event_id, mechanism, hash."""
    if output is None:
        typer.echo(exported(ledger), nl=False)
        return
    place_for_new("--output", output)
    output.write_text(exported(ledger), "utf-8")
