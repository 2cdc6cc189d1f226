"""dpcert audit, and dpcert verify --audit, from the command line."""

import importlib
import json
import os
import shlex
import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from dpcert.cli import run
from dpcert.proofs_checks.auditing import audit, gdp

MECHANISMS = """
import numpy as np

def half(dataset, rng, size):
    return float(np.sum(dataset)) + rng.normal(0, 0.5, size)

def full(dataset, rng, size):
    return float(np.sum(dataset)) + rng.normal(0, 1, size)

def breaks(dataset, rng):
    raise ValueError("on purpose")

def breaks_later(dataset, rng, size):
    if size > 300:
        raise OSError("disk full")
    return float(np.sum(dataset)) + rng.normal(0, 1, size)

def own_pair(dataset, rng):
    return dataset + rng.normal()

def fails_on_one(dataset, rng):
    if len(dataset) > 1:
        raise ValueError("too many")
    return 0.0

own_pair.pair = (3.0, 0.0)
far = (5.0, 0.0)
number = 7
"""

TELLING = """
import os

called = []

def telling(dataset, rng):
    called.append(True)
    if len(called) == 100:  # the first 64 are over then: no second chunk is begun before
        try:
            os.mkdir({fifo!r} + "-told")
        except FileExistsError:  # the other worker told it
            return 0.0
        with open({fifo!r}, "w") as told:
            told.write("busy")
    return float(np.sum(dataset)) + rng.normal()
"""
"""Tells whoever reads the named pipe that trials are under way."""

CLAIM = """
[claim]
title = "a sum"
neighbouring = "add-remove"
epsilon = 4.38
delta = 1e-5
implementation = "{file}:{name}"
[mechanism]
kind = "gaussian"
noise_multiplier = 1.0
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "mechanisms_under_audit.py"
    path.write_text(MECHANISMS)
    return path


def test_refuted_and_not_refuted(file, capsys):
    assert run(["audit", f"{file}:half", "--mu", "1"]) == 1
    shown = capsys.readouterr()
    assert "REFUTED" in shown.out
    assert "replay (seed 0): dpcert audit" in shown.out
    assert "no pair was given" in shown.err
    assert run(["audit", f"{file}:full", "--mu", "1", "--trials", "5000"]) == 0


@pytest.mark.parametrize(
    ("refuted", "holding"),
    [
        (["--rho", "0.5"], ["--rho", "2.1"]),  # the noise's rho is 2: a standard deviation of one half
        (["--renyi", "2:0.8"], ["--renyi", "2:4.1"]),
        (["--curve", "8:1e-3", "--curve", "1:1e-3"], ["--curve", "8:1e-3", "--curve", "10:1e-4"]),
    ],
)
def test_claims_in_other_currencies(file, capsys, refuted, holding):
    assert run(["audit", f"{file}:half", *refuted, "--trials", "5000"]) == 1
    replay = capsys.readouterr().out.strip().splitlines()[-1].split(": ", 1)[1]
    assert run(shlex.split(replay)[1:]) == 1
    capsys.readouterr()
    assert run(["audit", f"{file}:half", *holding, "--trials", "20000", "--pair", "([1.0], [])"]) == 0
    capsys.readouterr()


def test_json_is_the_only_thing_on_stdout(file, capsys):
    assert run(["audit", f"{file}:half", "--epsilon", "1", "--delta", "1e-5", "--json"]) == 1
    data = json.loads(capsys.readouterr().out)
    assert data["refuted"] is True
    assert data["witness"]["dataset"].startswith("[0.0, 0.0")
    assert data["epsilon_lower"] >= 1.0


def test_the_replay_command_replays(file, capsys):
    run(["audit", f"{file}:half", "--mu", "1", "--json", "--seed", "4"])
    first = json.loads(capsys.readouterr().out)
    command = first["witness"]["replay"].split()
    assert command[0] == "dpcert"
    run([*command[1:], "--json"])
    assert json.loads(capsys.readouterr().out)["witness"] == first["witness"]


def test_the_replay_of_a_call_in_python_is_a_command(file, capsys, monkeypatch):
    """The witness of audit(), and of a test's assert_private, runs as it stands where the module can be imported."""
    monkeypatch.syspath_prepend(str(file.parent))
    module = importlib.import_module(file.stem)
    first = audit(module.half, ([0.25, 1.0], [0.25]), claim=gdp(1.0), delta=1e-5, trials=3000, seed=4).witness
    command = shlex.split(first.replay)
    assert command[:3] == ["dpcert", "audit", f"{file.stem}:half"]
    assert run([*command[1:], "--json"]) == 1
    again = json.loads(capsys.readouterr().out)["witness"]
    assert again | {"replay": first.replay} == json.loads(json.dumps(first.to_json()))
    local = audit(lambda data, rng: sum(data) + rng.normal(0, 0.3), ([1.0], []), epsilon=0.1, trials=2000).witness
    assert local.replay.startswith("audit(")


ARRAYS = [
    (np.array([0.25, np.nan]), np.array([0.25])),
    (np.array([[1.0], [2.0]], "float32"), np.zeros((0, 1), "float32")),
    (pd.DataFrame({"x": [0.25, 3.0]}), pd.DataFrame({"x": [0.25]})),
]


@pytest.mark.parametrize("pair", ARRAYS, ids=["NaN", "empty", "frame"])
def test_arrays_and_frames_are_written_out_in_the_replay(file, capsys, monkeypatch, pair):
    monkeypatch.syspath_prepend(str(file.parent))
    module = importlib.import_module(file.stem)
    first = audit(module.half, pair, epsilon=0.5, trials=2000, seed=4).witness
    assert run(shlex.split(first.replay)[1:]) == 1
    shown = capsys.readouterr().out
    assert str(first) in shown


def test_the_error_probability_is_that_of_all_pairs(file, capsys):
    """Seven usual pairs: the stronger answer stands for all, so that its p-value counts seven times."""
    run(["audit", f"{file}:full", "--mu", "1", "--trials", "2000", "--json"])
    data = json.loads(capsys.readouterr().out)
    assert data["alpha"] == 0.01
    smallest = min(test["p_value"] / test["error"] for test in data["tests"])
    assert data["p_value"] == pytest.approx(min(1.0, 0.01 * smallest))
    assert sum(test["error"] for test in data["tests"]) == pytest.approx(0.82 * 0.01 / 7)


def test_writing_to_an_ended_worker_does_not_end_the_command():
    """`dpcert` dies quietly of a closed stdout; a worker's pipe, written to as it is ended, is another matter."""
    script = """if True:
        import os, signal
        from dpcert.mechanisms.workers import pool
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        with pool(1):
            reader, writer = os.pipe()
            os.close(reader)
            try:
                os.write(writer, b"more work")
            except BrokenPipeError:
                print("still there")
        assert signal.getsignal(signal.SIGPIPE) == signal.SIG_DFL
    """
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "still there\n"), done.stderr


def test_workers_that_are_no_copies_of_the_command_find_the_file(file):
    """From Python 3.14 on, and on other systems than Linux, they begin without the modules of the command."""
    arguments = ["audit", f"{file}:full", "--mu", "1", "--trials", "2000", "--workers", "1", "--json"]
    script = f"""if True:
        import multiprocessing
        multiprocessing.set_start_method("spawn")
        from dpcert.cli import run
        run({arguments!r})
    """
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["tests"]


def test_ctrl_c_reports_what_is_known_with_workers(file):
    """A child process of its own, interrupted as a terminal does it: the whole process group at once."""
    fifo = file.with_name("busy")
    os.mkfifo(fifo)
    file.write_text(MECHANISMS + TELLING.format(fifo=str(fifo)))
    command = [sys.executable, "-m", "dpcert", "audit", f"{file}:telling", "--mu", "1", "--workers", "2"]
    command += ["--trials", "10000000", "--max-seconds", "1e6"]
    child = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a suite in the background may ignore it
    )
    assert child.stderr.readline().startswith("note: no pair was given")
    with fifo.open() as told:
        assert told.read() == "busy"
    os.killpg(child.pid, signal.SIGINT)
    shown, errors = child.communicate(timeout=300)
    assert child.returncode == 0
    assert "interrupt; p-value" in shown
    assert "Traceback" not in errors


def test_pairs_come_from_the_attribute_or_by_name(file, capsys):
    assert run(["audit", f"{file}:own_pair", "--mu", "1", "--trials", "2000"]) == 1
    assert "neighbours: 3.0" in capsys.readouterr().out
    assert run(["audit", f"{file}:own_pair", "--mu", "1", "--trials", "2000", "--pair", f"{file}:far"]) == 1
    assert "neighbours: 5.0" in capsys.readouterr().out
    assert run(["audit", f"{file}:own_pair", "--mu", "1", "--trials", "2000", "--pair", "(6.0, 0.0)"]) == 1
    assert "neighbours: 6.0" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["audit", "{file}:full"], "--epsilon"),
        (["audit", "{file}:full", "--epsilon", "1", "--mu", "1"], "--epsilon"),
        (["audit", "{file}:nothing", "--epsilon", "1"], "it has no 'nothing'"),
        (["audit", "{file}:number", "--epsilon", "1"], "callable"),
        (["audit", "{file}:breaks", "--epsilon", "1"], "on purpose"),
        (["audit", "no_such_module_anywhere:f", "--epsilon", "1"], "cannot be imported|can be imported"),
        (["audit", "full", "--epsilon", "1"], "MODULE:NAME"),
        (["audit", "{file}:full", "--epsilon", "-1"], "epsilon"),
        (["audit", "{file}:full", "--epsilon", "1", "--pair", "{file}:number"], "two neighbouring datasets"),
        (["audit", "{file}:full", "--epsilon", "1", "--neighbouring", "twins"], "neighbouring"),
        (["audit", "{file}:full", "--epsilon", "1", "--workers", "-1"], "--workers"),
    ],
)
def test_bad_input_is_exit_code_2_and_one_line(file, capsys, arguments, said):
    assert run([part.format(file=file) for part in arguments]) == 2
    errors = [line for line in capsys.readouterr().err.splitlines() if line.startswith("error:")]
    assert len(errors) == 1
    assert any(word in errors[0] for word in said.split("|"))


def test_an_exception_is_one_line_beside_what_is_known(file, capsys):
    assert run(["audit", f"{file}:breaks_later", "--mu", "1"]) == 2
    shown = capsys.readouterr()
    errors = [line for line in shown.err.splitlines() if line.startswith("error:")]
    assert len(errors) == 1
    for part in ("breaks_later", "[0.0, 0.0, 0.0, 0.0, 1.0]", "OSError: disk full"):
        assert part in errors[0]
    assert "failure; p-value" in shown.out
    assert run(["audit", f"{file}:breaks_later", "--mu", "1", "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["stopped"] == "failure"


def write_claim(tmp_path, file, name):
    path = tmp_path / f"{name}.toml"
    path.write_text(CLAIM.format(file=file, name=name))
    return str(path)


def test_verify_audits_the_named_implementation(tmp_path, file, capsys):
    half, full = write_claim(tmp_path, file, "half"), write_claim(tmp_path, file, "full")
    assert run(["verify", half, full]) == 0
    assert run(["verify", full, "--audit"]) == 0
    capsys.readouterr()
    assert run(["verify", half, "--audit", "--json", "--report", str(tmp_path / "out.html")]) == 1
    claim = json.loads(capsys.readouterr().out)["claims"][0]
    assert claim["verdict"] == "refuted"
    assert claim["audit"]["refuted"] is True
    assert "implementation-differs" in {finding["id"] for finding in claim["findings"]}
    assert claim["witness"]["replay"] == f"dpcert verify {half} --audit"
    assert "REFUTED" in (tmp_path / "out.html").read_text().upper()


def test_verify_names_the_field_of_an_implementation_that_is_not_there(tmp_path, file, capsys):
    assert run(["verify", write_claim(tmp_path, file, "gone"), "--audit"]) == 2
    assert "claim.implementation" in capsys.readouterr().err


def test_failures_are_outputs_where_asked(file, capsys):
    words = ["audit", f"{file}:fails_on_one", "--epsilon", "1", "--pair", "([1.0, 1.0], [1.0])", "--trials", "400"]
    assert run(words) == 2
    assert "--observe-failures" in capsys.readouterr().err
    assert run([*words, "--observe-failures"]) == 1
    told = capsys.readouterr().out
    assert "fails_on_one: " in told
    assert "ValueError" in told or "too many" in told or "failure of output" in told or "NaN" in told
    assert "--observe-failures" in told.splitlines()[-1]


def test_what_an_audit_is_blind_to_is_printed(tmp_path, capsys):
    path = tmp_path / "named.py"
    digest = "hashlib.sha256(rng.bytes(9)).hexdigest()"
    path.write_text(f"import hashlib\ndef named(dataset, rng):\n    return {digest}\n")
    assert run(["audit", f"{path}:named", "--epsilon", "1", "--trials", "300"]) == 4
    shown = capsys.readouterr().out
    assert "not read: output: a text that differed in every run" in shown
    assert "Nothing was checked: The outputs could not be read: output" in shown
