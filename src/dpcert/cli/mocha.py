"""dpcert mocha: MOCHA's multi-task optimisation, and the methods that it is compared with."""

from __future__ import annotations

from . import options
from .declared import with_fields
from .mocha_options import Asked, checked


@with_fields(Asked)
def mocha_command(asked: Asked, as_json: options.Json = False) -> None:
    """Example: dpcert mocha mocha --data synthetic:clustered,tasks=12 --lambda 0.01 --omega learned"""
    checked(asked)
    options.needs_torch("mocha")
    from .mocha_run import run_mocha

    run_mocha(asked, as_json)
