"""A pytest plugin that plants one bug in the trainers for a whole run, in which tests have to fail.

PLANTED_BUG="mocha: noise x 3" pytest -p planted_bug ...
"""

from __future__ import annotations

import os
from typing import Any

from trainer_bugs import BUGS


def pytest_configure(config: Any) -> None:
    """Plant it before anything runs."""
    family, name = os.environ["PLANTED_BUG"].split(": ")
    bug = next(bug for bug in BUGS if bug.name == name)
    planted = bug.planted(family)  # type: ignore[arg-type]
    planted.__enter__()
    config.add_cleanup(lambda: planted.__exit__(None, None, None))
