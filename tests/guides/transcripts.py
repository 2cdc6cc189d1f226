"""Runs what a guide shows, from top to bottom in one folder, and compares; `python FILE PAGE...` writes outputs anew.

A fenced block with a title is a file, written there. A ```console block is a terminal: lines that begin with "$ " are
commands (dpcert, python and pytest are run in this process; `> FILE` redirects), the rest is what they print. Seconds
and versions of files differ from run to run: a number of seconds and a digest stand for any, `...` for any text; digits
after the eighth are those of one machine.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import runpy
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
WIDTH = "80"
FENCE = re.compile(r"^```(\w*)(?: title=\"([^\"]+)\")?\n(.*?)^```$", re.DOTALL | re.MULTILINE)
CHANGING = [
    (re.compile(r"\b\d[\d.e-]* s\b"), "# s"),
    (re.compile(r'"seconds": [\d.e-]+'), '"seconds": #'),
    (re.compile(r"\b[0-9a-f]{64}\b"), "<digest>"),
    (re.compile(r"(\.\d{8})\d+"), r"\1"),
    (re.compile(r"\b20\d\d-\d\d-\d\d\b"), "<date>"),
]


@dataclass(frozen=True)
class Step:
    """One command of a page, and what it is shown to print."""

    command: str
    printed: str


def steps(terminal: str) -> list[Step]:
    """The commands of a console block; one ends where a line ends without a backslash."""
    found = []
    for part in re.split(r"^\$ ", terminal, flags=re.MULTILINE)[1:]:
        command = re.match(r"(?:.*\\\n)*.*\n?", part)
        assert command is not None
        found.append(Step(command[0].replace("\\\n", " ").strip(), part[command.end() :].strip("\n")))
    return found


def follow(page: str, folder: Path) -> Iterator[tuple[Step, str]]:
    """Writes the page's files, runs its commands in order, and yields what each printed."""
    for claims in ("claims", "examples"):
        (folder / claims).symlink_to(ROOT / claims)
    with _inside(folder):
        for language, title, body in FENCE.findall(page):
            if title:
                Path(title).parent.mkdir(parents=True, exist_ok=True)
                Path(title).write_text(body, encoding="utf-8")
            elif language == "console":
                for step in steps(body):
                    yield step, run_command(step.command)
            elif language == "python" and ">>> " not in body:
                exec(compile(body, "a guide", "exec"), {"__name__": "__guide__"})


@contextlib.contextmanager
def _inside(folder: Path) -> Iterator[None]:
    before, columns = Path.cwd(), os.environ.get("COLUMNS")
    os.chdir(folder)
    os.environ["COLUMNS"] = WIDTH
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        os.chdir(before)
        sys.path.remove(str(folder))
        for name, module in list(sys.modules.items()):  # the page's own files are nobody else's modules
            if str(getattr(module, "__file__", None) or "").startswith(str(folder)):
                del sys.modules[name]
        os.environ.pop("COLUMNS")
        if columns is not None:
            os.environ["COLUMNS"] = columns


def run_command(line: str) -> str:
    """What the command prints, without trailing blanks and progress; exit code 70 is a crash."""
    words = shlex.split(line)
    words, target = (words[:-2], words[-1]) if words[-2:-1] == [">"] else (words, "")
    program, *arguments = words
    said = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()) as printed, contextlib.redirect_stderr(said):
        if program.removeprefix(".venv/bin/") == "dpcert":
            from dpcert.cli import run

            assert run(arguments) != 70, line
        elif program.removeprefix(".venv/bin/") == "python":
            if "dpcert.extending" in Path(arguments[0]).read_text("utf-8"):  # adds to dpcert itself: not here
                alone = [sys.executable, *arguments]
                printed.write(subprocess.run(alone, check=True, capture_output=True, text=True).stdout)
            else:
                runpy.run_path(arguments[0], run_name="__main__")
        elif program == "cat":
            printed.write(Path(arguments[0]).read_text(encoding="utf-8"))
        else:
            raise AssertionError(f"a guide may show dpcert, python and cat, not {program}")
    if target:
        Path(target).write_text(printed.getvalue(), encoding="utf-8")
        return ""
    errors = [text for text in said.getvalue().splitlines() if text.startswith("error: ")]
    return "\n".join(text.rstrip() for text in (*printed.getvalue().splitlines(), *errors)).strip("\n")


def same(shown: str, printed: str) -> bool:
    """Equal but for what changes from run to run."""
    for pattern, word in CHANGING:
        shown, printed = pattern.sub(word, shown), pattern.sub(word, printed)
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    return doctest.OutputChecker().check_output(shown + "\n", printed + "\n", options)


def rewritten(page: str, folder: Path) -> str:
    """The page with what its commands print now; outputs that still agree stay as they are, elisions with them."""
    results = iter(list(follow(page, folder)))

    def terminal(block: re.Match[str]) -> str:
        if block[1] != "console" or block[2]:
            return block[0]
        parts = re.split(r"^(?=\$ )", block[3], flags=re.MULTILINE)
        text = parts[0]
        for part in parts[1:]:
            step, printed = next(results)
            command = re.match(r"(?:.*\\\n)*.*\n?", part)
            assert command is not None
            kept = step.printed if same(step.printed, printed) else printed
            text += command[0] + (kept + "\n" if kept else "") + ("\n" if part is not parts[-1] and kept else "")
        return f"```console\n{text}```"

    return FENCE.sub(terminal, page)


if __name__ == "__main__":
    from tempfile import TemporaryDirectory

    for name in sys.argv[1:]:
        with TemporaryDirectory() as place:
            path = Path(name).resolve()
            path.write_text(rewritten(path.read_text(encoding="utf-8"), Path(place)), encoding="utf-8")
