"""python -m dpcert.trainers.data KIND:PATH FOLDER: any federation as a store (store.py)."""

from __future__ import annotations

import sys

from ...mechanisms import InputError
from .source import load_federation
from .store import save_store

USAGE = "usage: python -m dpcert.trainers.data KIND:PATH FOLDER"


def main() -> int:
    """Write the store; 2 for bad input."""
    if len(sys.argv) != 3:
        print(USAGE, file=sys.stderr)
        return 2
    try:
        save_store(load_federation(sys.argv[1]), sys.argv[2])
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
