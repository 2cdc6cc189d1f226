"""The examples of docs/billboard.md run, and print what the text says."""

import contextlib
import io
import re
from pathlib import Path

import pytest

GUIDE = (Path(__file__).resolve().parents[3] / "docs" / "billboard.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", GUIDE, flags=re.DOTALL)


def printed(example):
    with contextlib.redirect_stdout(io.StringIO()) as output:
        exec(compile(example, "docs/billboard.md", "exec"), {})
    return output.getvalue().splitlines()


def test_all_examples_are_here():
    assert len(EXAMPLES) == 3


def test_observers():
    lines = printed(EXAMPLES[0])
    assert len(lines) == 3
    uppers = [float(re.search(r"to ([\d.]+);", line)[1]) for line in lines]
    assert uppers == sorted(uppers)
    assert uppers[-1] == pytest.approx(61.33, abs=0.01)


def test_reductions():
    (line,) = printed(EXAMPLES[1])
    assert line.startswith("joint ")


def test_replay():
    first, second = printed(EXAMPLES[2])
    assert first == "True"
    assert second.startswith("False client ")
