"""dpcert registry: entries of the OpenDP deployments registry as claim files, and back."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..presentation.output import complain, show
from ..proofs_checks.registry.exporting import exported
from ..proofs_checks.registry.importing import imported_files, load_entry, load_yaml
from . import options
from .help import Commands

app = Commands()
STATED, BAD_INPUT, GAPS = 0, 2, 3


@app.command("import")
def import_command(
    entries: Annotated[list[Path], options.named("FILE.yaml", "Entries, or folders of them.")],
    into: Annotated[Path, typer.Option(metavar="DIR", help="Where to write the claim files.")] = Path("claims"),
    as_json: options.Json = False,
) -> None:
    """Write a claim file for each amount that an entry states, and name every gap.

    Where an entry does not say what ran, a draft (NAME.toml.draft) waits for its [mechanism]; nothing is made up.

    Exit code: 0 every entry could be stated; 2 a field is off the schema (the others are still read); 3 gaps only.
    """
    found = imported_files(entries)
    found.write(into)
    show(found, as_json)
    each = found.entries
    for file, wrong in ((file, wrong) for file, one in each.items() for wrong in one.problems if not as_json):
        complain(f"{file}: {wrong}")
    if any(one.problems for one in each.values()):
        raise typer.Exit(BAD_INPUT)
    raise typer.Exit(GAPS if any(one.gaps or one.contradictions for one in each.values()) else STATED)


@app.command("export")
def export_command(
    claim: Annotated[Path, options.named("CLAIM.toml", "A claim file.")],
    entry: Annotated[
        Path | None, typer.Option(metavar="FILE.yaml", help="An existing entry whose other fields are kept.")
    ] = None,
) -> None:
    """Print a claim as an entry of the registry; what its schema still asks for is named on stderr.

    Exit code: 0 the entry follows the schema; 3 fields are missing; 2 bad input.
    """
    known = load_entry(entry) if entry is not None else None
    document, missing = exported(claim, known)
    yaml = load_yaml()

    typer.echo(yaml.safe_dump(document, allow_unicode=True, sort_keys=False, width=10_000), nl=False)
    for problem in missing:
        typer.echo(f"missing: {problem}", err=True)
    raise typer.Exit(GAPS if missing else STATED)
