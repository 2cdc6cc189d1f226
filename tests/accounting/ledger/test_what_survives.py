"""The ledger's rows of docs/ledger.md, "What survives what": what was lost is said, and nothing under-counts."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from dpcert.accounting.ledger import Ledger, LedgerError
from dpcert.accounting.ledger.store import NOTE
from dpcert.mechanisms import Gaussian

EVENTS = 6
REFUSED, WHOLE, EMPTY, OLDER = "refused", "whole", "empty", "older"
Loss = Callable[[Path, Path, Path], object]


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def put(older: Path, file: Path) -> None:
    shutil.copy(older, file)


def put_both(older: Path, file: Path) -> None:
    put(older, file)
    put(beside(older), beside(file))


def beside(file: Path) -> Path:
    return file.with_name(file.name + NOTE)


LOSSES: dict[str, tuple[str, str, Loss]] = {
    "nothing": (WHOLE, WHOLE, lambda file, note, older: None),
    "database lost": (REFUSED, REFUSED, lambda file, note, older: file.unlink()),
    "database and note lost": (EMPTY, REFUSED, lambda file, note, older: (file.unlink(), note.unlink())),
    "database cut": (REFUSED, REFUSED, lambda file, note, older: cut(file)),
    "database cut, note lost": (REFUSED, REFUSED, lambda file, note, older: (cut(file), note.unlink())),
    "database older": (REFUSED, REFUSED, lambda file, note, older: put(older, file)),
    "database older, note lost": (
        OLDER,
        REFUSED,
        lambda file, note, older: (put(older, file), note.unlink()),
    ),
    "database and note older": (OLDER, REFUSED, lambda file, note, older: put_both(older, file)),
    "note lost": (WHOLE, WHOLE, lambda file, note, older: note.unlink()),
    "note older": (WHOLE, WHOLE, lambda file, note, older: put(beside(older), note)),
    "note cut": (REFUSED, REFUSED, lambda file, note, older: cut(note)),
    "note of another ledger": (REFUSED, REFUSED, lambda file, note, older: note.write_text(f"2 {'0' * 64}\n", "utf-8")),
}
"""What becomes of it for who opens the file afterwards, and for a writer that has it open."""


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path, Ledger]:
    """A ledger, a copy of what it was halfway, and a writer that has it open."""
    file, older = tmp_path / "ledger.sqlite", tmp_path / "older" / "ledger.sqlite"
    older.parent.mkdir()
    writer = Ledger(file)
    for number in range(EVENTS):
        if number == EVENTS // 2:
            put_both(file, older)
        writer.record(Gaussian(4.0))
    return file, older, writer


def becomes(count: Callable[[], int]) -> str:
    try:
        return {EVENTS: WHOLE, EVENTS // 2: OLDER, 0: EMPTY}[count()]
    except LedgerError:
        return REFUSED


@pytest.mark.parametrize("loss", LOSSES)
def test_what_is_lost(files: tuple[Path, Path, Ledger], loss: str) -> None:
    file, older, writer = files
    head, (afterwards, meanwhile, lose) = writer.head, LOSSES[loss]
    lose(file, beside(file), older)
    assert becomes(lambda: len(writer)) == meanwhile
    if meanwhile == REFUSED:
        with pytest.raises(LedgerError):
            writer.record(Gaussian(4.0))
    assert becomes(lambda: len(Ledger(file))) == afterwards
    if afterwards in (EMPTY, OLDER):  # what is noted elsewhere shows it
        assert Ledger(file).head != head
