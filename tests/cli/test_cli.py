"""The command line as a user meets it: exit codes, one JSON document, one line for each mistake."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path

import pytest
from cases import few

from dpcert.accounting import epsilon as epsilon_of
from dpcert.cli import COMMANDS, loaded, run
from dpcert.mechanisms import FixedSize, Gaussian, Poisson, Repeat, Sequence
from dpcert.mechanisms.digits import rounded_down, rounded_up
from dpcert.proofs_checks.claims.claim import Claim
from dpcert.proofs_checks.verification import files as verify_files

HOLDS = """
[claim]
title = "holds"
neighbouring = "add-remove"
epsilon = 6.0
delta = 1e-5
[mechanism]
kind = "gaussian"
noise_multiplier = 1.0
"""
REFUTED = HOLDS.replace("6.0", "1.0").replace('"holds"', '"refuted <&>"')
UNDECIDED = HOLDS.replace("6.0", "1e-9").replace(
    'kind = "gaussian"\nnoise_multiplier = 1.0', 'kind = "pure-dp"\nepsilon = 1.0'
)
MALFORMED = HOLDS.replace("6.0", "nan")


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    contents = {"holds": HOLDS, "refuted": REFUTED, "undecided": UNDECIDED, "malformed": MALFORMED}
    for name, text in contents.items():
        (tmp_path / f"{name}.toml").write_text(text)
    return {name: str(tmp_path / f"{name}.toml") for name in contents} | {"folder": str(tmp_path)}


@pytest.mark.parametrize(
    ("names", "code"),
    [
        (["holds"], 0),
        (["refuted"], 1),
        (["undecided"], 3),
        (["malformed"], 2),
        (["folder"], 2),
        (["holds", "undecided"], 3),
        (["undecided", "refuted", "holds"], 1),
        (["malformed", "refuted", "holds"], 2),
    ],
)
def test_verify_exit_codes(
    names: list[str], code: int, files: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["verify", *(files[name] for name in names)]) == code
    capsys.readouterr()


def test_a_malformed_claim_does_not_stop_the_others(files: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    paths = [files[name] for name in ("holds", "malformed", "refuted")]
    assert run(["verify", "--json", *paths]) == 2
    out, err = capsys.readouterr()
    document = json.loads(out)
    assert [(entry["file"], entry["verdict"]) for entry in document["claims"]] == [
        (files["holds"], "holds"),
        (files["refuted"], "refuted"),
    ]
    assert [entry["field"] for entry in document["errors"]] == ["claim.epsilon"]
    assert err.count("error:") == 1
    assert f"error: {files['malformed']}: claim.epsilon = nan: expected a finite number" in err


def test_a_claim_on_which_dpcert_fails_does_not_stop_the_others(
    files: dict[str, str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    right = verify_files.verify_claim

    def failing(claim: Claim, **options: object) -> object:
        if claim.file == files["refuted"]:
            raise MemoryError("too many nodes")
        return right(claim, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(verify_files, "verify_claim", failing)
    assert run(["verify", "--json", files["refuted"], files["holds"]]) == 2
    out, err = capsys.readouterr()
    document = json.loads(out)
    assert [entry["verdict"] for entry in document["claims"]] == ["holds"]
    assert [entry["field"] for entry in document["errors"]] == ["file"]
    assert "MemoryError too many nodes" in err


def test_json_is_the_only_thing_on_stdout_and_has_no_infinity(files: dict[str, str]) -> None:
    command = [sys.executable, "-m", "dpcert", "verify", "--json", files["holds"], files["undecided"]]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 3

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    claims = json.loads(done.stdout, parse_constant=refuse)["claims"]
    assert len(claims) == 2
    assert all(isinstance(entry["certified"]["epsilon_lower"], float) for entry in claims)
    assert "verifying" in done.stderr


def test_infinity_is_a_word(capsys: pytest.CaptureFixture[str]) -> None:
    from dpcert.presentation.output import show

    class Found:
        def to_json(self) -> dict[str, list[float]]:
            return {"a": [float("inf"), 1.5]}

    show(Found(), as_json=True)
    assert json.loads(capsys.readouterr().out) == {"a": ["inf", 1.5]}


def test_the_table_names_claim_number_interval_verdict_and_reason(
    files: dict[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "150")
    run(["verify", files["holds"], files["refuted"]])
    out = capsys.readouterr().out
    for word in (
        "claim",
        "printed",
        "certified interval",
        "verdict",
        "why",
        "refuted <&>",
        "4.377",
        "1 hold, 1 refuted",
    ):
        assert word in out


def test_places_to_write_to_are_checked_before_any_work(
    files: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    assert run(["verify", "--report", str(tmp_path / "no" / "r.html"), files["holds"]]) == 2
    assert run(["verify", "--certificate", str(tmp_path / "file"), files["holds"]]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("error:") == 2


GAUSSIAN = ["--noise-multiplier", "4", "--rounds", "16"]


def test_epsilon_and_delta_agree(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["epsilon", "--delta", "1e-5", *GAUSSIAN, "--json"]) == 0
    there = json.loads(capsys.readouterr().out)
    assert {"epsilon_lower", "epsilon_upper", "delta", "notion", "neighbouring", "sampling", "accountant"} <= set(there)
    assert there["certified"] is True
    assert there["epsilon_lower"] == pytest.approx(4.3771771, rel=1e-6)  # Balle, Wang 2018, mu = 1, delta = 1e-5
    assert run(["delta", "--epsilon", repr(there["epsilon_upper"]), *GAUSSIAN, "--json"]) == 0
    back = json.loads(capsys.readouterr().out)
    assert back["delta_lower"] <= 1e-5
    assert back["delta_upper"] == pytest.approx(1e-5, rel=1e-6)


def test_replace_one_doubles_the_move(capsys: pytest.CaptureFixture[str]) -> None:
    run(["epsilon", "--delta", "1e-5", "--noise-multiplier", "8", "--neighbouring", "replace-one", "--json"])
    twice = json.loads(capsys.readouterr().out)
    run(["epsilon", "--delta", "1e-5", "--noise-multiplier", "4", "--json"])
    once = json.loads(capsys.readouterr().out)
    assert twice["epsilon_upper"] == once["epsilon_upper"]


POISSON = ["--sampling", "poisson", "--neighbouring", "add-remove"]


@pytest.mark.parametrize(
    ("options", "solve_for", "worse"),
    [
        (["--rounds", "200", "--sampling-rate", "0.02"], "noise-multiplier", 1 - 1e-6),
        (["--noise-multiplier", "1", "--sampling-rate", "0.02"], "rounds", None),
        (["--noise-multiplier", "1", "--rounds", "200"], "sampling-rate", 1 + 1e-6),
    ],
)
def test_calibrated_values_meet_the_target_and_hardly_more(
    options: list[str], solve_for: str, worse: float | None, capsys: pytest.CaptureFixture[str]
) -> None:
    run(["calibrate", "--epsilon", "3", "--delta", "1e-6", "--solve-for", solve_for, *options, *POISSON, "--json"])
    found = json.loads(capsys.readouterr().out)
    for value, fits in ((found["value"], True), (found["value"] * worse if worse else found["value"] + 1, False)):
        asked = ["epsilon", "--delta", "1e-6"]
        run([*asked, *options, f"--{solve_for}", repr(value), *POISSON, "--json"])
        reached = json.loads(capsys.readouterr().out)
        assert (reached["epsilon_upper"] <= 3) is fits


FEDERATED = [
    "--sampling",
    "fixed-size",
    "--population",
    "205",
    "--neighbouring",
    "replace-one",
    "--notion",
    "billboard",
]


@pytest.mark.parametrize(
    ("options", "solve_for", "worse"),
    [
        (["--cohort", "100", "--rounds", "100", "--clip-norm", "0.2"], "noise-std", 1 - 1e-6),
        (["--cohort", "100", "--rounds", "100", "--noise-std", "0.01"], "clip-norm", 1 + 1e-6),
        (["--rounds", "100", "--noise-multiplier", "10"], "cohort", None),
    ],
)
def test_federated_settings_are_calibrated_as_they_are_stated(
    options: list[str], solve_for: str, worse: float | None, capsys: pytest.CaptureFixture[str]
) -> None:
    run(["calibrate", "--epsilon", "8", "--delta", "1e-4", "--solve-for", solve_for, *options, *FEDERATED, "--json"])
    found = json.loads(capsys.readouterr().out)
    for value, fits in ((found["value"], True), (found["value"] * worse if worse else found["value"] + 1, False)):
        run(["epsilon", "--delta", "1e-4", *options, f"--{solve_for}", repr(value), *FEDERATED, "--json"])
        assert (json.loads(capsys.readouterr().out)["epsilon_upper"] <= 8) is fits


SCHEDULE = """
[[phase]]
mechanism = { kind = "gaussian", noise_multiplier = 4.0 }
composition = { rounds = 50 }
[[phase]]
mechanism = { kind = "gaussian", noise_multiplier = 1.0 }
sampling = { scheme = "poisson", sampling_rate = 0.01 }
composition = { rounds = 2000 }
"""


def test_a_schedule_is_calibrated_as_a_whole(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "schedule.toml"
    file.write_text(SCHEDULE)
    target = ["calibrate", "--delta", "1e-5", "--schedule", str(file)]
    assert run([*target, "--epsilon", "3", "--solve-for", "noise-multiplier", "--json"]) == 0
    factor = json.loads(capsys.readouterr().out)["value"]

    def phases(scale: float, rounds: int) -> Sequence:
        last = Repeat(Poisson(Gaussian(1.0 * scale), 0.01), rounds)
        return Sequence((Repeat(Gaussian(4.0 * scale), 50), last))

    def spent(scale: float, rounds: int) -> float:
        return epsilon_of(phases(scale, rounds), 1e-5).upper

    assert spent(factor, 2000) <= 3 < spent(factor * (1 - 1e-6), 2000)
    assert run([*target, "--epsilon", "9", "--solve-for", "rounds", "--json"]) == 0
    rounds = json.loads(capsys.readouterr().out)["value"]
    assert spent(1.0, rounds) <= 9 < spent(1.0, rounds + 1)
    for wrong, named in ((["--rounds", "3"], "--rounds"), (["--solve-for", "noise-std"], "--solve-for")):
        assert run([*target, "--epsilon", "9", "--solve-for", "rounds", *wrong]) == 2
        assert f"error: {named} = " in capsys.readouterr().err
    file.write_text("[claim]\n")
    assert run([*target, "--epsilon", "9", "--solve-for", "rounds"]) == 2
    assert "phase" in capsys.readouterr().err


SCHEDULE_OF_COHORTS = """
[[phase]]
mechanism = { kind = "gaussian-mean", noise_std = 0.4, clip_norm = 1.0 }
sampling = { scheme = "fixed-size", population = 100, cohort = 10 }
composition = { rounds = 5 }

[[phase]]
mechanism = { kind = "gaussian", noise_multiplier = 2.0 }
sampling = { scheme = "poisson", population = 5000, cohort = 50 }
composition = { rounds = 200 }
"""


def test_a_schedule_s_last_cohort_and_its_clip(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "schedule.toml"
    file.write_text(SCHEDULE_OF_COHORTS)
    target = ["calibrate", "--delta", "1e-5", "--schedule", str(file), "--epsilon", "3", "--solve-for"]

    def spent(clip: float, cohort: int) -> float:
        first = Repeat(FixedSize(Gaussian(4.0 / clip), 100, 10), 5)
        last = Repeat(Poisson(Gaussian(2.0 / clip), cohort / 5000), 200)
        return epsilon_of(Sequence((first, last)), 1e-5, "add-remove").upper

    assert run([*target, "cohort", "--json", "--neighbouring", "add-remove"]) == 0
    cohort = json.loads(capsys.readouterr().out)["value"]
    assert spent(1.0, cohort) <= 3 < spent(1.0, cohort + 1)
    assert run([*target, "clip-norm", "--json", "--neighbouring", "add-remove"]) == 0
    clip = json.loads(capsys.readouterr().out)["value"]
    assert spent(clip, 50) <= 3 < spent(clip * (1 + 1e-6), 50)
    assert run([*target, "clip-norm", "--neighbouring", "add-remove"]) == 0
    assert "times the schedule's" in capsys.readouterr().out
    phases = SCHEDULE_OF_COHORTS.split("[[phase]]")
    for last, named in (("[[phase]]" + phases[1], "mechanism"), (SCHEDULE, "sampling")):
        file.write_text(last)
        assert run([*target, "cohort"]) == 2
        assert f"error: phase.{named}." in capsys.readouterr().err


def test_calibrate_prints_a_value_that_meets_the_target(capsys: pytest.CaptureFixture[str]) -> None:
    target = ["--epsilon", "3", "--delta", "1e-6", "--solve-for", "noise-multiplier"]
    assert run(["calibrate", *target, "--rounds", "7"]) == 0
    printed = capsys.readouterr().out.split()[2]
    run(["epsilon", "--delta", "1e-6", "--rounds", "7", "--noise-multiplier", printed, "--json"])
    assert json.loads(capsys.readouterr().out)["epsilon_upper"] <= 3


def test_the_text_answer_rounds_outwards(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["epsilon", "--delta", "1e-5", *GAUSSIAN]) == 0
    assert "epsilon in [4.377" in capsys.readouterr().out
    assert (rounded_down(1.23456789, 4), rounded_up(1.23456789, 4)) == ("1.234", "1.235")
    assert (rounded_down(9.9996, 4), rounded_up(9.9996, 4)) == ("9.999", "10")
    assert (rounded_down(0.0, 4), rounded_up(float("inf"), 4)) == ("0", "inf")
    assert (rounded_down(0.3, 4), rounded_up(2.64, 6)) == ("0.3", "2.64"), "the decimals that the doubles stand for"
    assert rounded_up(math.nextafter(2.64, 3), 6) == "2.64001"


OTHER = ["epsilon", "--delta", "1e-5", "--mechanism"]
ASKED = ["epsilon", "--delta", "1e-5", "--noise-multiplier", "1"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["epsilon", "--delta", "x"], "--delta = 'x': expected a number, or a fraction such as 1/60000"),
        (["epsilon", "--delta", "1/0"], "--delta = '1/0': expected a fraction whose denominator is not 0"),
        ([*ASKED, "--rounds", "1.5"], "--rounds = '1.5': expected a whole number, such as 1000"),
        ([*ASKED, "--rounds", "many"], "--rounds = 'many': expected a whole number, such as 1000"),
        ([*ASKED, "--population=1.5"], "--population = '1.5': expected a whole number, such as 1000"),
        (["train", "pmtl", "--learning-rate", "fast"], "--learning-rate = 'fast': expected a number"),
        (["audit", "module:function", "--trials", "few"], "--trials = 'few': expected a whole number, such as 1000"),
        (["train", "pmtl", "--rounds", "1/2"], "--rounds = '1/2': expected a whole number, such as 1000"),
    ],
)
def test_an_unreadable_number_is_named(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments) == 2
    assert said in capsys.readouterr().err


def test_delta_zero_of_gaussian_noise_is_infinite_with_the_reason(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["epsilon", "--delta", "0", *GAUSSIAN]) == 0
    said = capsys.readouterr().out
    assert "[inf, inf]" in said
    assert "no upper bound" in said


BAD_OPTIONS = [
    (["epsilon", *GAUSSIAN], "--delta"),
    (["epsilon", "--delta", "1e-5", "--rounds", "2"], "--noise-multiplier"),
    (["epsilon", "--delta", "-0.1", *GAUSSIAN], "--delta"),
    (["epsilon", "--delta", "nan", *GAUSSIAN], "--delta"),
    (["epsilon", "--delta", "x", *GAUSSIAN], "--delta"),
    (["epsilon", "--delta", "1e-5", "--noise-multiplier", "-1"], "--noise-multiplier"),
    (["epsilon", "--delta", "1e-5", "--noise-multiplier", "inf"], "--noise-multiplier"),
    (["epsilon", "--delta", "1e-5", "--noise-multiplier", "1", "--rounds", "0"], "--rounds"),
    (["epsilon", "--delta", "1e-5", "--noise-multiplier", "1", "--rounds", "1.5"], "--rounds"),
    (["epsilon", "--delta", "1e-5", *GAUSSIAN, "--sampling-rate", "0.1"], "--sampling-rate"),
    (["epsilon", "--delta", "1e-5", *GAUSSIAN, "--sampling", "poisson"], "--sampling-rate"),
    (["epsilon", "--delta", "1e-5", *GAUSSIAN, "--sampling", "poisson", "--sampling-rate", "2"], "--sampling-rate"),
    (["epsilon", "--delta", "1e-5", *GAUSSIAN, "--sampling", "Poisson"], "--sampling"),
    (["epsilon", "--delta", "1e-5", *GAUSSIAN, "--sampling", "fixed-size", "--population", "3"], "--cohort"),
    (
        ["epsilon", "--delta", "1e-5", *GAUSSIAN, "--sampling", "fixed-size", "--population", "3", "--cohort", "4"],
        "--cohort",
    ),
    (["epsilon", "--delta", "1e-5", *GAUSSIAN, "--neighbouring", "swap"], "--neighbouring"),
    (["epsilon", "--delta", "1e-5", *GAUSSIAN, "--notion", "local"], "--notion"),
    (["epsilon", "--delta", "1e-5", *GAUSSIAN, "--participation", "seen"], "--participation"),
    (["epsilon", "--delta", "1e-5", *GAUSSIAN, "--accountant", "magic"], "--accountant"),
    (["delta", *GAUSSIAN], "--epsilon"),
    (["calibrate", "--delta", "1e-5", "--rounds", "3"], "--epsilon"),
    (["calibrate", "--epsilon", "1", "--rounds", "3"], "--delta"),
    (["calibrate", "--epsilon", "1", "--delta", "1e-5"], "--solve-for"),
    (["calibrate", "--epsilon", "1", "--delta", "1e-5", *GAUSSIAN, "--solve-for", "rounds"], "--rounds"),
    (["calibrate", "--epsilon", "1", "--delta", "1e-5", "--solve-for", "clip"], "--solve-for"),
    (["calibrate", "--epsilon", "1", "--delta", "1e-5", *GAUSSIAN, "--solve-for", "sampling-rate"], "--sampling"),
    (["calibrate", "--epsilon", "1", "--delta", "1e-5", *GAUSSIAN, "--solve-for", "cohort"], "--sampling"),
    (["epsilon", "--delta", "1e-5", "--noise-std", "1"], "--clip-norm"),
    (["epsilon", "--delta", "1e-5", *GAUSSIAN, "--clip-norm", "1"], "--noise-multiplier"),
    (["epsilon", "--delta", "1e-5", "--noise-std", "1", "--clip-norm", "1"], "--population"),
    (
        ["calibrate", "--epsilon", "0", "--delta", "1e-5", "--noise-multiplier", "1", "--solve-for", "rounds"],
        "--epsilon",
    ),
    (["epsilon", "--delta", "1e-5", "--noise-multiplier", "1e300"], "--noise-multiplier"),
    (["epsilon", "--delta", "1e-5", "--noise-multiplier", "1", "--rounds", "1" + 20 * "0"], "--rounds"),
    (
        ["epsilon", "--delta", "1e-5", *GAUSSIAN, "--sampling", "poisson", "--sampling-rate", "1e-300"],
        "--sampling-rate",
    ),
    (["explain"], "CLAIM"),
    (["explain", "no-such-file.toml"], "no-such-file.toml"),
    (["delta", "--epsilon", "-1", *GAUSSIAN], "--epsilon"),
    (["verify"], "CLAIM"),
    (["verify", "no-such-file.toml"], "no-such-file.toml"),
    (["nonsense"], "nonsense"),
    (["epsilon", "--nonsense"], "--nonsense"),
]


UNCLEAR_ONCE = [
    (
        ["epsilon", "--delta", "1e-5", "--epsilon", "1"],
        "dpcert epsilon has no option --epsilon; dpcert epsilon --help lists",
    ),
    (
        ["epsilon", "--delta", "1e-5", *GAUSSIAN, "--sampling", "poisson"],
        "--sampling-rate is required: a rate above 0 and at most 1, or population and cohort",
    ),
    (
        ["calibrate", "--epsilon", "1e-9", "--delta", "1e-9", "--noise-multiplier", "1", "--solve-for", "rounds"],
        "--epsilon = 1e-09: expected a larger target: no value of rounds meets this one",
    ),
]


@pytest.mark.parametrize(("arguments", "message"), UNCLEAR_ONCE)
def test_what_to_do_about_it_is_said(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(("arguments", "named"), BAD_OPTIONS)
def test_bad_input_gets_one_line_and_exit_code_2(
    arguments: list[str], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 2
    _, err = capsys.readouterr()
    complaints = [line for line in err.splitlines() if line.startswith("error:")]
    assert len(complaints) == 1
    assert named in complaints[0]
    assert "Traceback" not in err


def test_every_command_of_the_help_has_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    listed = capsys.readouterr().out.split("Commands:")[1].splitlines()
    commands = [line.split()[0] for line in listed if line.startswith("  ") and line[2:3].strip()]
    assert {"verify", "epsilon", "delta", "calibrate", "explain", "check"} <= set(commands)
    for command in commands:
        assert run([command, "--help"]) == 0
        assert f"Usage: dpcert {command}" in capsys.readouterr().out


def test_explain_names_the_convention_behind_a_number(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """TF-Privacy's tutorial: 60 epochs of MNIST, 3.01 by the classic conversion."""
    shipped = Path(__file__).parents[2] / "claims" / "libraries" / "tf-privacy-mnist-60-epochs.toml"
    assert run(["explain", "--json", str(shipped)]) == 0
    document = json.loads(capsys.readouterr().out)
    assert any("classic conversion" in name for name in document["reproduced_by"])
    assert document["claimed"] == {"epsilon": 3.01, "delta": 1e-5}
    assert run(["explain", str(shipped)]) == 0
    assert "classic conversion" in capsys.readouterr().out
    (tmp_path / "bad.toml").write_text("[claim]")
    assert run(["explain", str(tmp_path / "bad.toml")]) == 2
    said = capsys.readouterr().err
    assert "claim.title, claim.neighbouring, claim.epsilon, claim.delta and mechanism are required" in said


def test_a_certificate_is_written_and_checks(
    files: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "certificates"
    assert run(["verify", "--json", "--certificate", str(target), files["holds"], files["refuted"]]) == 1
    written = [entry["certificate"] for entry in json.loads(capsys.readouterr().out)["claims"]]
    assert [Path(path).name for path in written] == ["holds.json", "refuted.json"]
    for path in written:
        assert run(["check", path]) == 0
    assert capsys.readouterr().out.count("proved: ") == 2
    document = json.loads(Path(written[0]).read_text())
    document["claim"]["epsilon"] = "0.5"
    (tmp_path / "forged.json").write_text(json.dumps(document))
    assert run(["check", "--json", str(tmp_path / "forged.json")]) == 1
    assert json.loads(capsys.readouterr().out)["proved"] is False


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "does not exist."),
        *((text, "is not valid JSON: ") for text in ("", "{", "\x00")),
        *((text, "is not a certificate: it holds no JSON object.") for text in ("[1]", "3", "null")),
        *((text, "its field `format` does not name one.") for text in ("{}", '{"format": 3}', '{"format": "x"}')),
    ],
)
def test_what_is_no_document_is_bad_input_for_check(
    content: str | None, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "c.json"
    if content is not None:
        path.write_text(content)
    assert run(["check", str(path)]) == 2
    shown = capsys.readouterr().err
    assert shown.startswith("error: ")
    assert said in shown
    assert content is None or "`dpcert verify --certificate`" in shown


def test_a_closed_pipe_is_no_error(files: dict[str, str]) -> None:
    script = f"{sys.executable} -m dpcert verify --json {files['holds']} | true; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
    assert done.stdout.strip() in ("0", "141")  # 141: ended by SIGPIPE


def test_the_table_says_which_claims_got_no_certificate_and_why(files, tmp_path, capsys):
    cut = tmp_path / "cut.toml"
    cut.write_text(HOLDS + '[sampling]\nscheme = "random-allocation"\nblock = 1\n')
    assert run(["verify", "--certificate", str(tmp_path / "certificates"), files["holds"], str(cut)]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "1 certificate written. Prove one again: dpcert check FILE" in out
    assert "No certificate: the certificate's format has no random allocation." in out


def test_claims_of_one_name_in_two_folders_get_two_certificates(tmp_path, capsys):
    text = (Path(__file__).parents[2] / "claims" / "seeds" / "pmtl-theorem1-epsilon2.toml").read_text()
    for folder, rounds in (("a", 100), ("b", 99)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "claim.toml").write_text(text.replace("rounds = 100", f"rounds = {rounds}"))
    files = [str(tmp_path / folder / "claim.toml") for folder in "ab"]
    for order in (files, files[::-1]):
        assert run(["verify", "--json", "--certificate", str(tmp_path / "out"), *order]) == 0
        claims = json.loads(capsys.readouterr().out)["claims"]
        for claim in claims:
            rounds = json.loads(Path(claim["certificate"]).read_text())["phases"][0]["rounds"]
            assert rounds == (100 if claim["file"] == files[0] else 99)
    assert len(list((tmp_path / "out").iterdir())) == 2


HEAVY = {"torch", "sklearn", "hypothesis", "z3", "matplotlib", "pandas", "dp_accounting", "scipy.stats"}


@pytest.mark.parametrize(
    ("arguments", "beyond"),
    few(
        [
            (["--help"], {"scipy", "flint", "pydantic"}),
            (["check", "--help"], {"scipy"}),
            (["epsilon", "--delta", "1e-5", "--rounds", "9", "--noise-multiplier", "1"], set()),
            (["verify", str(Path(__file__).parents[2] / "claims" / "seeds" / "pmtl-theorem1-epsilon2.toml")], set()),
        ],
        4,
    ),
)
def test_a_command_loads_only_what_it_needs(arguments, beyond):
    script = "import sys; from dpcert.cli import run; run(sys.argv[1:]); print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=True)
    modules = set(done.stderr.split())
    assert modules & (HEAVY | beyond) == set()
    assert "dpcert.mechanisms" in modules


def test_every_command_is_summed_up_in_its_own_words():
    for name, (_, summary) in COMMANDS.items():
        command = loaded(name)
        assert command.name == name
        assert " ".join(command.help.split("\n\n")[0].split()) == summary


def test_a_directory_is_named_once(tmp_path, capsys):
    assert run(["verify", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert error.count("expected a folder with claim files (*.toml) in it") == 1
    assert "readable" not in error


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["epsilom"], "did you mean epsilon?"),
        ([*ASKED, "--round", "3"], "did you mean --rounds?"),
        ([*OTHER, "laplas", "--noise-multiplier", "1"], "did you mean laplace?"),
        (
            [*OTHER, "discrete-gaussian", "--set", "sigmma=1"],
            "did you mean sigma?",
        ),
        (
            [*OTHER, "skellam"],
            "--set variance, --set clip and --set dimension are required.",
        ),
        ([*OTHER, "laplace", "--set", "noise"], "KEY=VALUE"),
        ([*ASKED, "--rtol", "0"], "--rtol = 0.0: expected a number strictly between 0 and 1"),
        ([*ASKED, "--neighbouring", "replace_one"], "did you mean replace-one?"),
    ],
)
def test_a_slip_is_answered_with_what_was_probably_meant(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 2
    assert said in capsys.readouterr().err


def test_any_kind_of_noise_and_any_tolerance(capsys: pytest.CaptureFixture[str]) -> None:
    from dpcert import DiscreteGaussian, Repeat, epsilon

    asked = [*OTHER, "discrete-gaussian", "--set", "sigma=4", "--rounds", "1e1"]
    assert run([*asked, "--rtol", "1e-3", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    expected = epsilon(Repeat(DiscreteGaussian(4.0), 10), 1e-5, rtol=1e-3)
    assert (told["epsilon_lower"], told["epsilon_upper"]) == (expected.lower, expected.upper)
    assert (told["mechanism"], told["sigma"], told["rounds"], told["reached"]) == ("discrete-gaussian", 4, 10, True)
