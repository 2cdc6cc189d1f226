"""The whole site in a browser: no error on its console, no broken link, sorting, narrow screens, paper."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

ROOT = Path(__file__).parents[2]
CHROMIUM = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
)
QUIET, TIME = ("--headless", "--no-sandbox", "--disable-gpu"), "--virtual-time-budget=4000"
NAMES = ("abadi16-mnist-e100", "bu20-mnist-sigma1.06", "de22-cifar10-epsilon1")

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium: apt-get install chromium"),
]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("mkdocs", reason="pip install 'dpcert[docs]'")
    place = tmp_path_factory.mktemp("site")
    (place / "claims" / "papers").mkdir(parents=True)
    for name in NAMES:
        shutil.copy(ROOT / "claims" / "papers" / f"{name}.toml", place / "claims" / "papers")
    made = [sys.executable, "-m", "dpcert.record", str(place / "claims"), str(place / "pages"), "--jobs", "1"]
    subprocess.run([*made, "--cache", str(place / "cache")], check=True, cwd=ROOT)
    env = {**os.environ, "DPCERT_RECORD": str(place / "pages"), "NO_MKDOCS_2_WARNING": "1"}
    build = [sys.executable, "-m", "mkdocs", "build", "--quiet", "-d", str(place / "html")]
    subprocess.run(build, check=True, cwd=ROOT, env=env)
    return place / "html"


def browsed(page: Path, *options: str, script: str = "") -> tuple[str, str]:
    """The page as the browser has it after its scripts and this one, and what its console said."""
    shown = page.with_name(f"shown-{page.name}")
    shown.write_text(page.read_text(encoding="utf-8").replace("</body>", f"<script>{script}</script></body>"))
    try:
        done = subprocess.run(
            [str(CHROMIUM), *QUIET, "--enable-logging=stderr", "--dump-dom", TIME, *options, shown.as_uri()],
            capture_output=True,
            text=True,
            timeout=120,
        )
    finally:
        shown.unlink()
    return done.stdout, "\n".join(line for line in done.stderr.splitlines() if "CONSOLE" in line)


def test_the_search_of_a_site_opened_as_files_finds_pages(site: Path) -> None:
    ask = "const box = document.querySelector('.md-search__input');"
    ask += "setTimeout(() => {box.focus(); box.value = 'opacus'; box.dispatchEvent(new Event('keyup'));}, 3000);"
    dom, _ = browsed(site / "index.html", "--virtual-time-budget=60000", script=ask)
    assert re.search(r'<a href="[^"]*adapters\.html[^"]*" class="md-search-result__link"', dom)


def record_pages(site: Path) -> list[Path]:
    return sorted((site / "record").rglob("*.html"))


def test_no_page_has_an_error_on_its_console(site: Path) -> None:
    pages = record_pages(site)
    assert len(pages) == 3 + 3 + 3
    for page in pages:
        dom, console = browsed(page)
        assert 'class="record"' in dom, page.name
        assert "Error" not in console, (page.name, console)


def test_an_error_would_be_seen(site: Path) -> None:
    _, console = browsed(site / "record" / "errors.html", script="nothing.at.all()")
    assert "ReferenceError" in console


def test_no_link_is_broken(site: Path) -> None:
    for page in record_pages(site):
        for target in re.findall(r'(?:href|src)="([^"]+)"', page.read_text(encoding="utf-8")):
            parts = urlsplit(target)
            if parts.scheme or parts.netloc or not parts.path:
                continue
            assert (page.parent / unquote(parts.path)).exists(), (page.name, target)


def order(dom: str) -> list[str]:
    return re.findall(r'claims/([\w.-]+)\.html">', dom[dom.index("record-table") :])


def test_the_table_sorts_and_filters(site: Path) -> None:
    table = site / "record" / "index.html"
    click = "document.querySelectorAll('.record-table th button')[{}].click();"
    by_factor, _ = browsed(table, script=click.format(8))
    assert order(by_factor) == ["abadi16-mnist-e100", "de22-cifar10-epsilon1", "bu20-mnist-sigma1.06"]
    twice, _ = browsed(table, script=2 * click.format(8))
    assert order(twice) == order(by_factor)[::-1]
    by_year, _ = browsed(table, script=click.format(2))
    assert order(by_year) == ["abadi16-mnist-e100", "bu20-mnist-sigma1.06", "de22-cifar10-epsilon1"]
    for name, value in (("verdict", "refuted"), ("factor", "above 1")):
        choose = f"const f=document.querySelector('.record-filters');f.{name}.value='{value}';"
        filtered, _ = browsed(table, script=choose + "f.dispatchEvent(new Event('input'));")
        assert "1 of 3" in filtered, name
    assert filtered.count('hidden=""><td') + len(re.findall(r"<tr [^>]*hidden", filtered)) >= 2


@pytest.mark.parametrize("page", ["index.html", "claims/bu20-mnist-sigma1.06.html", "errors.html"])
def test_it_fits_a_narrow_screen(site: Path, page: str) -> None:
    """400 pixels in a frame, since the browser's own window is never narrower than 500."""
    shown = site / "record" / page
    inner, outer = shown.with_name("narrow-page.html"), shown.with_name("narrow.html")
    tell = "<script>parent.postMessage([innerWidth,document.documentElement.scrollWidth].join(' of '),'*')</script>"
    inner.write_text(shown.read_text(encoding="utf-8").replace("</body>", f"{tell}</body>"))
    hear = "<script>onmessage=heard=>document.title=heard.data</script>"
    outer.write_text(f"<title></title>{hear}<iframe src=narrow-page.html width=400 height=900></iframe><body></body>")
    try:
        dom, _ = browsed(outer)
    finally:
        inner.unlink()
        outer.unlink()
    found = re.search(r"<title>(\d+) of (\d+)</title>", dom)
    assert found is not None
    assert int(found[1]) == 400
    assert int(found[2]) <= 400, "nothing sticks out"


def test_it_prints(site: Path, tmp_path: Path) -> None:
    paper = tmp_path / "paper.pdf"
    page = (site / "record" / "claims" / "bu20-mnist-sigma1.06.html").as_uri()
    command = [str(CHROMIUM), *QUIET, f"--print-to-pdf={paper}", page]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    assert paper.read_bytes().startswith(b"%PDF")
    assert paper.stat().st_size > 10_000
