"""Judge every claim of a folder and write the record's pages: python -m dpcert.record CLAIMS PAGES --cache DIR."""

from __future__ import annotations

import sys
from concurrent.futures import as_completed
from pathlib import Path
from typing import Annotated

import typer

from ..mechanisms import InputError
from ..mechanisms.workers import cores, pool
from ..presentation.output import complain
from ..presentation.progress import bar
from ..proofs_checks.verification.files import claim_files
from .entry import Entry, entry
from .pages import write_pages


def main(
    claims: Annotated[Path, typer.Argument(help="The folder of claims; a claim's kind is the folder it lies in.")],
    pages: Annotated[Path, typer.Argument(help="Where to write the pages: emptied first.")],
    cache: Annotated[Path, typer.Option(help="Where entries are kept.")] = Path("build/record-cache"),
    jobs: Annotated[int, typer.Option(help="Number of worker processes; 0 means one per core.")] = 0,
) -> None:
    """Judge every claim and write the pages; claims that cannot be read are told and left out (exit code 2)."""
    paths = claim_files([claims])
    found: list[Entry | InputError] = []
    with pool(min(jobs or cores(), len(paths))) as executor, bar("judging") as progress:
        assert executor is not None
        waiting = [executor.submit(entry, path, path.parent.name, cache) for path in paths]
        for done, _ in enumerate(as_completed(waiting), start=1):
            progress(done, len(paths), "")
            if not sys.stderr.isatty() and 10 * done // len(paths) > 10 * (done - 1) // len(paths):
                typer.echo(f"judged {done} of {len(paths)} claims", err=True)  # a log shows no bar
        found = [done.result() for done in waiting]
    for path, outcome in zip(paths, found, strict=True):
        if isinstance(outcome, InputError):
            complain(f"{path}: {outcome}")
    entries = [one for one in found if isinstance(one, Entry)]
    doubled = {one.slug for one in entries if sum(other.slug == one.slug for other in entries) > 1}
    if doubled:
        raise InputError("CLAIMS", ", ".join(sorted(doubled)), "files of different names: they are addresses")
    write_pages(entries, pages)
    typer.echo(f"{len(entries)} claims in {pages}", err=True)
    if len(entries) < len(found):
        raise typer.Exit(2)


if __name__ == "__main__":
    typer.run(main)
