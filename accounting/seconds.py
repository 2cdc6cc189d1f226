"""Results that say how long they took."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any, ParamSpec, TypeVar

Asked = ParamSpec("Asked")
Result = TypeVar("Result", bound=Any)


def timed(ask: Callable[Asked, Result]) -> Callable[Asked, Result]:
    """The same function, whose result has the seconds in its field of that name."""

    @wraps(ask)
    def measured(*args: Asked.args, **options: Asked.kwargs) -> Result:
        started = time.perf_counter()
        found = ask(*args, **options)
        return replace(found, seconds=time.perf_counter() - started)

    return measured
