"""`python path/to/checker CERTIFICATE.json`: proved (exit code 0) or rejected (1)."""

import sys
from importlib import import_module
from pathlib import Path

folder = Path(__file__).resolve().parent
if not __package__:  # started as a folder, whatever its name: the one above it is where this package is found
    sys.path[0] = str(folder.parent)

sys.exit(import_module(".command", __package__ or folder.name).main(sys.argv[1:]))
