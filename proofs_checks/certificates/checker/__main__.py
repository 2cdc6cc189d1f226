"""`python path/to/checker CERTIFICATE.json`: proved (exit code 0) or rejected (1)."""

import sys
from importlib import import_module
from pathlib import Path

if not __package__:  # started as a folder: the folder above it is where this package is found
    sys.path[0] = str(Path(__file__).resolve().parents[1])

sys.exit(import_module(".command", __package__ or "checker").main(sys.argv[1:]))
