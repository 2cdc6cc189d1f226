"""Planted: an answer that is narrower for one delta than for several."""

from importlib import import_module

import pytest

from dpcert import epsilon
from dpcert.accounting import epsilons, sources
from dpcert.accounting.cohorts.hidden_cohorts import narrowed
from dpcert.mechanisms import FixedSize, Gaussian, Repeat

answers = import_module("dpcert.accounting.answer")
front = import_module("dpcert.accounting.epsilon")
RUN = Repeat(FixedSize(Gaussian(2.0), 1000, 100), 200)


def agree():
    return epsilons(RUN, [1e-5], "replace-one") == (epsilon(RUN, 1e-5, "replace-one"),)


def test_the_door_that_narrows_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    assert agree()
    asked = answers.answer
    assert isinstance(answers.SOURCES[-1], sources.Cohorts)
    monkeypatch.setattr(answers, "SOURCES", answers.SOURCES[:-1])
    monkeypatch.setattr(
        front, "answer_with_report", lambda question, at, _: narrowed(question, asked(question, at), at)
    )
    assert not agree()
