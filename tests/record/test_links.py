"""What the site's build refuses: links that lead nowhere, and pages that show markup; and formulas as formulas."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

HOOKS = Path(__file__).parents[2] / "docs" / "hooks"


@pytest.fixture(scope="module")
def links():
    pytest.importorskip("mkdocs", reason="the docs extra is not installed")
    return runpy.run_path(str(HOOKS / "links.py"))


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ('<a href="other.html#there">x</a><code>a \\< b, $x$</code>', []),
        ('<a href="nothing.html">x</a>', ["nothing.html is not there"]),
        ('<a href="other.html#nowhere">x</a>', ["has no such place"]),
        ('<a href="#nowhere">x</a>', ["has no such place"]),
        ('<img src="gone.png">', ["gone.png is not there"]),
        ('<script src="https://example.org/x.js"></script>', ["is on another server"]),
        ('<a data-md-component="source" href="https://github.com/x/y">stars</a>', ["source", "source"]),
        ('<div class="mermaid">graph</div>', ["unpkg.com"]),
        ("<p>a \\< b</p>", ["shows"]),
        (r"<p>$\frac{a}{b}$</p>", ["shows"]),
        ('<a href="https://example.org/x#y">x</a><p>it costs $5 or $6</p>', []),
    ],
)
def test_every_fault_is_told(links, tmp_path, body, said):
    (tmp_path / "other.html").write_text('<p id="there">here</p>')
    (tmp_path / "page.html").write_text(body)
    found = list(links["problems"](tmp_path / "page.html", tmp_path))
    links["page"].cache_clear()
    assert len(found) == len(said)
    assert all(part in problem for part, problem in zip(said, found, strict=True))


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("fetch('https://stars.example.org/api')", ["asks stars.example.org, another server"]),
        ("a = `http://${host}/x`", ["asks ${host}, another server"]),
        ("n = 'http://www.w3.org/2000/svg'; fetch('search.json')", []),
    ],
)
def test_scripts_ask_no_other_server(links, tmp_path, written, said):
    (tmp_path / "x.js").write_text(written)
    (tmp_path / "x.txt").write_text("https://example.org is text")
    found = [problem for path in tmp_path.iterdir() for problem in links["asked"](path, tmp_path)]
    assert [one.partition(": ")[2] for one in found] == said


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("E_Q(w - u)_+ <= E_P(x)_+ here", "E_Q(w - u)_+ &lt;= E_P(x)_+ here"),
        ("*really* [a_b](x_y.md)", '<em>really</em> <a href="x_y.md">a_b</a>'),
        ("`$x$` costs $5", "<code>$x$</code> costs $5"),
    ],
)
def test_text_stays_as_it_is(text, shown):
    assert _rendered(text) == f"<p>{shown}</p>"


def test_formulas_are_mathml():
    found = _rendered(r"so $\frac{a_1}{b} \leq c^2$, and a part: $2 \left( a$.")
    assert found.count("<math") == 2
    assert "<mfrac>" in found
    assert "$" not in found
    assert "em>" not in found


def test_a_formula_of_its_own_is_displayed():
    found = _rendered("so\n\n$$\n\\begin{split} a &= b \\\\ &\\le c_1 \\end{split}\n$$\n\nand $5")
    assert 'display="block"' in found
    assert "$$" not in found
    assert "em>" not in found


@pytest.mark.parametrize("formula", [r"$\nowhere{x}$", r"$\begin{aligned} a &= b \end{aligned}$"])
def test_what_cannot_be_shown_is_an_error(formula):
    with pytest.raises(ValueError, match="cannot be shown"):
        _rendered(formula)


def _rendered(text: str) -> str:
    markdown = pytest.importorskip("markdown", reason="the docs extra is not installed")
    pytest.importorskip("latex2mathml", reason="the docs extra is not installed")
    formulas = runpy.run_path(str(HOOKS / "formulas.py"))
    return markdown.markdown(text, extensions=["tables", formulas["Formulas"]()])
