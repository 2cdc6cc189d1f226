"""Suites of audits: every mechanism of a library that a manifest names, each in a process of its own."""

from .manifest import Manifest, read
from .run import Row, SuiteResult, run_suite

__all__ = ["Manifest", "Row", "SuiteResult", "read", "run_suite"]
