"""A disk that loses its power: what may be on it after any system call, where nothing is safe unless it was synced.

A program runs once with traced_calls.c before it, which writes down every change to a folder. `after_a_cut` then builds
what the disk may hold had the power gone after any of these calls: of what was written to a file since it was last
synced any part may be there, in any order, and a write may be cut; of what happened to names since the folder was last
synced likewise. That is weaker than what file systems promise.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

SOURCE = Path(__file__).parent / "traced_calls.c"
ACKNOWLEDGED = "acknowledged-"
"""The traced program says what it has promised by removing a file of this name, and a number, that is not there."""


@dataclass(frozen=True)
class Call:
    """One traced call, names relative to the folder ("." for itself)."""

    what: str
    name: str
    other: str
    offset: int
    data: bytes


@dataclass
class Inode:
    """A file's content as it is safe on disk, and what was done to it since."""

    safe: bytes = b""
    since: list[Call] = field(default_factory=list)


def traced(program: str, folder: Path, scratch: Path) -> list[Call]:
    """The calls of a Python program (sys.argv[1] is the folder) that change the folder."""
    library, trace = scratch / "traced.so", scratch / "trace"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", str(library), str(SOURCE), "-ldl"], check=True)
    environment = os.environ | {"LD_PRELOAD": str(library), "TRACED": str(folder), "TRACE": str(trace)}
    subprocess.run([sys.executable, "-c", program, str(folder)], check=True, env=environment)
    return list(_calls(trace.read_bytes(), folder))


def _calls(content: bytes, folder: Path) -> Iterator[Call]:
    at = 0
    while at < len(content):
        end = content.index(b"\n", at)
        what, name, other, offset, length = content[at:end].decode().split("\t")
        at = end + 1 + int(length)
        relative = [os.path.relpath(path, folder) if path else "" for path in (name, other)]
        yield Call(what, *relative, int(offset), content[end + 1 : at])


def acknowledged(calls: list[Call]) -> int:
    """How much was promised by then."""
    return max(
        (int(call.name.removeprefix(ACKNOWLEDGED)) for call in calls if call.name.startswith(ACKNOWLEDGED)), default=0
    )


class Disk:
    """Files and names, each as it is safe, and what was done since the last sync of the file or of the folder."""

    def __init__(self) -> None:
        self.live: dict[str, Inode] = {}
        self.safe: dict[str, Inode] = {}
        self.since: list[tuple[Call, Inode | None]] = []

    def take(self, call: Call) -> None:
        """Do what was done."""
        if call.what == "sync" and call.name == ".":
            self.safe, self.since = dict(self.live), []
        elif call.what == "sync":
            inode = self.live[call.name]
            inode.safe, inode.since = _written(inode.safe, inode.since), []
        elif call.what in ("write", "truncate"):
            self.live[call.name].since.append(call)
        else:
            inode = Inode() if call.what == "create" else self.live.get(call.name)
            self.since.append((call, inode))
            _renamed(self.live, call, inode)

    def after_a_cut(self, coins: random.Random, kept: float) -> dict[str, bytes]:
        """What may be there: of what is not safe, each with this probability."""
        names = dict(self.safe)
        for call, inode in self.since:
            if coins.random() < kept:
                _renamed(names, call, inode)
        contents: dict[int, bytes] = {}
        for inode in names.values():
            there = [_cut(call, coins) if 0 < kept < 1 else call for call in inode.since if coins.random() < kept]
            if 0 < kept < 1:
                coins.shuffle(there)
            contents[id(inode)] = _written(inode.safe, there)
        return {name: contents[id(inode)] for name, inode in names.items()}


def _renamed(names: dict[str, Inode], call: Call, inode: Inode | None) -> None:
    if call.what in ("unlink", "rename"):
        names.pop(call.name, None)
    if inode is not None and call.what != "unlink":
        names[call.other or call.name] = inode


def _written(content: bytes, calls: list[Call]) -> bytes:
    into = bytearray(content)
    for call in calls:
        if call.what == "truncate":
            del into[call.offset :]
            into.extend(bytes(call.offset - len(into)))
        else:
            into.extend(bytes(max(0, call.offset - len(into))))
            into[call.offset : call.offset + len(call.data)] = call.data
    return bytes(into)


def _cut(call: Call, coins: random.Random) -> Call:
    """One write in four stops at a sector's end."""
    sectors = len(call.data) // 512
    if call.what != "write" or not sectors or coins.random() > 0.25:
        return call
    return Call(call.what, call.name, call.other, call.offset, call.data[: 512 * coins.randrange(sectors + 1)])


def cuts(calls: list[Call], coins: random.Random, each: int) -> Iterator[tuple[int, dict[str, bytes]]]:
    """After every call: how much was acknowledged, and so many of the disks that there may be."""
    disk = Disk()
    for number, call in enumerate(calls, 1):
        disk.take(call)
        promised = acknowledged(calls[:number])
        for kept in (0.0, 1.0, *([0.5] * each)):
            yield promised, disk.after_a_cut(coins, kept)


def laid_out(content: dict[str, bytes], folder: Path) -> Path:
    """The files in a new folder."""
    folder.mkdir()
    for name, data in content.items():
        (folder / name).write_bytes(data)
    return folder
