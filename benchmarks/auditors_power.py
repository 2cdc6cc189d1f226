"""Power and false alarms of `audit` on the set of sixty broken and forty sound mechanisms (auditor_set/).

    python benchmarks/auditors_power.py [--trials 20000] [--seeds 2] [--only "few values"] [--json FILE]

Every audit has an error probability of 1%; a mechanism counts as refuted in as many seeds as it is refuted in.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

from auditor_set import ROOMS, Case

from dpcert.proofs_checks.auditing import audit

ERROR = 0.01


def measured(case: Case, trials: int, seeds: int) -> dict[str, object]:
    """Of one mechanism: in how many seeds it was refuted, with which bounds, calls and CPU seconds."""
    started, refuted, bounds, calls = time.process_time(), 0, [], []
    for seed in range(seeds):
        found = audit(
            case.mechanism, case.pair, epsilon=case.epsilon, delta=case.delta, trials=trials, alpha=ERROR, seed=seed
        )
        refuted += found.refuted
        bounds.append(round(found.epsilon_lower(case.delta), 3))
        calls.append(found.trials)
    seconds = round(time.process_time() - started, 2)
    return {
        "name": case.name, "broken": case.broken, "claimed": case.epsilon, "refuted": refuted, "seeds": seeds,
        "bounds": bounds, "calls": calls, "seconds": seconds,
    }  # fmt: skip


def main() -> None:
    """Prints a line a room, and what was missed or accused."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=20_000, help="calls per side")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--only", choices=list(ROOMS), help="one room of the set")
    parser.add_argument("--json", type=Path, help="also write every figure into this file")
    options = parser.parse_args()
    rows: dict[str, list[dict[str, object]]] = {}
    for room in [options.only] if options.only else ROOMS:
        rows[room] = [measured(case, options.trials, options.seeds) for case in ROOMS[room]]
        broken, sound = ([row for row in rows[room] if row["broken"] is kind] for kind in (True, False))
        runs = [sum(int(str(row["refuted"])) for row in kind) for kind in (broken, sound)]
        totals = [options.seeds * len(kind) for kind in (broken, sound)]
        print(f"{room}: refuted {runs[0]} of {totals[0]} broken, {runs[1]} of {totals[1]} sound", flush=True)
        for row in broken:
            if row["refuted"] != options.seeds:
                print(f"    missed: {row['name']} ({row['refuted']} of {options.seeds}), bounds {row['bounds']}")
        for row in sound:
            if row["refuted"]:
                print(f"    ACCUSED: {row['name']} ({row['refuted']} of {options.seeds})")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
