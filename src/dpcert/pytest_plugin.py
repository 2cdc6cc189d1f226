"""The pytest plugin: privacy claims as tests, one error probability for the whole session.

- `@pytest.mark.dp(epsilon=..., delta=...)`, or with rho, mu, curve or renyi in their place, states the claim that
  `assert_private` tests in that function.
- `--dp-alpha` is the probability that any correct mechanism fails in this session; it is split evenly over the
  collected tests and, within a Hypothesis test, over its examples; calls of `assert_private` in one example share it.
- `--dp-profile=ci|nightly` sets how often mechanisms run; `--dp-report=FILE` writes one JSON line a call.
- A test all of whose calls checked nothing (equal data sets, constant or unreadable outputs) fails.
- Files named `*.claim.toml` are test items that pass when `dpcert verify` says "holds", and when an audit of the
  implementation that they name, if they do, contradicts nothing and had something to compare. Too few calls to refute
  anything are a warning.

Only names and options are set up here; what they need is imported when a test uses them.
"""

from __future__ import annotations

import argparse
import json
import shlex
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from .proofs_checks.auditing import AuditResult

FINDING = "dpcert-finding"
"""The name under which reports, and JUnit's XML, carry what was found."""

PROFILES = {"ci": 2_000, "nightly": 50_000}
"""Trials a side and call."""


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("dpcert", "differential privacy")
    group.addoption(
        "--dp-alpha", type=_probability, default=1e-3, help="error probability of the whole session (default 0.001)"
    )
    group.addoption("--dp-profile", choices=sorted(PROFILES), default="ci", help="how often mechanisms run")
    group.addoption("--dp-report", type=Path, default=None, metavar="FILE", help="one JSON line for each audit")


def _probability(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"{text!r}: expected a number strictly between 0 and 1")
    return value


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "dp(epsilon, delta=0.0 | rho | mu | curve | renyi): the privacy claim that assert_private tests here"
    )
    report = config.getoption("--dp-report")
    if report is not None and not hasattr(config, "workerinput"):  # pytest-xdist's workers add to the same file
        try:
            report.write_text("")
        except OSError as problem:
            raise pytest.UsageError(
                f"--dp-report {report}: expected a file that can be written ({problem.strerror})"
            ) from None


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if file_path.name.endswith(".claim.toml"):
        return ClaimFile.from_parent(parent, path=file_path)
    return None


class ClaimFile(pytest.File):
    """A claim file: one test item."""

    def collect(self) -> Iterator[pytest.Item]:
        yield ClaimItem.from_parent(self, name="verify")


class NotHeld(Exception):
    """A claim that does not hold, with the reason as text."""


class ClaimItem(pytest.Item):
    """Passes when the claim holds; fails with the verdict, the certified interval and the findings otherwise."""

    def runtest(self) -> None:
        from .proofs_checks.verification.implementation import DIFFERS, UNCHECKED, audited
        from .proofs_checks.verification.verify import verify

        alpha, profile = _share(self)
        replay = _replay(self, alpha, profile)
        result = audited(verify(self.path), trials=PROFILES[profile], alpha=alpha, replay=replay)
        if result.audit is not None:
            _report(self, result.audit)
        self.user_properties += [(FINDING, str(each)) for each in result.findings if each.severity != "info"]
        if result.verdict != "holds" or any(each.id in (DIFFERS, UNCHECKED) for each in result.findings):
            findings = "".join(f"\n  {finding}" for finding in result.findings)
            witness = "" if result.audit is None or not result.audit.refuted else f"\n{result.audit.witness}"
            raise NotHeld(f"{self.path.name}: {result.verdict}: {result.why}{findings}{witness}")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """A verdict is shown without a traceback."""
        return str(excinfo.value) if excinfo.errisinstance(NotHeld) else super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, f"claim: {self.path.name}"


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """What was found beside claims that hold: a claim that fails shows its own."""
    passed = [(each.nodeid, text) for each in terminalreporter.getreports("passed") for text in _found(each)]
    if passed:
        terminalreporter.section("dpcert: findings beside claims that hold")
        for nodeid, text in passed:
            terminalreporter.line(f"{nodeid}: {text}")


def _found(report: Any) -> list[str]:
    """The findings that a report of a call carries, from a worker process too."""
    return [text for name, text in report.user_properties if name == FINDING and report.when == "call"]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Tell `assert_private` its claim, its share of the error probability, and where to report."""
    if not isinstance(item, pytest.Function):
        return (yield)
    from .proofs_checks.assertion_context import Calls, Context, assertions

    claim = _marked(item)
    alpha, profile = _share(item)
    calls = Calls(_examples(item))
    context = Context(
        alpha=alpha,
        trials=PROFILES[profile],
        claim=claim,
        record=lambda result: _report(item, result),
        replay=_replay(item, alpha, profile),
        calls=calls,
    )
    with assertions(context):
        outcome = yield
    nothing = calls.nothing_checked()
    if nothing:
        pytest.fail(f"{item.nodeid}: {nothing}", pytrace=False)
    if claim and calls.total == 0:
        pytest.fail(f"{item.nodeid} states a privacy claim (the dp mark) that no assert_private tested", pytrace=False)
    return outcome


def _share(item: pytest.Item) -> tuple[float, str]:
    """The item's part of the session's error probability, and the profile."""
    alpha: float = item.config.getoption("--dp-alpha")
    return alpha / len(item.session.items), str(item.config.getoption("--dp-profile"))


def _replay(item: pytest.Item, alpha: float, profile: str) -> str:
    """The item alone, with its part of the error probability."""
    return f"python -m pytest {shlex.quote(item.nodeid)} --dp-alpha {alpha!r} --dp-profile {profile}"


def _marked(item: pytest.Item) -> dict[str, Any]:
    """The keyword arguments of the mark; none without one."""
    from .proofs_checks.assertion_context import CURRENCIES

    mark = item.get_closest_marker("dp")
    if mark is None:
        return {}
    stated = set(mark.kwargs)
    allowed = stated == {"epsilon", "delta"} or (len(stated) == 1 and stated <= set(CURRENCIES))
    if mark.args or not allowed:
        others = ", ".join(f"{name}=..." for name in CURRENCIES[1:])
        raise pytest.UsageError(f"{item.nodeid}: use @pytest.mark.dp(epsilon=..., delta=...), or one of {others}")
    return dict(mark.kwargs)


def _examples(item: pytest.Function) -> int:
    """How many examples Hypothesis may run of this test, those of @example included; 1 for an ordinary one."""
    settings = getattr(item.obj, "_hypothesis_internal_use_settings", None)
    if settings is None and not getattr(item.obj, "is_hypothesis_test", False):
        return 1
    stated = len(getattr(item.obj, "hypothesis_explicit_examples", ()))
    return stated + (100 if settings is None else int(settings.max_examples))


def _report(item: pytest.Item, result: AuditResult) -> None:
    path = item.config.getoption("--dp-report")
    if path is not None:
        with path.open("a") as report:
            report.write(json.dumps({"test": item.nodeid} | result.to_json(), default=str) + "\n")
