"""dpcert prove, and dpcert check of what it writes."""

import json
import os
import signal
import subprocess
import sys

import pytest

from dpcert.cli import run

SOURCE = """
import numpy as np

def noisy_max(answers, rng):
    return int(np.argmax(answers + rng.laplace(0, 2, len(answers))))

def half_noise(dataset, rng):
    return float(np.clip(dataset, 0, 1).sum()) + rng.laplace(0, 0.5)

def response(dataset, rng):
    return [x if rng.random() < 0.75 else 1 - x for x in dataset]

def gaussian(dataset, rng):
    return dataset.sum() + rng.normal(0, 2)

def rounded(dataset, rng):
    return rng.poisson(dataset[0]) + rng.laplace()
"""


@pytest.fixture
def module(tmp_path):
    path = tmp_path / "mechanisms.py"
    path.write_text(SOURCE)
    return path


def printed(capsys, *arguments):
    code = run(["prove", *arguments])
    return code, capsys.readouterr().out


def test_a_proof_its_certificate_and_its_check(module, tmp_path, capsys):
    name = f"{module}:noisy_max"
    options = ["--relation", "answers", "--entries", "2", "--trials", "500"]
    code, text = printed(capsys, name, *options, "--certificate", str(tmp_path / "proofs"))
    assert code == 0
    assert "is 1.0-DP for any number of entries" in text.splitlines()[0]
    assert "epsilon is in [" in text
    (certificate,) = (tmp_path / "proofs").iterdir()
    assert run(["check", str(certificate)]) == 0
    assert "It assumes real numbers" in capsys.readouterr().out
    module.write_text(SOURCE.replace("rng.laplace(0, 2,", "rng.laplace(0, 1,"))
    capsys.readouterr()
    assert run(["check", str(certificate)]) == 1
    assert "not the one that was proved" in capsys.readouterr().out
    document = json.loads(certificate.read_text())
    module.write_text(SOURCE)
    certificate.write_text(json.dumps(document | {"epsilon": "1/2"}))
    assert run(["check", str(certificate)]) == 1


def test_what_to_draw_instead_of_floating_point_noise(module, capsys):
    options = [f"{module}:noisy_max", "--relation", "answers", "--entries", "1", "--trials", "0", "--exact-noise"]
    code, text = printed(capsys, *options)
    assert code == 0
    named = text[text.index("exact noise") :]
    assert "samplers.discrete_laplace(scale)" in named
    _, document = printed(capsys, *options, "--json")
    assert all(line in named for line in json.loads(document)["exact_noise"])


def test_a_broken_mechanism_is_refuted(module, capsys):
    code, text = printed(capsys, f"{module}:half_noise", "--epsilon", "1", "--entries", "1")
    assert code == 1
    assert text.startswith("REFUTED: ")
    assert "[1.0] and [0.0]" in text or "[0.0] and [1.0]" in text


def test_json(module, capsys):
    code, text = printed(capsys, f"{module}:half_noise", "--entries", "1", "--trials", "0", "--json")
    document = json.loads(text)
    assert code == 0
    assert document["verdict"] == "proved"
    assert (document["epsilon_lower"], document["epsilon_upper"]) == (0.0, 2.0)
    assert document["entries"] == [1]
    assert document["every_size"] is True


def test_the_other_modes(module, tmp_path, capsys):
    folder = str(tmp_path / "proofs")
    code, text = printed(capsys, f"{module}:response", "--values", "0,1", "--up-to", "2", "--certificate", folder)
    assert code == 0
    assert "1.09861" in text
    (certificate,) = (tmp_path / "proofs").iterdir()
    assert run(["check", str(certificate)]) == 0
    code, text = printed(capsys, f"{module}:gaussian", "--zcdp", "--up-to", "1")
    assert code == 0
    assert "is 0.125-zCDP" in text
    code, text = printed(capsys, f"{module}:gaussian", "--rho", "0.1", "--entries", "1")
    assert code == 3


def test_what_is_not_supported_is_neither_proved_nor_refuted(module, capsys):
    code, text = printed(capsys, f"{module}:rounded")
    assert code == 3
    assert text.startswith("unsupported")
    assert "mechanisms.py, line 17" in text


@pytest.mark.parametrize(
    "options",
    [["--low", "a"], ["--low", "1", "--high", "0"], ["--epsilon", "-1"], ["--values", "0;1"], ["--relation", "swap"]],
)
def test_bad_input(module, capsys, options):
    assert run(["prove", f"{module}:gaussian", *options]) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1


TELLING = """
import numpy as np
from dpcert.proofs_checks.proving import search

paths = search.paths

def telling(mechanism, dataset, pair, container):
    if len(dataset) == 3:
        with open({busy!r}, "w") as told:
            told.write("busy")
        open({never!r}).read()
    return paths(mechanism, dataset, pair, container)

search.paths = telling

def slow(answers, rng):
    total = answers.sum() - answers.sum()
    return int(np.argmax(answers + total + rng.laplace(0, 2, len(answers))))
"""


def test_ctrl_c_answers_with_what_is_proved_so_far(tmp_path):
    """A child process of its own, interrupted in the middle of three entries."""
    busy, never, module = tmp_path / "busy", tmp_path / "never", tmp_path / "telling.py"
    os.mkfifo(busy)
    os.mkfifo(never)
    module.write_text(TELLING.format(busy=str(busy), never=str(never)))
    command = [sys.executable, "-m", "dpcert", "prove", f"{module}:slow", "--relation", "answers", "--epsilon", "1"]
    child = subprocess.Popen(
        [*command, "--entries", "5"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=dict(os.environ),  # readline gives processes a COLUMNS that Python does not know of
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a suite in the background may ignore it
    )
    with busy.open() as told:
        assert told.read() == "busy"
    os.killpg(child.pid, signal.SIGINT)
    shown, errors = child.communicate(timeout=300)
    assert child.returncode == 4, errors
    first, second, *_ = shown.splitlines()
    assert first.endswith("slow is 1.0-DP for up to N = 2 entries (answers, all answers to queries of sensitivity 1)")
    assert second == "  stopped before the requested number of entries"
    assert "Traceback" not in errors
