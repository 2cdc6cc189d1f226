"""dpcert lint as a user meets it, and on files that nobody wrote for it."""

from __future__ import annotations

import json
import sysconfig
import warnings
from pathlib import Path

import pytest
from cases import many
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcert.cli import run
from dpcert.mechanisms import InputError
from dpcert.proofs_checks.lint import RULES, Script, lint

SLIP = "from opacus import PrivacyEngine\nif x:\n    é = 1; delta = 1 / len(train_loader)\n"
CLEAN = SLIP.replace("train_loader", "train_loader.dataset")


def folder_of(tmp_path: Path, **files: str | bytes) -> Path:
    for name, content in files.items():
        data = content if isinstance(content, bytes) else content.encode()
        (tmp_path / f"{name}.py").write_bytes(data)
    return tmp_path


def test_findings_are_one_line_each_with_place_rule_and_remedy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = folder_of(tmp_path, slip=SLIP) / "slip.py"
    assert run(["lint", str(path)]) == 1
    out = capsys.readouterr().out.splitlines()
    assert len(out) == 1
    column = SLIP.splitlines()[2].index("1 / len") + 1
    assert out[0].startswith(f"{path}:3:{column}: delta-from-batches: ")
    assert ". Fix: " in out[0]


def test_a_clean_folder_is_clean(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lint", str(folder_of(tmp_path, clean=CLEAN))]) == 0
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "findings: 0; files: 1\n"


NOTE = "noise_multiplier = 1.0\nimport random\ntotal = total + random.gauss(0, noise_multiplier)\n"


@pytest.mark.parametrize(("options", "code"), [([], 0), (["--strict"], 1)])
def test_notes_are_shown_and_fail_nothing_unless_asked(
    options: list[str], code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(folder_of(tmp_path, noise=NOTE) / "noise.py")
    assert run(["lint", path, *options]) == code
    captured = capsys.readouterr()
    assert captured.out.startswith(f"{path}:3:17: default-generator: note: ")
    assert captured.err == "findings: 0; notes: 1; files: 1\n"
    assert run(["lint", path, "--format", "sarif", *options]) == code
    (result,) = json.loads(capsys.readouterr().out)["runs"][0]["results"]
    assert result["level"] == "note"
    assert run(["lint", path, "--format", "github", *options]) == code
    assert capsys.readouterr().out.startswith("::notice ")


BAD = {
    "syntax": "def f(:\n",
    "utf8": b"name = '\xff\xfe'\n",
    "unknown_encoding": b"# coding: no-such-code\n",
    "not_text": b"# coding: hex\nx = 1\n",
    "null": b"x = 1\0\n",
    "deep": "(" * 5000 + ")" * 5000,
    "operators": "x = " + "-" * 200_000 + "1\n",
    "digits": "x = " + "9" * 5000 + "\n",
    "indent": "if x:\n        y\n    z\n",
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_bad_input_and_does_not_stop_the_others(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = folder_of(tmp_path, a_slip=SLIP, bad=BAD[name], z_slip=SLIP)
    assert run(["lint", str(folder), "--json"]) == 2
    captured = capsys.readouterr()
    document = json.loads(captured.out)
    assert [Path(found["path"]).name for found in document["findings"]] == ["a_slip.py", "z_slip.py"]
    assert [Path(bad["path"]).name for bad in document["bad_input"]] == ["bad.py"]
    assert captured.err.count("\n") == 1
    assert captured.err.startswith("error: path = ")


def test_a_missing_path_is_bad_input(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # a long path is cut in the message
    assert run(["lint", "absent.py", str(folder_of(tmp_path, slip=SLIP))]) == 2
    captured = capsys.readouterr()
    assert "absent.py" in captured.err
    assert "delta-from-batches" in captured.out


def test_json_is_one_document(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lint", str(folder_of(tmp_path, slip=SLIP, clean=CLEAN)), "--json"]) == 1
    captured = capsys.readouterr()
    document = json.loads(captured.out)
    assert document["files"] == 2
    assert document["bad_input"] == []
    assert document["findings"][0].keys() == {"path", "line", "column", "rule", "problem", "remedy", "cell", "level"}
    assert captured.err == ""


def test_a_file_named_twice_is_read_once_and_hidden_folders_are_left_out(tmp_path: Path) -> None:
    folder_of(tmp_path, slip=SLIP)
    for hidden in (".venv", "__pycache__"):
        (tmp_path / hidden).mkdir()
        folder_of(tmp_path / hidden, slip=SLIP)
    report = lint([tmp_path, tmp_path / "slip.py"])
    assert report.files == len(report.findings) == 1


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_encodings_and_line_ends_keep_the_place(newline: str) -> None:
    text = SLIP.replace("\n", newline)
    expected = SLIP.splitlines()[2].index("1 / len") + 1
    for source in (text.encode("utf-8-sig"), ("# coding: latin-1" + newline + text).encode("latin-1")):
        script = Script("s.py", source)
        assert script.about_privacy
        rule = next(rule for rule in RULES if rule.id == "delta-from-batches")
        ((node, _),) = rule.find(script)
        line, column = script.position(node)
        assert script.lines[line - 1][column - 1 :] == "1 / len(train_loader)"
        assert column == expected


def test_nothing_is_executed(tmp_path: Path) -> None:
    marker = tmp_path / "executed"
    lint([folder_of(tmp_path, evil=f"import opacus\nopen({str(marker)!r}, 'w')\n")])
    assert not marker.exists()


def every_rule_on(source: bytes, name: str) -> None:
    """Run all rules, also where the script is not about privacy; unreadable files may only raise InputError."""
    try:
        script = Script(name, source)
    except InputError:
        return
    for rule in RULES:
        for node, _ in rule.find(script):
            assert script.position(node) >= (1, 1)


def standard_library() -> list[Path]:
    """Its files, with its own tests, in a fixed order; installed packages left out."""
    files = sorted(Path(sysconfig.get_path("stdlib")).glob("**/*.py"))
    return [file for file in files if "site-packages" not in file.parts]


@pytest.mark.slow
def test_never_crashes_on_the_standard_library() -> None:
    """Every 12th file below 60 kB (the nightly twin reads them all)."""
    files = [file for file in standard_library() if file.stat().st_size < 60_000]
    assert len(files) > 300
    for file in files[::12]:
        every_rule_on(file.read_bytes(), file.name)


@pytest.mark.nightly
def test_never_crashes_on_any_file_of_the_standard_library() -> None:
    for file in standard_library():
        every_rule_on(file.read_bytes(), file.name)


FRAGMENTS = (
    "from opacus import PrivacyEngine",
    "delta = 1 / len(train_loader)",
    "train_loader = train_loader",
    "a.b = a.b = a",
    "a, *b = c = (lambda: a)",
    "for batch in train_loader:\n    clip_grad_norm_(a, 1); p.grad += torch.randn(3)",
    "def f(batch, *delta, **k): return delta / delta",
    "x = [g + normal() for g in grads if (g := x)]",
    "make_private(poisson_sampling=False, **k)",
    "compute_rdp(*a)",
    "DataLoader(*a, shuffle=True).shuffle().batch(len())",
    "{**a, 'delta': len(loader) ** -1}",
    "PoissonSampledDpEvent()(1)[2].get_epsilon(*x)",
    "with a as (b, c): del b",
    "match a:\n    case {'x': y}: sample_rate = batch_size / len(loader)",
)


@settings(max_examples=many(150), deadline=None, derandomize=True)
@given(st.lists(st.sampled_from(FRAGMENTS), max_size=8))
def test_never_crashes_on_mixed_fragments(lines: list[str]) -> None:
    every_rule_on("\n".join(lines).encode(), "mixed.py")


@settings(max_examples=many(150), deadline=None, derandomize=True)
@given(st.binary(max_size=60) | st.text(max_size=60).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_never_crashes_on_bytes(source: bytes) -> None:
    every_rule_on(source, "bytes.py")


def test_a_scripts_own_warnings_are_not_ours() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Script("escape.py", b"pattern = '\\d'\nx is 1\n")


@pytest.mark.parametrize("inside", [[], ["notes.md"], ["venv/script.py"]])
def test_a_folder_in_which_nothing_is_looked_at_is_not_clean(tmp_path, inside, capsys):
    """A path with a slip of the pen, in a pipeline, is not a check that found nothing."""
    for name in inside:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(SLIP)
    assert run(["lint", str(tmp_path)]) == 2
    assert "a folder with scripts (*.py) or notebooks (*.ipynb) in it" in capsys.readouterr().err
