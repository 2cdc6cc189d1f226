"""docs/dpfedmtl.md runs as it stands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dpcert.cli import run

GUIDE = Path(__file__).parents[3] / "docs" / "dpfedmtl.md"


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", GUIDE.read_text(encoding="utf-8"), flags=re.DOTALL)


def test_python_examples_run(capsys):
    for block in blocks("python"):
        exec(compile(block, str(GUIDE), "exec"), {})
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["server", "all-other-clients", "one-other-client"]


@pytest.mark.parametrize("line", [line for block in blocks("bash") for line in block.replace("\\\n", "").splitlines()])
def test_commands_have_options_that_exist(line, capsys):
    words = line.split("#")[0].split()
    if words[:1] != ["dpcert"]:
        return
    assert run([*words[1 : 2 + (words[1] == "experiment")], "--help"]) == 0
    assert set(re.findall(r"--[a-z-]+", line.split("#")[0])) <= set(re.findall(r"--[a-z-]+", capsys.readouterr().out))
