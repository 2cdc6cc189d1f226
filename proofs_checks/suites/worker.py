"""python -m dpcert.proofs_checks.suites.worker MANIFEST NAME: one audit of a manifest, its row on the last line."""

from __future__ import annotations

import sys

from .run import in_this_process

if __name__ == "__main__":
    print(in_this_process(sys.argv[1], sys.argv[2]))
