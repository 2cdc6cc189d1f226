"""dpcert prove, and dpcert check of what it writes."""

import json

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
    return round(dataset[0]) + rng.laplace()
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
    module.write_text(SOURCE.replace("rng.laplace(0, 2,", "rng.laplace(0, 1,"))
    capsys.readouterr()
    assert run(["check", str(certificate)]) == 1
    assert "not the one that was proved" in capsys.readouterr().out
    document = json.loads(certificate.read_text())
    module.write_text(SOURCE)
    certificate.write_text(json.dumps(document | {"epsilon": "1/2"}))
    assert run(["check", str(certificate)]) == 1


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
    code, text = printed(capsys, f"{module}:response", "--values", "0,1", "--entries", "2", "--certificate", folder)
    assert code == 0
    assert "1.09861" in text
    (certificate,) = (tmp_path / "proofs").iterdir()
    assert run(["check", str(certificate)]) == 0
    code, text = printed(capsys, f"{module}:gaussian", "--zcdp", "--entries", "1")
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
