"""Every example is run as a user would: a training run in the real host that prints the same epsilon."""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import io
import os
import re
import signal
import subprocess
import sys
import tokenize
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
EPSILON = 2.2422886082
"""The true one, to these digits (test_same_epsilon.py): examples print an upper end at most 1e-6 of it above."""
TEN = 10


def test_there_is_one_for_every_adapter():
    adapters = {path.stem for path in (EXAMPLES.parent / "src/dpcert/adapters").glob("[a-z]*")}
    adapters -= {"opacus_checkpoint", "opacus_shuffled", "dp_accounting_events", "pfl_joint", "privacy_loss"}
    assert (
        adapters
        == set(HOSTS)
        == {path.stem.removesuffix("_training") for path in EXAMPLES.glob("*_training.py")} - {"attest", "torch"}
    )


def lines_of_code(source: str) -> int:
    """Lines with code on them; imports, comments and docstrings aside."""
    tree = ast.parse(source)
    aside = {line for node in ast.walk(tree) if _aside(node) for line in range(node.lineno, node.end_lineno + 1)}
    blank = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    code = {line for t in tokens if t.type not in blank for line in range(t.start[0], t.end[0] + 1)}
    return len(code - aside)


def _aside(node: ast.AST) -> bool:
    docstring = (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    )
    return docstring or isinstance(node, ast.Import | ast.ImportFrom)


@pytest.mark.parametrize("host", HOSTS)
def test_it_has_ten_lines_at_most(host):
    source = (EXAMPLES / f"{host}_training.py").read_text()
    assert lines_of_code(source) <= TEN
    assert ";" not in source  # No two statements on a line.


def test_lines_are_counted():
    source = (
        '"""Doc\nstring."""\n\nimport a\nfrom b import (\n    c,\n)\n\n# Comment.\nx = [\n    1,\n]\n\n\n@d\ndef f():\n'
    )
    assert lines_of_code(source + '    """Text."""\n    return """a\n    b"""\n') == 3 + 2 + 2


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
    printed = [float(found) for found in re.findall(r"epsilon = ([0-9.]+)$", output, re.MULTILINE)]
    assert printed, output[-2000:]
    assert 0.0 <= printed[-1] - EPSILON <= 1e-6 * EPSILON, output[-2000:]


def _end_group(group: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)
