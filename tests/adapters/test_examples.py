"""Every example is run as a user would: a training run in the real host that prints the same epsilon."""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
HOSTS = {
    "dp_accounting": "dp_accounting",
    "opacus": "opacus",
    "flower": "flwr",
    "pfl": "pfl",
    "jax_privacy": "jax_privacy",
    "tff": "tensorflow_federated",
}
EPSILON = "epsilon = 2.242288608"
LINES = {"flower": 15, "pfl": 15, "tff": 15}
"""Statements that a host itself needs beyond the ten: client and server, data sets, model classes."""


def test_there_is_one_for_every_adapter():
    adapters = {path.stem for path in (EXAMPLES.parent / "src/dpcert/adapters").glob("[a-z]*.py")}
    assert adapters == set(HOSTS) == {path.stem.removesuffix("_training") for path in EXAMPLES.glob("*.py")}


@pytest.mark.parametrize("host", HOSTS)
def test_it_is_short(host):
    """Imports and the docstring aside; a function or a loop counts with its body."""
    tree = ast.parse((EXAMPLES / f"{host}_training.py").read_text())
    statements = [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]
    imports = [node for node in statements if isinstance(node, ast.Import | ast.ImportFrom)]
    assert len(statements) - len(imports) - 1 <= LINES.get(host, 12)


@pytest.mark.parametrize("host", HOSTS)
def test_it_prints_epsilon(host, tmp_path):
    if importlib.util.find_spec(HOSTS[host]) is None:
        pytest.skip(f"{HOSTS[host]} is not installed: make nightly-hosts")
    script = EXAMPLES / f"{host}_training.py"
    with (tmp_path / "log").open("w+") as log:
        # A session of its own, and a file instead of a pipe: hosts leave workers behind that keep a pipe open.
        run = subprocess.Popen(
            [sys.executable, str(script)], stdout=log, stderr=log, cwd=tmp_path, start_new_session=True
        )
        try:
            code = run.wait(timeout=300)
        finally:
            _end_group(run.pid)
        log.seek(0)
        output = log.read()
    assert code == 0, output[-2000:]
    # Not the last line: workers may have the last word.
    assert any(line.endswith(EPSILON) for line in output.splitlines()), output[-2000:]


def _end_group(group: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)
