"""dpcert new: a commented claim file, from options or by asking; what it writes is what verify reads."""

from __future__ import annotations

import io
import tomllib
from pathlib import Path

import pytest

from dpcert.cli import run
from dpcert.mechanisms import Gaussian, Poisson, Repeat
from dpcert.mechanisms.tables.cohort import SYNONYMS, CompositionTable, SamplingTable
from dpcert.mechanisms.tables.kinds import KINDS
from dpcert.mechanisms.tables.scheme import Scheme
from dpcert.proofs_checks.claims.claim import load_claim, parse_claim
from dpcert.proofs_checks.claims.draft import NEEDED_BY_SCHEME, TABLES, meaning
from dpcert.proofs_checks.claims.statement import Statement

PLAIN = ["--title", "2024", "--epsilon", "6.50", "--noise-multiplier", "1.0", "--rounds", "7"]


class Terminal(io.StringIO):
    """Somebody who types these lines."""

    def isatty(self) -> bool:
        return True


def test_from_options(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "ours.toml"
    assert run(["new", str(file), *PLAIN, "--sampling", "poisson", "--sampling-rate", "a few"]) == 2
    assert "--sampling-rate" in capsys.readouterr().err
    assert not file.exists()
    assert run(["new", str(file), *PLAIN, "--sampling", "poisson", "--sampling-rate", "0.01"]) == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert f"dpcert verify {file}" in err
    read = load_claim(file)
    assert read.run == Repeat(Poisson(Gaussian(1.0), 0.01), 7)
    assert (read.statement.title, read.printed, read.statement.delta) == ("2024", "6.50", 1e-5)
    lines = file.read_text("utf-8").splitlines()
    assert lines[0].startswith("#:schema https://")
    settings = [line for line in lines if "=" in line and not line.startswith("#")]
    assert len(settings) > 8
    assert all(lines[lines.index(line) - 1].startswith("# ") for line in settings)  # what it means stands above it
    assert max(map(len, lines[1:])) <= 80
    assert run(["new", str(file), *PLAIN]) == 2  # nothing is overwritten
    assert "expected a new file" in capsys.readouterr().err


def test_to_standard_output_with_any_key(capsys: pytest.CaptureFixture[str]) -> None:
    more = ["--mechanism", "discrete-gaussian", "--set", "sigma=3", "--set", "composition.days=4"]
    where = ["--set", "claim.per=day", "--set", 'claim.assumed=["one", "two"]']
    assert run(["new", "--title", 'a "b"\nc', "--epsilon", "1", *more, *where]) == 0
    tables = tomllib.loads(capsys.readouterr().out)
    assert tables["mechanism"] == {"kind": "discrete-gaussian", "sigma": 3}
    assert tables["claim"]["assumed"] == ["one", "two"]
    assert parse_claim(tables).days == 4


def test_asking(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    typed = ["Ours", "3.0", "", "user", "", "", "laplace", "2.5", "fixed-size", "100", "10", "20"]
    monkeypatch.setattr("sys.stdin", Terminal("\n".join(typed) + "\n"))
    file = tmp_path / "asked.toml"
    assert run(["new", str(file)]) == 0
    tables = tomllib.loads(file.read_text("utf-8"))
    assert tables["claim"] == {
        "title": "Ours",
        "epsilon": 3.0,
        "delta": 1e-5,
        "unit": "user",
        "neighbouring": "add-remove",
        "notion": "dp",
    }
    assert tables["mechanism"] == {"kind": "laplace", "noise_multiplier": 2.5}
    assert tables["sampling"] == {"scheme": "fixed-size", "population": 100, "cohort": 10}
    assert tables["composition"] == {"rounds": 20}
    assert not capsys.readouterr().out.strip()


def test_an_answer_that_cannot_be_is_asked_for_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not told at the end, when everything else was typed."""
    first = ["Ours", "-3", "three", "3.0", "1", "1e-5", "", "nobody", "zero-out", "", "laplas", "laplace", "-1", "2.5"]
    monkeypatch.setattr("sys.stdin", Terminal("\n".join([*first, "poison", "poisson", "7", ".5", "1.5", "1e3"]) + "\n"))
    file = tmp_path / "asked.toml"
    assert run(["new", str(file)]) == 0
    said = [line for line in capsys.readouterr().err.splitlines() if "error: " in line]
    named = ("epsilon = -3", "epsilon = 'three'", "delta = 1:", "neighbouring = 'nobody'", "kind = 'laplas'")
    named += ("noise_multiplier = -1:", "scheme = 'poison'", "sampling_rate = 7:", "rounds = 1.5:")
    for each, line in zip(named, said, strict=True):
        assert each in line
    claim = load_claim(file)
    assert (claim.statement.neighbouring, claim.phases[0].sampling.rate, claim.phases[0].steps) == (
        "zero-out",
        0.5,
        1000,
    )


def test_what_is_missing_is_named_at_once(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert run(["new", "--sampling", "poisson"]) == 2
    assert "--title, --epsilon, --noise-multiplier and --sampling-rate are required" in capsys.readouterr().err
    assert run(["new", "--mechanism", "laplas"]) == 2
    assert "did you mean laplace?" in capsys.readouterr().err
    for wrong in ("sigma", "claim.sigma=3", "nowhere.sigma=3"):
        assert run(["new", *PLAIN, "--set", wrong]) == 2
        assert "--set" in capsys.readouterr().err
    assert run(["new", *PLAIN, "--set", "assumed="]) == 2
    assert "--set assumed= is empty. Give a value, assumed=VALUE, or leave it out." in capsys.readouterr().err
    assert run(["new", *PLAIN, "--set", "assumed=[one"]) == 2
    assert "expected a sentence, or a list of sentences" in capsys.readouterr().err
    assert run(["new", *PLAIN, "--population", "60000", "--batch-size", "256"]) == 2
    assert "--cohort needs --sampling, which says how cohorts are drawn: poisson" in capsys.readouterr().err


def test_a_key_says_its_table_and_a_list_grows(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        run(["new", *PLAIN, "--set", "assumed=one server", "--set", 'claim.assumed=["a", "b"]', "--set", "per=day"])
        == 0
    )
    claim = tomllib.loads(capsys.readouterr().out)["claim"]
    assert (claim["assumed"], claim["per"]) == (["one server", "a", "b"], "day")


def test_a_population_without_a_scheme_changes_nothing_and_says_so(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert run(["new", *PLAIN, "--population", "60000"]) == 0
    said = capsys.readouterr()
    assert tomllib.loads(said.out)["sampling"] == {"scheme": "none", "population": 60000}
    assert "--population changes nothing" in said.err


def test_a_rate_is_a_poisson_cohort_s(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert run(["new", *PLAIN, "--sampling-rate", "0.01"]) == 0
    said = capsys.readouterr()
    assert tomllib.loads(said.out)["sampling"] == {"scheme": "poisson", "sampling_rate": 0.01}
    assert "--sampling poisson" in said.err
    assert run(["new", *PLAIN, "--sampling", "shuffle", "--sampling-rate", "0.01"]) == 2


def test_every_key_has_its_words() -> None:
    """What the schema tells editors, and the comments here."""
    assert set(TABLES["claim"]) == set(Statement.model_fields)
    assert set(TABLES["sampling"]) == {*SamplingTable.model_fields, *SYNONYMS}
    assert set(TABLES["composition"]) == set(CompositionTable.model_fields)
    told = {
        (kind, key) for kind, table in KINDS.items() for key in table.model_fields if meaning("mechanism", key, kind)
    }
    assert told == {(kind, key) for kind, table in KINDS.items() for key in table.model_fields}
    assert set(TABLES["mechanism"]) <= {key for _, key in told}
    assert set(NEEDED_BY_SCHEME) == set(Scheme)


def test_numbers_without_their_zeros_are_numbers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, sampled = tmp_path / "claim.toml", ["--sampling", "poisson", "--sampling-rate", ".01", "--rounds", "5"]
    assert run(["new", str(file), "--title", ".5", "--epsilon", "3.", "--noise-multiplier", "1.1", *sampled]) == 0
    claim = load_claim(file)
    assert (claim.statement.title, claim.statement.epsilon, claim.phases[0].sampling.sampling_rate) == (".5", 3.0, 0.01)
    capsys.readouterr()
    assert run(["epsilon", "--delta", "1e-5", "--mechanism", "discrete-gaussian", "--set", "sigma=4."]) == 0


@pytest.mark.parametrize(
    ("options", "relation"),
    [
        (["--noise-multiplier", "1"], "add-remove"),
        (["--noise-multiplier", "1", "--sampling", "shuffle", "--population", "100", "--cohort", "30"], "replace-one"),
        (["--noise-multiplier", "1", "--sampling", "random-allocation", "--block", "10"], "add-remove"),
        (["--noise-multiplier", "1", "--notion", "joint", "--sampling", "fixed-size"], "replace-one"),
        (["--mechanism", "randomized-response", "--set", "flip_probability=.1"], "replace-one"),
        (["--mechanism", "per-client-gaussian", "--set", "noise_std=1", "--set", "clip_norm=1"], "replace-one"),
        (["--mechanism", "laplace", "--noise-multiplier", "9", "--norm", "l2", "--dimension", "4"], "add-remove"),
        (["--noise-multiplier", "3", "--sampling-rate", "1/10", "--releases", "10"], "add-remove"),
    ],
)
def test_what_is_written_can_be_judged(
    options: list[str], relation: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO())
    sizes = ["--population", "100", "--cohort", "10"] if "fixed-size" in options else []
    sizes = ["--population", "10"] if "per-client-gaussian" in options else sizes
    file = tmp_path / "new.toml"
    assert run(["new", str(file), "--title", "t", "--epsilon", "50", *options, *sizes]) == 0
    assert load_claim(file).statement.neighbouring == relation
    assert run(["verify", str(file)]) in (0, 1, 3)


def test_neighbours_without_a_meaning_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO())
    report = ["--mechanism", "randomized-response", "--set", "flip_probability=.1", "--neighbouring", "add-remove"]
    assert run(["new", str(tmp_path / "new.toml"), "--title", "t", "--epsilon", "5", *report]) == 2
    assert not (tmp_path / "new.toml").exists()


@pytest.mark.parametrize("noise", [["skellam", "variance=3", "clip=1", "dimension=2"], ["zcdp", "rho=.1"]])
def test_an_error_names_no_neighbours_that_were_not_given(
    noise: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO())
    kind, *keys = noise
    sampling = ["poisson", "--sampling-rate", ".1"] if kind == "skellam" else ["shuffle", "--population", "9"]
    ran = ["--mechanism", kind, *(part for key in keys for part in ("--set", key)), "--sampling", *sampling]
    ran += [] if kind == "skellam" else ["--cohort", "3"]
    assert run(["new", "--title", "t", "--epsilon", "5", *ran]) == 2
    assert "neighbouring" not in capsys.readouterr().err
    assert run(["new", "--title", "t", "--epsilon", "5", *ran, "--neighbouring", "add-remove"]) == 2
    assert "--neighbouring" in capsys.readouterr().err
