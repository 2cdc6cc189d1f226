"""Claim hygiene lint: known slips in scripts that train with differential privacy, found without running them."""

from __future__ import annotations

from .notebook import notebook
from .paths import BadFile, Report, lint
from .rule import Finding, Rule, Slip, as_markdown
from .rules import RULES, findings
from .script import Script

__all__ = [
    "RULES",
    "BadFile",
    "Finding",
    "Report",
    "Rule",
    "Script",
    "Slip",
    "as_markdown",
    "findings",
    "lint",
    "notebook",
]
