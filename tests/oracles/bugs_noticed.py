"""docs/papers/broken-trainers.md: which rows and tests notice a broken trainer; `python FILE` writes it anew.

A row notices a bug when it does not come out as it does without: its status changes, or its evidence is refused. All
rows are asked whose evidence says that it is a trainer's. Five minutes of CPU; a process for each family and bug.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from trainer_bugs import BUGS, FAMILIES, Bug, Family

from dpcert.proofs_checks.papers import Row, judge, register

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PAGE = ROOT / "docs" / "papers" / "broken-trainers.md"
PAPERS: dict[Family, tuple[str, ...]] = {"pmtl": ("pmtl", "pmtl-jdp"), "dpfedmtl": ("dpfedmtl",), "mocha": ("mocha",)}
TITLES: dict[Family, str] = {"pmtl": "PMTL", "dpfedmtl": "DPFedMTL", "mocha": "MOCHA"}

RECURSION = "tests/proofs_checks/papers/test_pmtl.py::test_recursion_is_the_trainers_step_by_step"
TRAINERS = "tests/proofs_checks/papers/test_dpfedmtl.py::test_the_recursion_is_the_trainers"
ROUND = "tests/proofs_checks/papers/test_mocha.py::test_a_round_is_the_one_written_out"
RELEASED = "tests/proofs_checks/papers/test_released_runs.py::test_what_a_round_releases"
TESTS: dict[Family, dict[str, str]] = {
    "pmtl": {"noise": RELEASED + "[PMTL-noise]", "clip": RELEASED + "[PMTL-sensitivity]", "other": RECURSION},
    "dpfedmtl": {"noise": TRAINERS, "clip": RELEASED + "[DPFEDMTL-sensitivity]", "other": TRAINERS},
    "mocha": {"noise": RELEASED + "[MOCHA-noise]", "clip": RELEASED + "[MOCHA-sensitivity]", "other": ROUND},
}
"""A test of each family that fails with a bug in its noise, in its clipping, and with any other."""

CHEAP: dict[Family, dict[str, str]] = {
    "pmtl": {"noise": "PMTL-RUN-noise", "clip": "PMTL-RUN-sensitivity", "other": "PMTL-C2-function"},
    "dpfedmtl": {"noise": "DPFEDMTL-RUN-noise", "clip": "DPFEDMTL-RUN-sensitivity", "other": "DPFEDMTL-RATE-H"},
    "mocha": {"noise": "MOCHA-RUN-noise", "clip": "MOCHA-RUN-sensitivity", "other": "MOCHA-E4-v"},
}
"""The same of rows that take a moment."""


def of_kind(table: Mapping[str, str], bug: Bug) -> str:
    """The entry of TESTS or CHEAP for this bug."""
    return table.get(bug.name.split()[0], table["other"])


ROOMS = ("dpcert.proofs_checks.papers.", "dpcert.proofs_checks.convergence.")
"""Where evidence of trainers is gathered."""


def forget() -> None:
    """Drop all evidence that the papers' and the convergence modules remember, so that it is gathered again."""
    for name, module in list(sys.modules.items()):
        if name.startswith(ROOMS) and not name.endswith(".register"):
            for each in list(vars(module).values()):
                if hasattr(each, "cache_clear"):
                    each.cache_clear()


def outcome(row: Row) -> tuple[str, str]:
    """(status, what the evidence rests on); why it was refused, and nothing, where there is no status.

    A trainer that breaks down altogether is noticed, too.
    """
    try:
        found = judge(row)
    except Exception as problem:
        return f"refused: {type(problem).__name__}: {problem}", ""
    return str(found.status), found.printed[0].basis.how


def outcomes(family: Family, bug: Bug | None, ids: Iterable[str]) -> dict[str, str]:
    """These rows' statuses with the bug planted."""
    rows = [row for each in ids for row in register(only=each)]
    forget()
    if bug is None:
        return {row.id: outcome(row)[0] for row in rows}
    with bug.planted(family):
        found = {row.id: outcome(row)[0] for row in rows}
    forget()
    return found


def trainer_rows(family: Family) -> dict[str, str]:
    """The statuses of the rows whose evidence is a trainer's; all of the family's are judged to find out."""
    judged = {row.id: outcome(row) for paper in PAPERS[family] for row in register(paper)}
    return {each: status for each, (status, how) in judged.items() if "trainer" in how}


def in_a_process(family: Family, bug: Bug | None, ids: list[str]) -> dict[str, str]:
    """`outcomes` in a process of its own."""
    asked = json.dumps([family, bug.name if bug else None, ids])
    told = subprocess.run([sys.executable, __file__, asked], check=True, capture_output=True, text=True, cwd=ROOT)
    found: dict[str, str] = json.loads(told.stdout.splitlines()[-1])
    return found


def noticing(family: Family) -> dict[str, list[str]]:
    """The names of the bugs that each of the family's trainer rows notices."""
    right = trainer_rows(family)
    found: dict[str, list[str]] = {each: [] for each in right}
    for bug in BUGS:
        for each, status in in_a_process(family, bug, list(right)).items():
            if status != right[each]:
                found[each].append(bug.name)
    return found


def red(family: Family, bug: Bug) -> bool:
    """The family's test for this bug fails with it planted."""
    test = of_kind(TESTS[family], bug)
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "planted_bug", test]
    told = os.environ | {"PLANTED_BUG": f"{family}: {bug.name}", "PYTHONPATH": str(HERE)}
    done = subprocess.run(command, env=told, cwd=ROOT, capture_output=True, text=True)
    return done.returncode == 1 and "1 failed" in done.stdout


def page(rows: Mapping[Family, Mapping[str, list[str]]]) -> str:
    """The page, from what each family's rows notice."""
    lines = [
        "# Broken trainers, and which rows notice",
        "",
        "Some verdicts of `dpcert papers` rest on runs of dpcert's trainers. Such evidence is worth something only",
        "if it changes when a trainer is broken. To check that, seven bugs are planted in the trainers of each family,",
        "one at a time, and every such row is judged again. A row notices a bug if its verdict changes or its evidence",
        "is refused. `python tests/oracles/bugs_noticed.py` makes this page. A nightly test repeats and compares it.",
        "",
        "| bug | what it is | " + " | ".join(f"{TITLES[family]}: rows" for family in FAMILIES) + " |",
        "|---|---|" + "--:|" * len(FAMILIES),
    ]
    for bug in BUGS:
        counts = [f"{sum(bug.name in each for each in rows[f].values())} of {len(rows[f])}" for f in FAMILIES]
        lines.append(f"| {bug.name} | {bug.says} | {' | '.join(counts)} |")
    lines += [
        "",
        "Only our private form of MOCHA has noise and clips anything, and it has two rows. So few rows notice the",
        "first three bugs.",
        "",
    ]
    lines += ["## Tests", "", "Each of these tests fails when the bug is planted. A nightly test checks that.", ""]
    lines += ["| bug | " + " | ".join(TITLES[family] for family in FAMILIES) + " |", "|---|" + "---|" * len(FAMILIES)]
    for bug in BUGS:
        tests = [f"`{of_kind(TESTS[family], bug).removeprefix('tests/').split('[')[0]}`" for family in FAMILIES]
        lines.append(f"| {bug.name} | {' | '.join(tests)} |")
    for family in FAMILIES:
        lines += [
            "",
            f"## {TITLES[family]}: what each row notices",
            "",
            "A row with an x in a column notices that bug.",
            "",
        ]
        lines += ["| row | " + " | ".join(bug.name for bug in BUGS) + " |", "|---|" + ":-:|" * len(BUGS)]
        for each, found in rows[family].items():
            lines.append(f"| {each} | " + " | ".join("x" if bug.name in found else "" for bug in BUGS) + " |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    if len(sys.argv) > 1:
        asked_family, asked_bug, asked_ids = json.loads(sys.argv[1])
        planted = next((bug for bug in BUGS if bug.name == asked_bug), None)
        print(json.dumps(outcomes(asked_family, planted, asked_ids)))
    else:
        PAGE.write_text(page({family: noticing(family) for family in FAMILIES}))
