"""For MkDocs: the reference of the command line is each command's own --help."""

from __future__ import annotations

import contextlib
import io
from typing import Any

from dpcert.cli import COMMANDS, run

PLACE = "<!-- every command -->"


def on_page_markdown(markdown: str, **_: Any) -> str:
    return markdown.replace(PLACE, "\n".join(map(_section, COMMANDS))) if PLACE in markdown else markdown


def _section(command: str) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        run([command, "--help"])
    return f"## {command}\n\n```text\n{printed.getvalue().strip()}\n```\n"
