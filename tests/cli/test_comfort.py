"""Small comforts of the command line: completion, guesses for misspelt values, and a start-up that loads little."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from dpcert.cli import COMMANDS, run


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("dpcert ver", {"verify"}),
        ("dpcert ", set(COMMANDS)),
        ("dpcert epsilon --sampl", {"--sampling", "--sampling-rate"}),
        ("dpcert epsilon --sampling f", {"fixed-size"}),
        ("dpcert epsilon --neighbouring ", {"add-remove", "replace-one", "zero-out"}),
        ("dpcert epsilon --accountant con", {"contour"}),
        ("dpcert delta --mechanism discrete", {"discrete-gaussian", "discrete-laplace"}),
        ("dpcert calibrate --solve-for noise-s", {"noise-std"}),
        ("dpcert ledger ex", {"export"}),
    ],
)
def test_the_shell_completes(
    typed: str, offered: set[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("_DPCERT_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", typed)
    monkeypatch.setenv("COMP_CWORD", str(len(typed.split(" ")) - 1))
    with pytest.raises(SystemExit):
        run([])
    assert set(capsys.readouterr().out.split()) == offered


GAUSSIAN = ["--delta", "1e-5", "--noise-multiplier", "1"]
TARGET = ["calibrate", "--epsilon", "1", "--delta", "1e-5"]


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (["epsilon", *GAUSSIAN, "--sampling", "poison"], "poisson"),
        (["epsilon", *GAUSSIAN, "--neighbouring", "add_remov"], "add-remove"),
        (["epsilon", *GAUSSIAN, "--notion", "bilboard"], "billboard"),
        (["epsilon", *GAUSSIAN, "--participation", "visble"], "visible"),
        (["epsilon", *GAUSSIAN, "--accountant", "contur"], "contour"),
        (["epsilon", *GAUSSIAN, "--mechanism", "laplce"], "laplace"),
        ([*TARGET, "--solve-for", "noise-multiplyer"], "noise-multiplier"),
        (["verify", "--format", "jsn", "claim.toml"], "json"),
        (["train", "pmlt"], "pmtl"),
        (["mocha", "mocha", "--loss", "hinje"], "hinge"),
        (["convert", "--mu", "1", "--to", "epsilom"], "epsilon"),
        (["papers", "--paper", "pmlt"], "pmtl"),
        (["epsilon", *GAUSSIAN, "--accountant", "rpd"], "rdp"),
        (["ledger", "chek"], "check"),
        (["registry", "imprt"], "import"),
        (["epsilon", "--deltas", "1"], "--delta"),
    ],
)
def test_misspelt_values_are_guessed(arguments: list[str], meant: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments) == 2
    assert f"(did you mean {meant}?)" in capsys.readouterr().err


def test_a_bad_guess_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    """What options have in common, their dashes, is no likeness."""
    assert run(["new", "--json"]) == 2
    assert "did you mean" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "named", "choices"),
    [
        (["epsilon"], "--delta and --noise-multiplier are required", "."),
        (
            ["epsilon", "--sampling", "poisson"],
            "--delta, --noise-multiplier and --sampling-rate are required",
            "or population and",
        ),
        (
            ["delta", "--mechanism", "skellam"],
            "--epsilon, --set variance, --set clip and --set dimension are required",
            ".",
        ),
        (["epsilon", "--delta", "1e-5", "--noise-std", "1"], "--clip-norm is required.", ""),
        (["calibrate"], "--epsilon, --delta and --solve-for are required", "one of noise-multiplier, "),
        (
            ["calibrate", "--rounds", "9"],
            "--epsilon, --delta and --solve-for are required",
            "which needs no value itself",
        ),
        (
            ["calibrate", "--tpr", ".1", "--rounds", "9"],
            "--fpr and --solve-for are required",
            "one of noise-multiplier, ",
        ),
        (
            ["calibrate", "--solve-for", "noise-multiplier", "--sampling", "fixed-size"],
            "--epsilon, --delta, --population and --cohort are required",
            "with scheme = 'fixed-size'",
        ),
        (
            ["calibrate", "--solve-for", "rounds", "--epsilon", "3"],
            "--delta and --noise-multiplier are required",
            ".",
        ),
        (["convert"], "--rho is required", "you may give --mu, --epsilon or --renyi"),
        (["convert", "--to", "tpr"], "--rho and --fpr are required", "you may give --mu, --epsilon or --renyi"),
        (["audit"], "MODULE:CALLABLE and --epsilon are required", "(with --delta), --mu"),
        (["train"], "ALGORITHM is required", "one of pmtl, "),
        (["audit-training"], "ALGORITHM is required", "one of pmtl, "),
        (["verify"], "CLAIM.toml is required", "claim files, folders of them"),
        (["plan"], "--population, --rounds and --delta are required", "."),
        (["plan", "--schemes", "all"], "--population, --batch-size, --epochs and --delta are required", "."),
    ],
)
def test_all_missing_options_are_told_at_once_with_the_choices(
    arguments: list[str], named: str, choices: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 2
    (said,) = capsys.readouterr().err.splitlines()
    assert said.startswith("error: ")
    assert named in said
    assert choices in said


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        (
            '[claim]\ntitle = "x"\n[mechanism]\nkind = "gaussian"\n[sampling]\nscheme = "fixed-size"\n',
            "claim.neighbouring, claim.epsilon, claim.delta, mechanism.noise_multiplier, "
            "sampling.population and sampling.cohort are required",
        ),
        ("[claim]\nepsilon = 1.0\n", "claim.title, claim.neighbouring, claim.delta and mechanism are required"),
        ('[claim]\ntitle = "x"\nneighbouring = "add-remove"\nrho = 1.0\n', "mechanism is required"),
        (
            '[claim]\ntitle = "x"\nneighbouring = "add-remove"\nrho = 1.0\n'
            '[[phase]]\n[phase.mechanism]\nkind = "laplace"\n[[phase]]\n[phase.composition]\nrounds = 3\n',
            "phase.0.mechanism.noise_multiplier and phase.1.mechanism are required",
        ),
    ],
)
def test_all_missing_keys_of_a_claim_are_told_at_once(
    text: str, missing: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "claim.toml").write_text(text)
    assert run(["verify", str(tmp_path / "claim.toml")]) == 2
    said = capsys.readouterr().err
    assert missing in said
    assert ("neighbouring: one of add-remove, replace-one, zero-out" in said) == ("neighbouring" in missing)


CLAIM = """
[claim]
title = "ten rounds"
neighbouring = "add-remove"
epsilon = 1.0
delta = 1e-5
[mechanism]
kind = "gaussian"
noise_multiplier = 1.0
[sampling]
scheme = "poisson"
sampling_rate = 0.01
"""


@pytest.mark.parametrize(
    ("written", "wrong", "meant"),
    [('scheme = "poisson"', 'scheme = "poison"', "poisson"), ('"add-remove"', '"add-remov"', "add-remove")],
)
def test_misspelt_values_of_claims_are_guessed(
    written: str, wrong: str, meant: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert written in CLAIM
    (tmp_path / "claim.toml").write_text(CLAIM.replace(written, wrong))
    assert run(["verify", str(tmp_path / "claim.toml")]) == 2
    assert f"(did you mean {meant}?)" in capsys.readouterr().err


def loaded_by(*arguments: str) -> set[str]:
    """The modules that are there when the command has run."""
    script = "import sys; from dpcert.cli import run; run(sys.argv[1:]); print('|', *sys.modules)"
    done = subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=True)
    return set(done.stdout.rpartition("|")[2].split())


def test_help_loads_no_numerics() -> None:
    """No test reads the clock: what takes the time is what is imported."""
    heavy = {"numpy", "scipy", "flint", "mpmath", "pydantic", "torch", "jinja2", "matplotlib"}
    assert loaded_by("--help") & heavy == set()


def test_epsilon_loads_what_it_needs() -> None:
    found = loaded_by("epsilon", *GAUSSIAN, "--rounds", "100", "--sampling", "poisson", "--sampling-rate", "0.01")
    heavy = {"scipy.optimize", "scipy.stats", "scipy.interpolate", "scipy.fft", "torch", "sklearn", "z3", "jinja2"}
    assert found & (heavy | {"matplotlib", "hypothesis", "pytest", "dp_accounting", "pandas", "sympy"}) == set()
    assert not any(name.startswith(("dpcert.proofs_checks", "dpcert.trainers")) for name in found)
