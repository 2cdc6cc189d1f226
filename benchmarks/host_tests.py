"""The tests that dp-accounting and Opacus ship in their wheels, run with dpcert in the place of their accountants.

One command, `make host-tests`. It lists every test that does not pass, with the reason, and writes the table of
docs/conformance-hosts.md. It fails where a test does not pass that is not listed in host_tests_reasons.py, and where a
listed one passes.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import logging
import sys
import unittest
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from host_tests_reasons import reason_for

from dpcert.adapters.dp_accounting import CertifiedAccountant, NeighboringRelation

HEADER = """# Tests of dp-accounting and of Opacus, with dpcert as the accountant

Written by `make host-tests` (`benchmarks/host_tests.py`), which runs the tests that are shipped in the wheels. Each
test that does not pass is listed with the reason. None of the numbers that they assert refutes a certified interval.

"""


class PldAccountant(CertifiedAccountant):
    """In the place of PLDAccountant: it is made with a relation too."""


class RdpAccountant(CertifiedAccountant):
    """In the place of RdpAccountant: with orders, and the divergences at each of them."""

    def __init__(
        self,
        orders: Any = None,
        neighboring_relation: NeighboringRelation = NeighboringRelation.ADD_OR_REMOVE_ONE,
    ) -> None:
        super().__init__(neighboring_relation)
        theirs = import_module("dp_accounting.rdp.rdp_privacy_accountant")
        self._orders = np.array(theirs.DEFAULT_RDP_ORDERS if orders is None else orders)
        self._known: tuple[object, Any] = (None, None)

    @property
    def _rdp(self) -> Any:
        composed = (self.ledger, self._private)
        if self._known[0] != composed:
            self._known = composed, np.array([self.get_renyi(float(order)) for order in self._orders])
        return self._known[1]

    rdp = property(lambda self: self._rdp.copy())
    orders = property(lambda self: self._orders.copy())


def opacus_accountant(mechanism: str) -> type[Any]:
    """In the place of one of Opacus's accountants: it goes by that one's name in checkpoints."""
    from dpcert.adapters.opacus import CertifiedAccountant as Certified

    return type(f"Certified_{mechanism}", (Certified,), {"mechanism": classmethod(lambda cls: mechanism)})


@dataclass(frozen=True)
class Suite:
    """module: of tests. swapped: (module, name) of each accountant, and what takes its place."""

    name: str
    package: str
    module: str
    swapped: dict[tuple[str, str], Any] = field(default_factory=dict)


def suites() -> list[Suite]:
    """All of them."""
    opacus = {"RDPAccountant": "rdp", "PRVAccountant": "prv", "GaussianAccountant": "gdp"}
    pld, rdp = "dp_accounting.pld.pld_privacy_accountant", "dp_accounting.rdp.rdp_privacy_accountant"
    found = [
        Suite("dp-accounting PLD", "dp-accounting", f"{pld}_test", {(pld, "PLDAccountant"): PldAccountant}),
        Suite("dp-accounting RDP", "dp-accounting", f"{rdp}_test", {(rdp, "RdpAccountant"): RdpAccountant}),
    ]
    for module in ("accountants_test", "accounting_noise_multiplier_test"):
        name = f"opacus.tests.{module}"
        with contextlib.suppress(ModuleNotFoundError):
            known = vars(import_module(name))
            swapped = {(name, kind): opacus_accountant(word) for kind, word in opacus.items() if kind in known}
            found.append(Suite(f"Opacus {module}", "opacus", name, swapped))
    return found


@contextlib.contextmanager
def in_its_place(suite: Suite) -> Iterator[None]:
    """dpcert's accountants where the tests look for the host's; those that Opacus makes by name too."""
    with contextlib.ExitStack() as stack:
        for (module, name), kind in suite.swapped.items():
            stack.enter_context(mock.patch.object(import_module(module), name, kind))
        if suite.package == "opacus":
            registry = import_module("opacus.accountants.registry")._ACCOUNTANTS
            kinds = {word: opacus_accountant(word) for word in ("rdp", "prv", "gdp")}
            stack.enter_context(mock.patch.dict(registry, kinds))
        yield


class Outcomes(unittest.TestResult):
    """How each test went: None where it passed, else the last line of what was wrong."""

    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, str | None] = {}

    def startTest(self, test: unittest.TestCase) -> None:
        super().startTest(test)
        self.found[short(test)] = None

    def _note(self, test: Any, error: Any) -> None:
        self.found[short(test)] = " ".join(str(error[1]).split())[:160] or type(error[1]).__name__

    def addError(self, test: Any, err: Any) -> None:
        self._note(test, err)

    def addFailure(self, test: Any, err: Any) -> None:
        self._note(test, err)

    def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:
        if err is not None:
            self._note(test, err)


def short(test: unittest.TestCase) -> str:
    """The name of the test's method, without the module and the class."""
    return str(test._testMethodName)


def outcomes(suite: Suite, matching: str = "") -> dict[str, str | None]:
    """Every test of the suite whose name contains `matching`, and how it went."""
    result = Outcomes()
    logging.disable(logging.INFO)
    with in_its_place(suite), warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        loaded = unittest.defaultTestLoader.loadTestsFromModule(import_module(suite.module))
        for test in _each(loaded):
            if matching in short(test):
                test.run(result)
                print(".", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return result.found


def _each(tests: unittest.TestSuite) -> Iterator[unittest.TestCase]:
    for test in tests:
        if isinstance(test, unittest.TestSuite):
            yield from _each(test)
        else:
            yield test


def unexpected(suite: Suite, found: dict[str, str | None]) -> list[str]:
    """Tests that went otherwise than the reasons say."""
    return [
        f"{suite.name}: {name}: {'passes, though a reason is listed' if said is None else said}"
        for name, said in found.items()
        if (said is None) != (reason_for(suite.name, name) is None)
    ]


def table(results: dict[str, dict[str, str | None]]) -> str:
    """How many pass, and every other test with its reason."""
    lines = ["| tests | number | pass | listed below |", "|---|---|---|---|"]
    for name, found in results.items():
        passed = sum(said is None for said in found.values())
        lines.append(f"| {name} | {len(found)} | {passed} | {len(found) - passed} |")
    for name, found in results.items():
        by_reason: dict[str, list[str]] = {}
        for test, said in found.items():
            if said is not None:
                by_reason.setdefault(reason_for(name, test) or f"**not listed**: {said}", []).append(test)
        if by_reason:
            lines += ["", f"## {name}", "", "| test | why it does not pass |", "|---|---|"]
            lines += [f"| {', '.join(f'`{test}`' for test in tests)} | {why} |" for why, tests in by_reason.items()]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run, print, write, and exit with 1 where something is unexpected."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="suites whose name contains this")
    parser.add_argument("--test", default="", help="tests whose name contains this")
    parser.add_argument("--write", type=Path, help="write the Markdown page to this file")
    arguments = parser.parse_args()
    chosen = [suite for suite in suites() if arguments.only in suite.name]
    results = {suite.name: outcomes(suite, arguments.test) for suite in chosen}
    versions = ", ".join(f"{package} {version(package)}" for package in sorted({suite.package for suite in chosen}))
    text = HEADER + f"Versions: {versions}.\n\n" + table(results)
    print(text)
    if arguments.write:
        arguments.write.write_text(text, "utf-8")
    wrong = [line for suite in chosen for line in unexpected(suite, results[suite.name])]
    print("\n".join(wrong), file=sys.stderr)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
