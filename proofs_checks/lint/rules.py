"""The rules, by the names under which they report."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .clip_after_aggregation import clip_after_aggregation
from .clt_epsilon import clt_reported_as_epsilon
from .delta_from_batches import delta_from_batches
from .finding import Finding, Slip
from .noise_before_averaging import noise_before_averaging
from .sampling_rate import sampling_rate_from_batches
from .sampling_scheme import poisson_accounting_of_other_batches
from .script import Script


@dataclass(frozen=True, slots=True)
class Rule:
    """A known slip: `find` yields the nodes that make it."""

    id: str
    find: Callable[[Script], Iterator[tuple[ast.AST, Slip]]]


RULES = (
    Rule("delta-from-batches", delta_from_batches),
    Rule("poisson-accounting", poisson_accounting_of_other_batches),
    Rule("clt-epsilon", clt_reported_as_epsilon),
    Rule("sampling-rate-from-batches", sampling_rate_from_batches),
    Rule("noise-before-averaging", noise_before_averaging),
    Rule("clip-after-aggregation", clip_after_aggregation),
)


def findings(script: Script) -> list[Finding]:
    """What the rules find in a script, by line; nothing where it is not about privacy. One finding a rule and line."""
    if not script.about_privacy:
        return []
    found: dict[tuple[int, str], Finding] = {}
    for rule in RULES:
        for node, slip in rule.find(script):
            line, column = script.position(node)
            cell, within = script.places[line - 1] if script.places else (None, line)
            finding = Finding(script.path, within, column, rule.id, slip.problem, slip.remedy, cell)
            found.setdefault((line, rule.id), finding)
    in_order = sorted(found, key=lambda place: (place[0], found[place].column, place[1]))
    return [found[place] for place in in_order]
