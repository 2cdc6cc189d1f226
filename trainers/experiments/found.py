"""What an experiment found: its table, where the runs are, and what the command prints as JSON."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from ...mechanisms import InputError
from ...mechanisms.notebook import InNotebook

Drawn = TypeVar("Drawn")


@dataclass(frozen=True, slots=True)
class Experiment(InNotebook):
    """table: in Markdown. counted: how many runs, and where. told: the document, beside name and folder, in order.

    no_plots: why nothing was drawn; empty where something was.
    """

    name: str
    folder: Path | None
    table: str
    counted: str = ""
    told: dict[str, Any] = field(default_factory=dict)
    no_plots: str = ""

    def __str__(self) -> str:
        return "\n".join(filter(None, [self.table, self.counted]))

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        if self.folder is None:
            return {"experiment": self.name, "table": self.table, **self.told}
        return {"sweep": self.name, "folder": str(self.folder), **self.told}


def drawn(draw: Callable[[], Drawn]) -> tuple[Drawn | None, str]:
    """The plots, or why there are none."""
    try:
        return draw(), ""
    except InputError as problem:
        return None, str(problem)
