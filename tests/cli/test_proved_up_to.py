"""What is proved for a few entries only is another verdict than "proved": in words, exit codes, JSON, certificates."""

import json

import pytest

from dpcert.cli import run
from dpcert.proofs_checks import assert_proved, prove

SOURCE = """
def every_answer(answers, rng):  # not private: it costs more with every answer
    bound = rng.laplace(0, 2)
    return [bool(answer + rng.laplace(0, 4) >= bound) for answer in answers]

def noisy_sum(dataset, rng):
    return sum(dataset) + rng.laplace(0, 1)

def response(dataset, rng):
    return [x if rng.random() < 0.75 else 1 - x for x in dataset]
"""
CHEAP = ["--relation", "answers", "--epsilon", "1.5", "--trials", "0"]


@pytest.fixture
def module(tmp_path):
    path = tmp_path / "several.py"
    path.write_text(SOURCE)
    return path


def asked(capsys, *arguments):
    code = run(list(map(str, arguments)))
    return code, capsys.readouterr().out


def test_a_mechanism_that_is_private_for_few_entries_only_is_not_proved(module, capsys):
    code, text = asked(capsys, "prove", f"{module}:every_answer", *CHEAP)
    assert code == 4
    assert text.startswith("proved up to N = 4 only: ")
    assert "not proved for more entries: " in text
    assert "It assumes real numbers, without rounding or overflow" in text
    code, text = asked(capsys, "prove", f"{module}:every_answer", *CHEAP, "--json")
    document = json.loads(text)
    assert code == 4
    assert (document["verdict"], document["every_size"]) == ("proved up to N", False)
    assert (document["up_to"], document["asked_up_to"]) == (4, None)
    assert document["assumes"].startswith("real numbers")


def test_a_size_may_be_asked_for(module, capsys):
    code, text = asked(capsys, "prove", f"{module}:every_answer", *CHEAP, "--up-to", 3)
    assert code == 0
    assert text.startswith("proved up to N = 3: ")
    code, text = asked(capsys, "prove", f"{module}:noisy_sum", "--epsilon", "1", "--up-to", 3)
    assert (code, text.startswith("proved: ")) == (0, True)  # more than was asked
    code, text = asked(capsys, "prove", f"{module}:every_answer", *CHEAP, "--up-to", 3, "--max-work", 45)
    assert code in (3, 4)


@pytest.mark.parametrize("bad", ["0", "-1", "1.5"])
def test_a_size_that_is_none(module, bad, capsys):
    assert run(["prove", f"{module}:noisy_sum", "--up-to", bad]) == 2
    assert "up-to" in capsys.readouterr().err


def test_enumerations_are_about_what_they_enumerate(module, capsys):
    assert asked(capsys, "prove", f"{module}:response", "--values", "0,1", "--entries", 2)[0] == 4
    assert asked(capsys, "prove", f"{module}:response", "--values", "0,1", "--up-to", 2)[0] == 0


def test_assertions_ask_for_every_number_of_entries():
    def every_answer(answers, rng):
        bound = rng.laplace(0, 2)
        return [bool(answer + rng.laplace(0, 4) >= bound) for answer in answers]

    with pytest.raises(AssertionError, match="proved up to N = 4 only"):
        assert_proved(every_answer, epsilon=1.5, relation="answers")
    assert assert_proved(every_answer, epsilon=1.5, relation="answers", up_to=2).up_to == 2
    assert prove(every_answer, epsilon=1.5, relation="answers", entries=2).proved is False


@pytest.mark.parametrize("options", [CHEAP, ["--values", "0,1"]], ids=["alignment", "enumeration"])
def test_certificates_say_it_too(options, module, tmp_path, capsys):
    name = f"{module}:{'response' if '--values' in options else 'every_answer'}"
    for wanted, code in (([], 4), (["--up-to", "2"], 0)):
        found = asked(capsys, "prove", name, *options, "--entries", 2, *wanted, "--certificate", tmp_path / "proofs")
        assert found[0] == code
        (certificate,) = (tmp_path / "proofs").iterdir()
        assert asked(capsys, "check", certificate) == (code, found_text(capsys, certificate))
        _, text = asked(capsys, "check", certificate, "--json")
        document = json.loads(text)
        assert (document["verdict"], document["up_to"], document["every_size"]) == ("proved up to N", 2, False)
    older = {k: v for k, v in json.loads(certificate.read_text()).items() if k != "up_to"}  # as 0.2.0 wrote them
    certificate.write_text(json.dumps(older))
    assert asked(capsys, "check", certificate)[0] == 4
    certificate.write_text(json.dumps(older | {"up_to": 3}))
    assert asked(capsys, "check", certificate)[0] == 4
    certificate.write_text(json.dumps(older | {"up_to": 2, "sizes": [2]}))
    assert asked(capsys, "check", certificate)[0] == 1


def found_text(capsys, certificate):
    run(["check", str(certificate)])
    text = capsys.readouterr().out
    assert text.startswith("proved up to N = 2: ")
    return text


def test_a_proof_for_every_number_of_entries_is_checked_as_one(module, tmp_path, capsys):
    folder = tmp_path / "proofs"
    assert asked(capsys, "prove", f"{module}:noisy_sum", "--epsilon", 1, "--certificate", folder)[0] == 0
    (certificate,) = folder.iterdir()
    code, text = asked(capsys, "check", certificate, "--json")
    assert (code, json.loads(text)["verdict"]) == (0, "proved")
