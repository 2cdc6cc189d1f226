"""The verdicts on several claims: what `dpcert verify` prints of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ...mechanisms import InputError
from .comparison import Comparison, compare
from .verdict import Verification
from .verdict_table import verdict_table

Problems = tuple[tuple[str, InputError], ...]
"""Files that could not be judged, and why."""


class NotJudged(InputError):
    """Of a claim that Ctrl-C came before."""


@dataclass(frozen=True, slots=True)
class Verdicts:
    """One verification a claim, and the files that could not be judged. comparison: side by side, where asked for.

    everything: all claims are listed, also those of many that hold.
    """

    results: tuple[Verification, ...]
    problems: Problems = ()
    comparison: Comparison | None = None
    everything: bool = False

    @property
    def unjudged(self) -> int:
        """How many claims Ctrl-C came before."""
        return sum(isinstance(problem, NotJudged) for _, problem in self.problems)

    def compared(self) -> Verdicts:
        """The same with every claim's epsilon at one delta, and the total of all releases."""
        return replace(self, comparison=compare(self.results)) if self.results else self

    def __str__(self) -> str:
        beside = [] if self.comparison is None else [self.comparison.table(self.results)]
        return "\n".join([verdict_table(self.results, len(self.problems), self.unjudged, self.everything), *beside])

    def _repr_html_(self) -> str:
        """Each verdict in a notebook, with its curve."""
        return "".join(result._repr_html_() for result in self.results)

    def to_json(self) -> dict[str, Any]:
        """Plain data; infinities stay floats."""
        document: dict[str, Any] = {
            "claims": [result.to_json() for result in self.results],
            "errors": [{"file": file} | problem.to_json() for file, problem in self.problems],
        }
        return document if self.comparison is None else document | {"comparison": self.comparison.to_json(self.results)}
