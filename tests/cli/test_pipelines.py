"""verify and lint in other people's pipelines: formats, kept verdicts, the action and the hooks on a sample."""

from __future__ import annotations

import json
import multiprocessing
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from dpcert.cli import run

ROOT = Path(__file__).parents[2]
CLAIM = """
[claim]
title = "a | claim, 100% <sure>"
neighbouring = "add-remove"
epsilon = {epsilon}
delta = 1e-5
[mechanism]
kind = "gaussian"
noise_multiplier = 1.0
"""
SLIP = "import math\nsigma = math.sqrt(2 * math.log(1.25 / delta)) / epsilon  # differential privacy\n"

FILES = "dpcert.proofs_checks.verification.files"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One claim that holds, one that does not, one that cannot be read, and a script with a slip."""
    (tmp_path / "claims").mkdir()
    (tmp_path / "claims" / "good.claim.toml").write_text(CLAIM.format(epsilon="6.0"))
    (tmp_path / "claims" / "low.claim.toml").write_text(CLAIM.format(epsilon="1.0"))
    (tmp_path / "claims" / "bad.claim.toml").write_text(CLAIM.format(epsilon="nan"))
    (tmp_path / "train.py").write_text(SLIP)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def output(arguments: list[str], code: int, capsys: pytest.CaptureFixture[str]) -> str:
    assert run(arguments) == code
    return capsys.readouterr().out


def test_junit(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    suite = ElementTree.fromstring(output(["verify", "claims", "--format", "junit"], 2, capsys)).find("testsuite")
    assert suite is not None
    assert [suite.get(name) for name in ("tests", "failures", "errors")] == ["3", "1", "1"]
    told = {case.get("file"): [(child.tag, child.get("type")) for child in case] for case in suite}
    assert told == {
        "claims/good.claim.toml": [],
        "claims/low.claim.toml": [("failure", "refuted")],
        "claims/bad.claim.toml": [("error", "bad-input")],
    }


def test_sarif(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (ran,) = json.loads(output(["verify", "claims", "--format", "sarif"], 2, capsys))["runs"]
    found = {(r["ruleId"], r["level"]): r["locations"][0]["physicalLocation"] for r in ran["results"]}
    assert found["refuted", "error"] == {
        "artifactLocation": {"uri": "claims/low.claim.toml"},
        "region": {"startLine": 5},
    }
    assert found["bad-input", "error"]["artifactLocation"]["uri"] == "claims/bad.claim.toml"
    assert {rule["id"] for rule in ran["tool"]["driver"]["rules"]} == {rule for rule, _ in found}


def test_github(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = output(["verify", "claims", "--format", "github"], 2, capsys).splitlines()
    refuted = next(line for line in lines if "refuted" in line)
    assert refuted.startswith(
        "::error file=claims/low.claim.toml,line=5,title=dpcert%3A refuted::a | claim, 100%25 <sure>:"
    )
    assert any(line.startswith("::error file=claims/bad.claim.toml,line=5,") for line in lines)
    assert not any("good.claim" in line for line in lines)


def test_markdown(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = output(["verify", "claims", "--format", "markdown"], 2, capsys).splitlines()
    assert lines[-1] == "1 hold, 1 refuted, 0 undecided, 1 not readable"
    rows = [re.split(r"(?<!\\)\|", line) for line in lines if line.startswith("|")]
    assert {len(row) for row in rows} == {7}, "a bar in a title starts no column"
    assert rows[2][1].strip() == r"a \| claim, 100% \<sure\>"


@pytest.mark.parametrize("form", ["sarif", "github"])
def test_lint(form: str, repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = output(["lint", "train.py", "--format", form], 1, capsys)
    if form == "sarif":
        (result,) = json.loads(text)["runs"][0]["results"]
        assert result["ruleId"] == "gaussian-formula"
        assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == 2
    else:
        assert text.startswith("::warning file=train.py,line=2,col=")
        assert "title=dpcert%3A gaussian-formula::" in text


def test_jobs_change_nothing(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def told(jobs: str) -> object:
        document = json.loads(output(["verify", "claims", "--json", "--jobs", jobs], 2, capsys))
        return [{**claim, "seconds": 0} for claim in document["claims"]], document["errors"]

    assert told("2") == told("1")


@pytest.mark.skipif(multiprocessing.get_start_method() != "fork", reason="the fault is planted by forking")
def test_a_worker_that_is_killed_is_told(
    repository: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"{FILES}.verify_claim", lambda *_, **__: os._exit(9))
    document = json.loads(output(["verify", "claims", "--json", "--jobs", "2"], 2, capsys))
    assert document["claims"] == []
    assert {error["field"] for error in document["errors"]} >= {"file"}
    assert len(document["errors"]) == 3


def test_kept_verdicts_are_those_that_were_reached(
    repository: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ["verify", "claims", "--json", "--cache", "kept"]
    first = output(asked, 2, capsys)
    assert len(list((repository / "kept").iterdir())) == 2
    assert os.environ["DPCERT_CACHE"] == "off", "as the suite has it: what runs later keeps nothing"
    monkeypatch.setattr(
        "dpcert.proofs_checks.verification.files.verify_claim", lambda claim: pytest.fail("judged again")
    )
    assert output(asked, 2, capsys) == first
    kept = next(file for file in (repository / "kept").iterdir() if '"refuted"' in file.read_text())
    kept.write_text(kept.read_text().replace('"refuted"', '"holds"', 1))
    monkeypatch.undo()
    monkeypatch.chdir(repository)
    changed = json.loads(output(asked, 2, capsys))
    assert [claim["verdict"] for claim in changed["claims"]] == ["holds", "refuted"], "a damaged file counts as missing"


def test_other_code_or_another_claim_is_judged_again(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dpcert.proofs_checks.verification import kept

    before = kept.key(b"a claim")
    assert kept.key(b"a claim ") != before
    monkeypatch.setattr(kept, "code", lambda: "other code")
    assert kept.key(b"a claim") != before


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--format", "junit", "--json"], "--format"),
        (["--format", "xml"], "--format"),
        (["--jobs", "-1"], "--jobs"),
        (["--cache", "kept", "--certificate", "there"], "--cache"),
        (["--cache", "train.py"], "--cache"),
    ],
)
def test_bad_options(options: list[str], named: str, repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["verify", "claims", *options]) == 2
    assert named in capsys.readouterr().err


def step(name: str, inputs: dict[str, str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run one step of action.yml as a runner would: its shell, its environment, the summary's file."""
    yaml = pytest.importorskip("yaml")
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    values = {key: str(given["default"]) for key, given in action["inputs"].items()} | inputs
    (found,) = (step for step in action["runs"]["steps"] if step["name"] == name)
    env = {
        key: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda m: values[m[1]], text) for key, text in found["env"].items()
    }
    assert found["shell"] == "bash"
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", found["run"]],
        cwd=folder,
        env={**os.environ, **env, "PATH": path, "GITHUB_STEP_SUMMARY": str(folder / "summary.md")},
        capture_output=True,
        text=True,
    )


@pytest.mark.nightly
@pytest.mark.slow
def test_the_action_judges_a_repository(repository: Path) -> None:
    (repository / "claims" / "bad.claim.toml").unlink()
    assert step("Install dpcert", {}, repository).returncode == 0
    done = step("Verify claims", {"claims": "claims", "sarif": "found.sarif"}, repository)
    assert done.returncode == 1
    assert "::error file=claims/low.claim.toml" in done.stdout
    assert "1 hold, 1 refuted" in (repository / "summary.md").read_text()
    assert json.loads((repository / "found.sarif").read_text())["version"] == "2.1.0"
    assert step("Lint", {"lint": "train.py"}, repository).returncode == 1
    (repository / "claims" / "low.claim.toml").unlink()
    assert step("Verify claims", {"claims": "claims"}, repository).returncode == 0


@pytest.mark.slow
@pytest.mark.nightly
def test_the_action_may_pass_what_is_undecided(repository: Path) -> None:
    bound = CLAIM.replace('kind = "gaussian"\nnoise_multiplier = 1.0', 'kind = "zcdp"\nrho = 0.5').format(epsilon="1.0")
    (repository / "bound.toml").write_text(bound)
    assert step("Verify claims", {"claims": "bound.toml"}, repository).returncode == 3
    assert step("Verify claims", {"claims": "bound.toml", "undecided": "pass"}, repository).returncode == 0


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_the_hooks_run_in_a_repository(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """pre-commit itself, with the manifest's hooks as local ones: nothing is installed or fetched."""
    yaml, pre_commit = pytest.importorskip("yaml"), pytest.importorskip("pre_commit")
    assert pre_commit
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert {hook["id"] for hook in hooks} == {"dpcert-lint", "dpcert-verify", "dpcert-check"}
    assert run(["verify", "claims/good.claim.toml", "--certificate", "."]) == 0
    (certificate,) = repository.glob("*.json")
    certificate.rename("good.certificate.json")
    capsys.readouterr()
    local = [{**hook, "language": "system"} for hook in hooks]
    (repository / ".pre-commit-config.yaml").write_text(yaml.safe_dump({"repos": [{"repo": "local", "hooks": local}]}))
    (repository / "claims" / "bad.claim.toml").unlink()
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = {**os.environ, "PATH": path, "PRE_COMMIT_HOME": str(repository / ".cache"), "GIT_CONFIG_GLOBAL": os.devnull}
    for command in (["init", "-q"], ["add", "-A"]):
        subprocess.run(["git", *command], cwd=repository, check=True, env=env)

    def ran(hook: str) -> tuple[bool, str]:
        command = [sys.executable, "-m", "pre_commit", "run", hook, "--all-files", "--color", "never"]
        done = subprocess.run(command, cwd=repository, env=env, capture_output=True, text=True)
        assert "no files to check" not in done.stdout
        return done.returncode == 0, done.stdout

    passed, told = ran("dpcert-lint")
    assert not passed
    assert "gaussian-formula" in told
    passed, told = ran("dpcert-verify")
    assert not passed
    assert "refuted" in told
    assert ran("dpcert-check")[0]
