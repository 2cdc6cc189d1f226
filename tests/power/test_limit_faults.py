"""Without one of its limits the checker believes a certificate of what cannot be."""

from __future__ import annotations

from pathlib import Path

import pytest
from certificate_limits import BELIEVED, LIMITS, by_night
from weakened_checker import weakened


@pytest.mark.parametrize("name", by_night(BELIEVED))
def test_the_limit_is_what_refuses(tmp_path: Path, name: str) -> None:
    limit = LIMITS[name]
    assert weakened(tmp_path, limit.without).check(limit.certificate_beyond()).ok
