"""What an author says of a mechanism's loop, for a proof: it is not trusted, and does nothing outside of one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ParamSpec, Protocol, TypeVar, cast

P = ParamSpec("P")
R = TypeVar("R", covariant=True)
Said = Callable[[tuple[Any, ...], Any], None]
_listening: list[Said] = []
_saying: list[Any] = []


class Annotating(Protocol[P, R]):
    """A function that has `invariant` as an attribute."""

    def __call__(self, *args: P.args, **options: P.kwargs) -> R: ...

    def invariant(self, *facts: Any, spent: Any = None) -> None:
        """See `invariant` below."""


def annotating(function: Callable[P, R]) -> Annotating[P, R]:
    """The function, with `function.invariant(...)`."""
    function.invariant = invariant  # type: ignore[attr-defined]
    _saying.append(function)
    return cast(Annotating[P, R], function)


def is_annotating(value: Any) -> bool:
    """Whether the value is one of those functions, or `invariant`: a mechanism may know it."""
    return any(value is known for known in (invariant, *_saying))


def invariant(*facts: Any, spent: Any = None) -> None:
    """Said in the body of a loop over the data: what holds of the state whenever a step begins. Does nothing in a run.

    facts: comparisons of numbers that steps change, such as count <= most - 1 (one comparison each).
    spent: how much of epsilon is spent by then, at most, as an expression that is linear in such numbers.
    `prove` tries these as the invariant of its induction, and proves them; what cannot be proved costs the proof for
    every number of entries, nothing else. A counter of which an invariant speaks need not have few values.

    >>> def many(answers, rng, most=100):
    ...     bound, out, count = rng.laplace(0, 2), [], 0
    ...     for answer in answers:
    ...         invariant(count <= most - 1, spent=0.5 + count / (2 * most))
    ...         above = bool(answer + rng.laplace(0, 4 * most) >= bound)
    ...         out.append(above)
    ...         if above:
    ...             count += 1
    ...             if count == most:
    ...                 break
    ...     return out
    """
    for said in _listening:
        said(facts, spent)


@contextmanager
def listening(said: Said) -> Iterator[None]:
    """Inside, `said` is called with what mechanisms say."""
    _listening.append(said)
    try:
        yield
    finally:
        _listening.remove(said)
