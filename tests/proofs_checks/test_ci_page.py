"""The page for CI: each of its three examples passes as it stands, and fails with half of its noise."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dpcert.proofs_checks import assertion, auditing, worst_pairs

LOADED = (assertion, auditing, worst_pairs)
"""Loaded for good: pytest forgets what a run inside this process has imported."""

pytest_plugins = ["pytester"]

PAGE = (Path(__file__).parents[2] / "docs/audit-in-ci.md").read_text(encoding="utf-8")
EXAMPLES = dict(re.findall(r'```python title="(test_\w+)\.py"\n(.*?)```', PAGE, flags=re.DOTALL))

BROKEN = {
    "test_with_generator": ("rng.laplace(0, upper)", "rng.laplace(0, upper / 2)", "runs on"),
    "test_global_generator": ("< 0.75", "< 0.95", "runs on"),
    "test_native": ("sign * steps", "sign * (steps // 2)", "error probability holds once per run"),
}


def test_there_are_three() -> None:
    assert set(EXAMPLES) == set(BROKEN)


@pytest.mark.parametrize("name", sorted(BROKEN))
def test_an_example_passes_and_its_broken_twin_fails(pytester, name: str) -> None:
    pytester.makeini("[pytest]\naddopts = -p no:cacheprovider")
    right, wrong, said = BROKEN[name]
    assert right in EXAMPLES[name]
    pytester.makepyfile(**{name: EXAMPLES[name], f"{name}_broken": EXAMPLES[name].replace(right, wrong)})
    result = pytester.runpytest_inprocess()
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines([f"FAILED {name}_broken.py::*", *()])
    assert said in result.stdout.str()
