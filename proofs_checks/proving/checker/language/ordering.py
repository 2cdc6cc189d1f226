"""max, min and sorted."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..current_run import tracer
from ..order import Ranking, distinct
from ..refusals import Raises, Refused
from .arithmetic import lifted, plain
from .arrays import iterated
from .functions import greater
from .values import Uniform, Weight, is_number, symbolic


def best(pick: Callable[[Any, Any], Any], place: Callable[[list[Any]], int]) -> Callable[..., Any]:
    """max or min: of several noisy values in one fork, of data merged into one value where that can be."""

    def found(*values: Any, key: Any = None, default: Any = None) -> Any:
        from .calls import called

        cells = list(iterated(values[0])) if len(values) == 1 else list(values)
        if not cells:
            if default is None:
                raise Raises("the function raises ValueError: the largest or least of nothing")
            return default
        if key is not None:
            return cells[place([plain(called(key, [cell], {})) for cell in cells])]
        if not all(is_number(cell) or isinstance(cell, Uniform | Weight) for cell in cells):
            return _of_texts(pick, cells)
        cells = [plain(cell) for cell in cells]
        if len(cells) > 2 and any(symbolic(cell) and getattr(cell, "noisy", False) for cell in cells):
            return cells[place(cells)]
        return functools.reduce(pick, cells)

    return found


def _of_texts(pick: Any, cells: list[Any]) -> Any:
    if not all(isinstance(cell, str) for cell in cells):
        raise Refused("the largest or least of values that are no numbers")
    return max(cells) if pick is greater else min(cells)


def ordered(values: Any, /, *, key: Any = None, reverse: Any = False) -> list[Any]:
    """sorted(values): stable, also backwards."""
    from .calls import called

    cells = list(iterated(values))
    keys = cells if key is None else [called(key, [cell], {}) for cell in cells]
    if not isinstance(reverse, bool):
        raise Refused("a direction of sorting that is not known")
    if not any(symbolic(each) for each in keys):
        if not (all(is_number(each) for each in keys) or all(isinstance(each, str) for each in keys)):
            return _by_tuples(cells, keys, reverse)
        return [cells[i] for i in sorted(range(len(cells)), key=lambda i: keys[i], reverse=reverse)]
    return [cells[place] for place in sorted_places(keys, reverse)]


def sorted_places(keys: list[Any], reverse: bool) -> list[int]:
    """Of symbols: equal ones stay in their order, backwards too."""
    ranking = Ranking([lifted(each) for each in (keys[::-1] if reverse else keys)])
    places = ranking.each(range(len(keys)))
    return [len(keys) - 1 - place for place in places[::-1]] if reverse else places


def _by_tuples(cells: list[Any], keys: list[Any], reverse: bool) -> list[Any]:
    """Where keys are tuples, of which the first differ."""
    if not all(isinstance(each, tuple) and each for each in keys):
        raise Refused("an order of values that are neither numbers nor texts")
    firsts = [each[0] for each in keys]
    if all(isinstance(each, str) for each in firsts) and len(set(firsts)) == len(firsts):
        return [cells[i] for i in sorted(range(len(cells)), key=lambda i: firsts[i], reverse=reverse)]
    forms = [lifted(each) for each in firsts]
    if not distinct(forms, tracer().draws):
        raise Refused("an order of tuples whose first parts may be equal")
    return [cells[place] for place in sorted_places(firsts, reverse)]
