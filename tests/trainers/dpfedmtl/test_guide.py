"""docs/dpfedmtl.md runs as it stands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

GUIDE = Path(__file__).parents[3] / "docs" / "dpfedmtl.md"


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", GUIDE.read_text(encoding="utf-8"), flags=re.DOTALL)


def test_python_examples_run(capsys):
    for block in blocks("python"):
        exec(compile(block, str(GUIDE), "exec"), {})
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["server", "all-other-clients", "one-other-client"]


@pytest.mark.parametrize("line", [line for block in blocks("bash") for line in block.splitlines() if "dpcert" in line])
def test_commands_have_options_that_exist(line):
    from dpcert.cli.train import train_command

    if "figure3" in line:
        return
    known = {"--" + name.replace("_", "-") for name in train_command.__annotations__} | {"--json", "--lambda"}
    assert set(re.findall(r"--[a-z-]+", line.split("#")[0])) <= known
