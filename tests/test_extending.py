"""docs/extending.md: a mechanism, an accountant and a kind of noise in claims, one file each, through public names."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import pytest

from dpcert.extending import Quantity, add_accountant, add_claim_kind, add_mechanism, open_probability, row_of
from dpcert.mechanisms import InputError, Laplace, Mechanism
from dpcert.mechanisms.tables.described import table_of
from dpcert.mechanisms.tables.kinds import KINDS

DOCS = Path(__file__).parents[1] / "docs"
BLOCKS = re.findall(r"```python\n(.*?)```", (DOCS / "extending.md").read_text(), re.DOTALL)
PUBLIC = {"dpcert", "dpcert.extending"}


def run(block: str, folder: Path, *command: str) -> list[str]:
    """What a file of that text prints, or what dpcert's command line does after it was imported."""
    (folder / "own.py").write_text(block)
    args = ["own.py"] if not command else ["-c", "import own; from dpcert.cli import main; main()", *command]
    done = subprocess.run([sys.executable, *args], cwd=folder, capture_output=True, text=True)
    return (done.stdout + done.stderr).splitlines()


@pytest.mark.parametrize("block", BLOCKS, ids=["mechanism", "accountant", "claim-kind"])
def test_only_public_names_are_used(block: str) -> None:
    imports = [node for node in ast.walk(ast.parse(block)) if isinstance(node, ast.ImportFrom)]
    ours = {node.module for node in imports if (node.module or "").startswith("dpcert")}
    assert ours <= PUBLIC


def test_a_made_up_mechanism(tmp_path: Path) -> None:
    said = run(BLOCKS[0], tmp_path)
    assert said[0].startswith("epsilon in [7.32776")
    assert said[2].startswith('| `"shy"` | `false`: with which probability the report is false; `silent`: ')
    assert said[3] == "holds"
    options = ["--mechanism", "shy", "--title", "Ours", "--epsilon", "8", "--neighbouring", "replace-one"]
    written = run(BLOCKS[0], tmp_path, "new", *options, "--set", "false=0.2", "--set", "silent=0.3")
    said_above = written[written.index("false = 0.2") - 1]
    assert said_above == "# with which probability the report is false"
    refused = run(BLOCKS[0], tmp_path, "new", *options, "--set", "false=1.2", "--set", "silent=0.3")
    assert any("false = 1.2: expected a number strictly between 0 and 1" in line for line in refused)


def test_a_made_up_accountant(tmp_path: Path) -> None:
    named, best, refused = run(BLOCKS[1], tmp_path)
    assert float(named) == pytest.approx(1.0, rel=1e-9)
    assert float(best) < float(named)
    assert "one that serves this run" in refused


def test_a_made_up_kind_of_noise_in_claims(tmp_path: Path) -> None:
    assert run(BLOCKS[2], tmp_path) == ["holds"]


@pytest.mark.parametrize("kind", KINDS)
def test_the_documentation_s_row_is_the_description_s(kind: str) -> None:
    assert row_of(kind) in (DOCS / "claims.md").read_text().splitlines()


@dataclass(frozen=True, slots=True)
class Untold(Mechanism):
    share: float


@dataclass(frozen=True, slots=True)
class Checked(Mechanism):
    share: Annotated[float, Quantity(open_probability, "of what")] = 0.5


def test_what_is_taken_or_untold_is_refused_before_anything_is_added() -> None:
    with pytest.raises(TypeError, match="share has no Quantity"):
        add_mechanism(Untold, lambda *_: None, kind="untold")  # type: ignore[arg-type, return-value]
    with pytest.raises(TypeError, match="says nothing of its fields"):
        add_mechanism(Untold, lambda *_: None)  # type: ignore[arg-type, return-value]
    with pytest.raises(InputError, match="a kind that no other"):
        add_claim_kind(table_of("laplace", Laplace, ""))
    with pytest.raises(InputError, match="a name that no other accountant has"):
        add_accountant(type("Mine", (), {"name": "pld"})())
    assert "untold" not in KINDS


def test_a_description_checks_itself() -> None:
    assert Checked(0.25).share == 0.25
    with pytest.raises(InputError, match=r"share = 1\.5: expected a number strictly between 0 and 1"):
        Checked(1.5)
