"""The conformance kit on the peers, in one run: which property each accountant breaks, with a smallest example.

One command, `make conformance`, installs the peers in their own environment and writes docs/conformance-table.md.
Every "broken" of the property `truth` is proved in ball arithmetic by the checker of certificates.
"""

from __future__ import annotations

import argparse
import io
import json
import sys
import warnings
from contextlib import redirect_stdout
from dataclasses import asdict
from pathlib import Path
from typing import Any

from conformance_known import known_table
from conformance_limit import TooSlow, cpu_limit
from conformance_subjects import AutodpPlain, PlainGaussians, subjects
from rich.console import Console
from rich.progress import Progress

from dpcert.testing import PROPERTIES, Phase, Subject, conformance
from dpcert.testing.properties import HELD_TO_TRUTH

HARD = [
    ((Phase(2.3274542524483985, 0.13646455047574677, 5905),), 0.028969725936231417),
    ((Phase(1.0, 0.01, 10_000),), 1e-10),
    ((Phase(1.0, 0.01, 10_000),), 1e-12),
    ((Phase(100.0, 0.5, 1_000_000),), 1e-10),
    ((Phase(0.6, 0.001, 10_000),), 1e-5),
]
"""Settings of small delta or many rounds, on which peers were seen to fail; the first one by a random search."""

HEADER = """# The peers through the conformance kit

Written by `make conformance` (`benchmarks/conformance.py`), here with {} settings a property, {} s of CPU time at most.
yes: held on every setting that was answered. no: broken, with an example below; a broken "truth" is proved in ball
arithmetic. -: the accountant does not serve it, or took too long. Versions: benchmarks/requirements.txt.

"""


def measure(subject: Subject, names: list[str], examples: int, limit: int, tick: Any) -> dict[str, dict[str, str]]:
    """Every property's finding; hard settings one by one, so that a slow one does not hide the next."""
    found = {}
    for name in names:
        found[name] = _tried(subject, name, examples, (), limit)
        plain = isinstance(subject, PlainGaussians | AutodpPlain)
        for hard in HARD if name in HELD_TO_TRUTH and found[name]["outcome"] == "passed" and not plain else ():
            harder = _tried(subject, name, 0, (hard,), limit)
            if harder["outcome"] == "broken":
                found[name] = harder
                break
        tick()
    return found


def _tried(subject: Subject, name: str, examples: int, hard: tuple[Any, ...], limit: int) -> dict[str, str]:
    try:
        with cpu_limit(limit), warnings.catch_warnings(), redirect_stdout(io.StringIO()):  # autodp prints
            warnings.simplefilter("ignore")
            (finding,) = conformance(subject, [name], examples=examples, hard=hard)
    except TooSlow:
        return {"property": name, "outcome": "not served", "detail": f"over {limit} s of CPU time"}
    return asdict(finding)


def table(results: dict[str, dict[str, dict[str, str]]]) -> str:
    """A Markdown table and the smallest example of everything broken."""
    sign = {"passed": "yes", "broken": "**no**", "not served": "-", "not tried": ""}
    lines = [f"| | {' | '.join(name.replace('_', ' ') for name in PROPERTIES)} |", "|---" * (len(PROPERTIES) + 1) + "|"]
    for name, found in results.items():
        cells = [sign[found[key]["outcome"] if key in found else "not tried"] for key in PROPERTIES]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    lines += ["", "| accountant | property | what it did |", "|---|---|---|"]
    for name, found in results.items():
        for key, finding in found.items():
            if finding["outcome"] == "broken":
                detail = " ".join(finding["detail"].replace("|", "/").split())[:300]
                lines.append(f"| {name} | {key.replace('_', ' ')} | {detail} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--examples", type=int, default=9, help="settings a property")
    parser.add_argument(
        "--limit", type=int, default=60, help="CPU seconds after which a property is given up on a peer"
    )
    parser.add_argument("--properties", default=",".join(PROPERTIES), help="which, separated by commas")
    parser.add_argument("--only", default="", help="peers whose name contains this")
    parser.add_argument("--write", type=Path, help="write the Markdown table to this file")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    arguments = parser.parse_args()
    names = arguments.properties.split(",")
    chosen = [subject for subject in subjects() if arguments.only in subject.name]
    results = {}
    with Progress(console=Console(file=sys.stderr), transient=True) as progress:
        task = progress.add_task("properties", total=len(chosen) * len(names))
        for subject in chosen:
            results[subject.name] = measure(
                subject, names, arguments.examples, arguments.limit, lambda: progress.advance(task)
            )
    text = table(results) + known_table(arguments.limit, arguments.only)
    if arguments.write:
        arguments.write.write_text(HEADER.format(arguments.examples, arguments.limit) + text, "utf-8")
    print(json.dumps(results, indent=1) if arguments.json else text)


if __name__ == "__main__":
    main()
