"""Claim hygiene lint: known slips in scripts that train with differential privacy, found without running them."""

from __future__ import annotations

from .finding import Finding
from .notebook import notebook
from .paths import BadFile, Report, lint
from .rules import RULES, Rule, findings
from .script import Script

__all__ = ["RULES", "BadFile", "Finding", "Report", "Rule", "Script", "findings", "lint", "notebook"]
