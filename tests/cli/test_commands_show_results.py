"""Every command prints what the library's result says of itself, and as JSON the same data."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import dpcert
from dpcert import Gaussian, Laplace, Poisson, Repeat
from dpcert.accounting.calibration.plan import plan
from dpcert.accounting.calibration.plan_schemes import plan_schemes
from dpcert.accounting.currencies.allowance import largest
from dpcert.accounting.currencies.convert import Asked as Asks
from dpcert.accounting.currencies.convert import Conversions, convert_composed
from dpcert.accounting.ledger import Ledger
from dpcert.accounting.ledger.contents import contents, whole
from dpcert.adapters.opacus_checkpoint import imported
from dpcert.cli import COMMANDS, run
from dpcert.mechanisms.digits import jsonable
from dpcert.presentation.output import show
from dpcert.proofs_checks.auditing import approximate_dp
from dpcert.proofs_checks.auditing.attack import attack
from dpcert.proofs_checks.auditing.target import load
from dpcert.proofs_checks.certificates.recheck import recheck
from dpcert.proofs_checks.claims.currency import Against, Rho
from dpcert.proofs_checks.claims.draft import drafted
from dpcert.proofs_checks.claims.targets import calibrate_currency
from dpcert.proofs_checks.lint import lint
from dpcert.proofs_checks.papers import register
from dpcert.proofs_checks.papers.judging import judge_all
from dpcert.proofs_checks.proving.refutation import EXACT_NOISE, Examined
from dpcert.proofs_checks.registry.importing import imported_files
from dpcert.proofs_checks.schedules.logged import audited
from dpcert.proofs_checks.suites import read, run_suite
from dpcert.proofs_checks.verification.files import Asked, verify_files

RUN = Repeat(Poisson(Gaussian(1.1), 0.01), 100)
STATED = {"noise_multiplier", "sampling_rate", "rounds"}
"""What a run's options say, which the document repeats."""
SAMPLED = "--noise-multiplier 1.1 --sampling poisson --sampling-rate 0.01 --rounds 100"
TEN = "--rounds 10 --solve-for noise-multiplier"
PLACES: dict[Any, dict[str, Any]] = {"epsilon": {"delta": 1e-5}, "delta": {"epsilon": 1.0}, "tpr": {"fpr": 0.01}}
"""Where `convert` shows what needs a place, without being asked."""
SMALL = "synthetic:related,population=8,samples=10"
TASKS = "synthetic:mean,tasks=3,samples=8,dimension=2"
ROW = "pmtl-t7-step"

FILES = {
    "claim.toml": """[claim]
title = "Ten rounds"
neighbouring = "add-remove"
epsilon = 1.0
delta = 1e-5
[mechanism]
kind = "gaussian"
noise_multiplier = 2.0
[composition]
rounds = 10
""",
    "private.py": """def noisy(dataset, rng, size):
    return sum(dataset) + rng.laplace(0.0, 2.0, size)
def noisy_sum(dataset, rng):
    return dataset.sum() + rng.laplace(0.0, 1.0)
noisy.pair = ([0.0], [1.0])
""",
    "script.py": "import torch\noptimizer.step()\ndelta = 1 / len(train_loader)\n",
    "checkpoint.json": json.dumps({"mechanism": "rdp", "history": [[1.1, 0.01, 100]]}),
    "log.json": json.dumps(
        {"population": 4, "sampling": {"scheme": "poisson", "sampling_rate": 0.5}, "rounds": [[0, 1], [2], [1, 3]]}
    ),
    "manifest.toml": """[library]
name = "numpy"
[defaults]
trials = 300
setup = '''
def noisy(data, scale, rng):
    return float(np.sum(data)) + rng.laplace(0, scale)
'''
[[mechanism]]
name = "sum"
call = "noisy(data, 1.0, rng)"
epsilon = 1.0
""",
    "entry.yaml": "url_slug: counts\nstatus: Draft\ntier: 3\ndeployment: {}\n",
    "model.bin": "weights",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("shown")
    for name, text in FILES.items():
        (place / name).write_text(text)
    Ledger(place / "ledger.sqlite").record(RUN)
    dpcert.verify(place / "claim.toml", certificates=place, certificate_name="certificate")
    return place


def ten(noise_multiplier: float) -> Repeat:
    return Repeat(Gaussian(noise_multiplier), 10)


def target(place: Path, name: str) -> Any:
    """The function of a file, as `dpcert prove` takes it."""
    return load(str(place / name), "([0.0], [1.0])")


def trained() -> Any:
    from dpcert.trainers.federated import DpFedAvg, LocalSteps, Settings, Trainer, load_federation
    from dpcert.trainers.training import train

    local = LocalSteps(0.1, 1, None, 10)
    settings = Settings(rounds=2, cohort=4, noise_multiplier=2.0, clip_norm=1.0, seed=0, local=local)
    return train(Trainer(load_federation(SMALL, seed=0), DpFedAvg(), settings=settings))


def certified(place: Path) -> Any:
    from dpcert.attest import attest

    return attest(place / "claim.toml", [place / "model.bin"])


def attacked() -> Any:
    from dpcert.proofs_checks.auditing.federated import FederatedCanaries
    from dpcert.trainers.federated import DpFedAvg, PrivacyGoal, Settings, load_federation

    settings = Settings(3, 4, noise_multiplier=1.0, clip_norm=1.0, seed=0, sampling="fixed-size")
    canaries = FederatedCanaries(load_federation(SMALL, seed=0), DpFedAvg(), settings, goal=PrivacyGoal(1e-5))
    found = dpcert.audit_trainer(canaries, runs=3, canaries=2, max_seconds=60)
    told = {"algorithm": "dp-fedavg", "data": SMALL, "model": "logistic", "rounds": 3, "view": "coalition"}
    return replace(found, trainer="dp-fedavg, 3 rounds, attacked by all other clients", told=told)


def solved() -> Any:
    from dpcert.trainers.mocha.omegas import Given, omega_of
    from dpcert.trainers.mocha.source import load_problem
    from dpcert.trainers.mocha.trainer import MochaTrainer
    from dpcert.trainers.mocha.work import NodeWork

    problem, omega = load_problem(TASKS, None, 0), omega_of("mean-regularised", Given("1", 0.1, None, None))
    work = NodeWork.of("passes=1", None, problem.train.count)
    about = {"loss": "hinge", "omega": "mean-regularised", "lambda": 1.0, "work": "passes=1", "drop": None}
    return MochaTrainer("mocha", problem, "hinge", omega, 1.0, work, seed=0, told=about).solve(5)


def sizes() -> Any:
    from dpcert.trainers.experiments.sizes import mocha_sizes

    return mocha_sizes("mocha-sizes", TASKS, None, 0)


def statistics() -> Any:
    from dpcert.trainers.experiments.sizes import dpfedmtl_sizes

    return dpfedmtl_sizes("dpfedmtl-table1", SMALL, 0)


def finetuned(place: Path) -> Any:
    from dpcert.cli.experiment import Federated
    from dpcert.cli.experiment_run import _base
    from dpcert.trainers.experiments.presets import PRESETS
    from dpcert.trainers.experiments.report import run_grid

    base = replace(_base("rounds", Federated(data=SMALL, cohort=4)), rounds=2)
    return run_grid("rounds", PRESETS["rounds"](base, range(1), []), place / "rounds")


SHOWN: dict[str, tuple[Any, set[str]]] = {
    "verify claim.toml": (lambda _: verify_files([Path("claim.toml")], Asked()), set()),
    "verify claim.toml --compare": (lambda _: verify_files([Path("claim.toml")], Asked()).compared(), set()),
    f"epsilon --delta 1e-5 {SAMPLED}": (lambda _: dpcert.epsilon(RUN, 1e-5), STATED),
    f"epsilon --delta 1e-5 {SAMPLED} --accountant gdp-clt": (
        lambda _: dpcert.epsilon(RUN, 1e-5, accountant="gdp-clt"),
        STATED,
    ),
    "epsilon --delta 1e-6 --rho 0.1 --rounds 3": (
        lambda _: convert_composed("rho", 0.1, 3, "epsilon", delta=1e-6),
        set(),
    ),
    f"delta --epsilon 2 {SAMPLED} --notion joint": (lambda _: dpcert.delta(RUN, 2.0, notion="joint"), STATED),
    f"calibrate --epsilon 1 --delta 1e-5 {TEN}": (
        lambda _: dpcert.calibrate(ten, solve_for="noise_multiplier", epsilon=1.0, delta=1e-5),
        {"notion", "neighbouring", "sampling", *STATED} - {"sampling_rate"},
    ),
    f"calibrate --tpr 0.1 --fpr 0.01 {TEN}": (
        lambda _: dpcert.calibrate_risk(ten, solve_for="noise_multiplier", tpr=0.1, fpr=0.01),
        {"notion", "neighbouring", "sampling", *STATED} - {"sampling_rate"},
    ),
    f"calibrate --rho 0.25 {TEN}": (
        lambda _: calibrate_currency(
            ten, Rho(0.25), Against("add-remove", "dp", None, 1e-4), solve_for="noise_multiplier"
        ),
        {"notion", "neighbouring", "sampling", *STATED} - {"sampling_rate"},
    ),
    "calibrate --epsilon 3 --delta 1e-5 --solve-for rho": (lambda _: largest("rho", 3.0, 1e-5), set()),
    "plan --population 1000 --rounds 10 --delta 1e-5 --epsilons 1 --cohorts 10,100": (
        lambda _: plan(population=1000, rounds=10, cohorts=[10, 100], target_epsilons=[1.0], delta=1e-5),
        set(),
    ),
    "plan --population 100 --batch-size 10 --epochs 1 --delta 1e-5 --epsilons 1 --schemes poisson": (
        lambda _: plan_schemes(
            population=100, batch_size=10, epochs=1, delta=1e-5, target_epsilons=[1.0], schemes=["poisson"]
        ),
        set(),
    ),
    "accuracy --mechanism laplace --noise-multiplier 2": (lambda _: dpcert.accuracy(Laplace(2.0)), set()),
    "convert --rho 0.5 --to epsilon --delta 1e-5": (
        lambda _: dpcert.convert("rho", 0.5, "epsilon", delta=1e-5),
        set(),
    ),
    "convert --mu 0.5": (
        lambda _: Conversions(tuple(dpcert.convert("mu", 0.5, to, **PLACES.get(to, {})) for to in Asks)),
        set(),
    ),
    f"risk {SAMPLED} --fpr 1e-2": (lambda _: dpcert.risk(RUN, false_positive_rates=[1e-2]), set()),
    "audit private.py:noisy --epsilon 1 --trials 500": (
        lambda place: attack(
            load("private.py:noisy"), approximate_dp(1.0, 0.0), trials=500, alpha=0.01, max_seconds=60
        ),
        set(),
    ),
    "audit --schedule log.json": (lambda _: audited(Path("log.json"), 0.01), set()),
    "audit-suite manifest.toml": (
        lambda _: replace(run_suite(read(Path("manifest.toml"))), manifest="manifest.toml"),
        set(),
    ),
    f"audit-training dp-fedavg --data {SMALL} --sampling fixed-size --cohort 4 --runs 3 --canaries 2 --quiet": (
        lambda _: attacked(),
        set(),
    ),
    "prove private.py:noisy_sum --epsilon 1 --exact-noise": (
        lambda place: Examined(
            dpcert.prove(target(place, "private.py:noisy_sum").mechanism, epsilon=1.0, low=0, high=1),
            None,
            mechanism="private.py:noisy_sum",
            exact_noise=EXACT_NOISE,
        ),
        set(),
    ),
    "explain claim.toml": (lambda _: dpcert.explain(Path("claim.toml")), set()),
    "explain claim.toml --all": (lambda _: replace(dpcert.explain(Path("claim.toml")), everything=True), set()),
    "check certificate.json": (lambda _: recheck([Path("certificate.json")]), set()),
    "check certificate.json certificate.json": (lambda _: recheck([Path("certificate.json")] * 2), set()),
    "attest claim.toml --subject model.bin --out a.intoto.jsonl": (certified, set()),
    "ledger check ledger.sqlite": (lambda _: whole(Path("ledger.sqlite")), set()),
    "ledger show ledger.sqlite --delta 1e-5": (lambda _: contents(Path("ledger.sqlite"), 1e-5), set()),
    "ledger import checkpoint.json --delta 1e-5": (lambda _: imported(Path("checkpoint.json"), 1e-5), set()),
    "registry import entry.yaml --into claims": (lambda _: imported_files([Path("entry.yaml")]), set()),
    "lint script.py": (lambda _: lint(["script.py"]), set()),
    f"papers --only {ROW} --jobs 1": (
        lambda _: replace(judge_all(register(None, ROW, None), None, 1, lambda *_: None), in_full=True),
        set(),
    ),
    f"train dp-fedavg --data {SMALL} --rounds 2 --cohort 4 --noise-multiplier 2 --clip-norm 1 --seed 0 --quiet": (
        lambda _: trained(),
        set(),
    ),
    f"mocha mocha --data {TASKS} --rounds 5 --seed 0 --quiet": (lambda _: solved(), set()),
    f"experiment mocha-sizes --data {TASKS}": (lambda _: sizes(), set()),
    f"experiment dpfedmtl-table1 --data {SMALL}": (lambda _: statistics(), set()),
    f"experiment rounds --data {SMALL} --cohort 4 --rounds 2 --seeds 1 --out rounds --quiet": (
        lambda _: finetuned(Path()),
        set(),
    ),
}
"""What is typed, the result that the library gives, and the keys that the document has beside it."""


def plain(text: str) -> str:
    """Without what time it took, and without what depends on how many digits that has."""
    timed = re.sub(r"\d[\d.e+-]* s\b", "_ s", text)
    return re.sub(r"(?m)[ ─]+|\d+\.\d$", " ", timed).strip()


def untimed(document: Any) -> Any:
    if isinstance(document, dict):
        return {key: untimed(value) for key, value in document.items() if key not in ("seconds", "date")}
    return [untimed(value) for value in document] if isinstance(document, list) else document


def test_every_command_is_compared() -> None:
    assert {typed.partition(" ")[0] for typed in [*SHOWN, "new"]} == set(COMMANDS)  # `new` has a test of its own


LONG = ("audit-suite", "audit-training", "experiment rounds")
"""By night: each is run three times."""


@pytest.mark.parametrize(
    "typed", [pytest.param(typed, marks=[pytest.mark.nightly] * typed.startswith(LONG)) for typed in SHOWN]
)
def test_a_command_shows_the_library_s_result(
    typed: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "path", [*sys.path, str(folder)])
    monkeypatch.delenv("COLUMNS", raising=False)
    result, beside = SHOWN[typed]
    codes = (2,) if typed.startswith("registry") else (0, 1, 3, 4)  # that entry is off the schema
    assert run(typed.split()) in codes
    said = capsys.readouterr()
    found = result(folder)
    printed = said.out + (said.err if typed.startswith("lint") else "")
    assert plain(printed) == plain(str(found))
    capsys.readouterr()
    assert run([*typed.split(), "--json"]) in codes
    document = untimed(json.loads(capsys.readouterr().out))
    told = untimed(json.loads(json.dumps(jsonable(found.to_json()))))
    assert {key: value for key, value in document.items() if key not in beside} == {
        key: value for key, value in told.items() if key not in beside
    }


def test_a_verdict_is_the_whole_of_what_verify_prints(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["verify", str(folder / "claim.toml")]) == 1
    found = dpcert.verify(folder / "claim.toml")
    assert plain(capsys.readouterr().out) == plain(str(found))
    assert run(["verify", str(folder / "claim.toml"), "--json"]) == 1
    (entry,) = json.loads(capsys.readouterr().out)["claims"]
    assert untimed(entry)["certified"] == found.to_json()["certified"]
    assert set(entry) == set(found.to_json())


def test_a_new_claim_is_the_library_s_draft(capsys: pytest.CaptureFixture[str]) -> None:
    stated = {"title": "Ours", "epsilon": "3", "delta": "1e-5", "unit": "example", "notion": "dp"}
    given = "--title Ours --epsilon 3 --noise-multiplier 1.1 --rounds 1000"
    assert run(["new", *given.split()]) == 0
    noise = {"kind": "gaussian", "noise_multiplier": "1.1"}
    tables = {"claim": stated, "mechanism": noise, "sampling": {"scheme": "none"}, "composition": {"rounds": "1000"}}
    assert capsys.readouterr().out == str(drafted(tables))


def test_words_have_colours_on_a_terminal_alone(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of verdicts, and of the statuses of the papers' rows; in a result's own words there are none."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    judged = judge_all(register(None, ROW, None), None, 1, lambda *_: None)
    assert run(["verify", str(folder / "claim.toml")]) == 1
    assert "\x1b[" not in capsys.readouterr().out
    assert "\x1b[" not in str(judged)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert run(["verify", str(folder / "claim.toml")]) == 1
    assert re.search(r"\x1b\[1;31mrefuted", capsys.readouterr().out)
    show(judged, as_json=False)
    assert re.search(r"\x1b\[1;3[0-9]m(holds|false|left open)", capsys.readouterr().out)


def test_a_notebook_s_console_takes_no_words_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: there rich would show the table itself, and give nothing back."""
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    assert "true-positive rate" in str(dpcert.risk(Gaussian(2.0), false_positive_rates=[0.01]))
