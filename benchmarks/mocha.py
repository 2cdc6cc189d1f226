"""A round of MOCHA's W-step here against the authors' MATLAB code under GNU Octave, in one run: compare the ratio.

    python benchmarks/mocha.py --authors FOLDER [--rounds 100] [--repeats 3] [--json]

FOLDER: a checkout of the authors' published code (github.com/gingsmith/fmtl), which is run from a temporary copy and
is no part of this project; its small.mat is the data of both. Without octave on the path, or without the folder, the
comparison is skipped and said to be. Both run the same rounds (every node one pass, lambda = 1e-4, Omega = m I) and
evaluate the primal and the dual every round, as the authors' code does. CPU seconds of each process, the two
alternating; the median over repeats counts.

Octave does not grow cell(m, 0) by index; the copy has cell(m, 1) in its place, as in the recorded trajectories.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from dpcert.trainers.mocha.losses import LOSSES
from dpcert.trainers.mocha.methods import Setting, WeightStep
from dpcert.trainers.mocha.omegas import fixed_identity
from dpcert.trainers.mocha.tasks import load_mat

LAMBDA = 1e-4

DRIVER = """
load('data/small.mat'); addpath('opt/'); addpath('util/');
rng(1); [Xtrain, Ytrain, Xtest, Ytest] = split_data(X, Y, 0.75);
opts.obj = 'C'; opts.avg = 1; opts.sys_het = 0; opts.w_update = 1;
opts.mocha_outer_iters = 1; opts.mocha_inner_iters = {rounds}; opts.mocha_sdca_frac = 1.0;
start = cputime(); [err, primal, dual] = run_mocha(Xtrain, Ytrain, Xtest, Ytest, {regularisation}, opts);
printf('%.17g %.17g %.17g\\n', cputime() - start, primal(end), dual(end));
"""


def authors_seconds(folder: Path, rounds: int) -> tuple[float, float, float]:
    """(CPU seconds, last primal, last dual) of the authors' code."""
    with tempfile.TemporaryDirectory() as place:
        copy = Path(place) / "fmtl"
        shutil.copytree(folder, copy, ignore=shutil.ignore_patterns(".git"))
        for file in copy.glob("**/*.m"):
            file.write_text(re.sub(r"cell\((\w+), *0\)", r"cell(\1, 1)", file.read_text()))
        driver = copy / "drive.m"
        driver.write_text(DRIVER.format(rounds=rounds, regularisation=LAMBDA))
        done = subprocess.run(
            ["octave", "--no-gui", "--quiet", "--norc", driver.name],
            cwd=copy,
            capture_output=True,
            text=True,
            check=True,
        )
    seconds, primal, dual = map(float, done.stdout.strip().splitlines()[-1].split())
    return seconds, primal, dual


def our_seconds(folder: Path, rounds: int) -> tuple[float, float, float]:
    """(CPU seconds, last primal, last dual) of ours, on as large a split of the same data, reporting every round."""
    train, _ = load_mat(folder / "data" / "small.mat").split(0.75, np.random.default_rng(1))
    method = WeightStep(Setting(train, LOSSES["hinge"], fixed_identity(train.count), LAMBDA))
    state, rng = method.start(), np.random.default_rng(0)
    seen = method.report(state)
    began = time.process_time()
    for _ in range(rounds):
        seen = method.report(state)
        state = method.round(state, rng)
    return time.process_time() - began, seen.primal, seen.dual


def why_not(folder: Path | None) -> str | None:
    """What is missing for the comparison."""
    if shutil.which("octave") is None:
        return "octave is not installed"
    if folder is None or not (folder / "opt" / "run_mocha.m").is_file():
        return "--authors does not name a checkout of the authors' code"
    return None


def main() -> None:
    """Measure, and print a table or JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--authors", type=Path, help="checkout of the authors' MATLAB code")
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    missing = why_not(asked.authors)
    if missing is not None:
        print(json.dumps({"skipped": missing}) if asked.json else f"skipped: {missing}")
        return
    runs = []
    for repeat in range(asked.repeats):
        runs.append((our_seconds(asked.authors, asked.rounds), authors_seconds(asked.authors, asked.rounds)))
        print(f"repeat {repeat + 1}/{asked.repeats}", file=sys.stderr)
    ours, theirs = (1e3 * statistics.median(run[who][0] for run in runs) / asked.rounds for who in (0, 1))
    outcome = {"ours_ms": ours, "authors_ms": theirs, "ratio": theirs / ours, "rounds": asked.rounds}
    if asked.json:
        print(json.dumps(outcome))
    else:
        print(f"ms of CPU a round: ours {ours:.2f}, the authors' under Octave {theirs:.1f}; ratio {theirs / ours:.1f}")


if __name__ == "__main__":
    main()
