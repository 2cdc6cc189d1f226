"""For MkDocs: the pages of the public record join the site where they have been made (`make docs`, dpcert.record)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

PAGES = Path(os.environ.get("DPCERT_RECORD") or Path(__file__).parents[2] / "build" / "record")
NAV = [{"The record": "record/index.md"}, {"Authors": "record/authors/index.md"}, {"Errors": "record/errors.md"}]


def on_config(config: Any) -> Any:
    if PAGES.is_dir():
        config.nav.insert(1, {"The record": NAV})
    return config


def on_files(files: Files, config: Any) -> Files:
    """As if they lay in docs/record."""
    for page in sorted(PAGES.rglob("*")):
        if page.is_file():
            name = f"record/{page.relative_to(PAGES).as_posix()}"
            files.append(File.generated(config, name, abs_src_path=str(page)))
    return files
