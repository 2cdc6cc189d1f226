"""dpcert train: one run of a federated algorithm, with the certified privacy of what it released."""

from __future__ import annotations

from . import options
from .declared import with_fields
from .train_options import Asked, checked


@with_fields(Asked)
def train_command(asked: Asked, as_json: options.Json = False) -> None:
    """Example: dpcert train pmtl --data synthetic --noise-multiplier 2 --clip-norm 0.5"""
    checked(asked)
    options.needs_torch("train")
    from .train_run import run_once  # here: torch takes seconds, and only this command needs it

    run_once(asked, as_json)
