"""The examples of docs/ledger.md run, and print what the text says."""

import contextlib
import io
import re
from pathlib import Path

GUIDE = (Path(__file__).resolve().parents[3] / "docs" / "ledger.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", GUIDE, flags=re.DOTALL)


def printed(example):
    with contextlib.redirect_stdout(io.StringIO()) as output:
        exec(compile(example, "docs/ledger.md", "exec"), {})
    return output.getvalue().splitlines()


def test_all_examples_are_here():
    assert len(EXAMPLES) == 3


def test_calibration():
    (line,) = printed(EXAMPLES[0])
    value, epsilon = re.match(r"([\d.]+), epsilon at most ([\d.]+)", line).groups()
    assert 0.5 < float(value) < 10
    assert float(epsilon) <= 3.0


def test_ledger():
    (line,) = printed(EXAMPLES[1])
    assert line.startswith("20 rounds, epsilon in [")


def test_filter():
    (line,) = printed(EXAMPLES[2])
    assert re.match(r"stopped after [1-9]\d* rounds: ", line)
