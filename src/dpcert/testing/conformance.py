"""All properties on one accountant: one call, or one pytest class."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from hypothesis import HealthCheck, given, settings
from hypothesis import Phase as Stage
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable

from .properties import HELD_TO_TRUTH, PROPERTIES, Violation
from .subject import NotServed, Phase, Subject

Setting = tuple[tuple[Phase, ...], float]
"""Phases and a delta."""


PROVED = frozenset({"truth", "add_and_remove", "lower_bound"})


@dataclass(frozen=True, slots=True)
class Finding:
    """What one property made of an accountant. broken: `detail` is an example of it; not served: why not.

    property: its name. outcome: passed, broken or not served. detail: in words.

    >>> Finding("never below the truth", "passed").outcome
    'passed'
    """

    property: str
    outcome: Literal["passed", "broken", "not served"]
    detail: str = ""


def conformance(
    subject: Subject,
    properties: Iterable[str] = tuple(PROPERTIES),
    *,
    examples: int = 20,
    hard: Sequence[Setting] = (),
) -> Iterator[Finding]:
    """Run the named properties, each on `examples` settings that Hypothesis draws; the same ones every time.

    The properties that need proofs in ball arithmetic, PROVED, use a third of the examples: a proof takes a second.
    hard: settings on which `truth` and `lower_bound` are tried as well.
    An exception other than NotServed from the accountant is a broken property: it has no answer.

    properties: their names; by default all. examples: number of settings for each property, at least 1.

    >>> class Forgetful(Subject):
    ...     def new(self): return 0.0
    ...     def compose(self, accountant, phase): return phase.rounds  # and forgets what came before
    ...     def epsilon(self, accountant, delta): return float(accountant)
    >>> [finding.outcome for finding in conformance(Forgetful(), ["order"], examples=5)]
    ['broken']
    """
    for name in properties:
        tries = math.ceil(examples / 3) if name in PROVED else examples
        yield _finding(subject, name, tries, hard if name in HELD_TO_TRUTH else ())


def _finding(subject: Subject, name: str, examples: int, hard: Sequence[Setting]) -> Finding:
    served = 0

    def tried(check: Callable[[], None]) -> None:
        nonlocal served
        try:
            check()
        except NotServed:
            return
        served += 1

    # Shrinking an example to a smallest one takes many more proofs: the first one found has to do.
    stages = [Stage.generate] if name in PROVED else [Stage.generate, Stage.shrink]

    @settings(
        phases=stages,
        max_examples=max(1, examples),  # Hypothesis refuses 0; it is not run then.
        deadline=None,
        derandomize=True,
        database=None,
        report_multiple_bugs=False,
        print_blob=False,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.data())
    def on_drawn(data: Any) -> None:
        tried(lambda: PROPERTIES[name](subject, data.draw))

    try:
        for phases, delta in hard:
            tried(lambda phases=phases, delta=delta: HELD_TO_TRUTH[name](subject, phases, delta))  # type: ignore[misc]
        if examples:
            on_drawn()
    except Violation as violation:
        return Finding(name, "broken", str(violation))
    except Unsatisfiable as reason:
        return Finding(name, "not served", str(reason))
    except Exception as error:
        return Finding(name, "broken", f"no answer: {type(error).__name__}: {error}")
    return Finding(name, "passed") if served else Finding(name, "not served", "it refuses every setting tried")


class AccountantConformance:
    """Subclass it in a pytest suite, set `subject`, and every property is a test.

    examples: settings a property; hard: settings on which `truth` and `lower_bound` are tried as well. Properties
    that the accountant does not serve at all are skipped.
    """

    subject: ClassVar[Subject]
    examples: ClassVar[int] = 20
    hard: ClassVar[Sequence[Setting]] = ()

    def _hold(self, name: str) -> None:
        import pytest

        (finding,) = conformance(self.subject, [name], examples=self.examples, hard=self.hard)
        if finding.outcome == "not served":
            pytest.skip(finding.detail)
        assert finding.outcome == "passed", finding.detail


def _test(name: str) -> Callable[[AccountantConformance], None]:
    def test(self: AccountantConformance) -> None:
        self._hold(name)

    test.__doc__ = PROPERTIES[name].__doc__
    return test


for _name in PROPERTIES:
    setattr(AccountantConformance, f"test_{_name}", _test(_name))
