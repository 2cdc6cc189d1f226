"""What is typed as plain text in a paper's register is mathematics on the site, and nothing else is touched."""

# ruff: noqa: RUF001
from __future__ import annotations

import re
import runpy
from html import escape, unescape
from pathlib import Path
from types import SimpleNamespace

import pytest

DOCS = Path(__file__).parents[2] / "docs"
SHOWN = runpy.run_path(str(DOCS / "hooks" / "typed.py"))["shown"]


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("w_(M+1)^t", "w<sub>M+1</sub><sup>t</sup>"),
        ("C_p(G_(1/sigma))^T", "C<sub>p</sub>(G<sub>1/σ</sub>)<sup>T</sup>"),
        ("e^(1/sigma^2) - 1", "e<sup>1/σ<sup>2</sup></sup> - 1"),
        ("||grad f||^2 / (2 lambda M L)", "‖grad f‖<sup>2</sup> / (2 λ M L)"),
        ("||a||^2_(M_t)", "‖a‖<sup>2</sup><sub>M<sub>t</sub></sub>"),
        ("E_Q(w - u)_+", "E<sub>Q</sub>(w - u)<sub>+</sub>"),
        ("delta_{t+1}, theta_t^h", "δ<sub>t+1</sub>, θ<sub>t</sub><sup>h</sup>"),
        ("(K*(2*C*K/M))**2", "(K·(2·C·K/M))<sup>2</sup>"),
        ("eta ** 2 - 2 * u", "η<sup>2</sup> - 2 · u"),
        ("10^-4, 8.927e+04, 1e-05", "10<sup>−4</sup>, 8.927·10<sup>4</sup>, 10<sup>−5</sup>"),
        ("sqrt K, sqrt(T), sqrt(2 log(1/delta))/epsilon", "√K, √T, √(2 log(1/δ))/ε"),
        ("a &lt;= b, b &gt;= a == c != d &lt; e", "a ≤ b, b ≥ a = c ≠ d &lt; e"),
        ("w~^t, w_bar, sum_(i=1..M) f", "w̃<sup>t</sup>, w̄, ∑<sub>i=1..M</sub> f"),
        ("F - F*, w_k* at most, D(a*)", "F - F*, w<sub>k</sub>* at most, D(a*)"),
        ("m mu*(epsilon, delta), g*(y), lam*(s + b)", "m μ*(ε, δ), g*(y), λ·(s + b)"),
        ("C_p's order, C_p' of p", "C<sub>p</sub>'s order, C<sub>p'</sub> of p"),
        ("is (epsilon, delta)-DP for epsilon = 8", "is (ε, δ)-DP for ε = 8"),
        ("lambda1 Omega, mu-GDP, Phi(x)", "λ<sub>1</sub> Ω, μ-GDP, Φ(x)"),
    ],
)
def test_it_is_mathematics(typed, shown):
    assert SHOWN(f"<p>{typed}</p>") == f"<p>{shown}</p>"


@pytest.mark.parametrize(
    "kept",
    [
        '<h2 id="a_b^2">DPFEDMTL-L4.2-box</h2>',
        '<a href="x_y.html#sigma" title="a <= b">MOCHA-A2-Theta, PMTL-delta</a>',
        "<code>sigma <= 1e-5 * a**2</code><pre><span>x_i</span> ** 2</pre><math><mi>mu</mi></math>",
        "<script>a_b = c ** 2</script>",
        "run_step, femnist_noisy, weighted_average_oracle, n_clients, table_2, opt/run_mu.m, trainers/eta_t.py",
        "https://example.org/a_b^2?sigma=1&amp;mu=2",
        "2023-10-01, version 0.2.0, f_k_t, x^, a_(b, 1e5, 3e-5x, {f}** with",
        "the epsilon of the run, every delta, a larger delta than stated (epsilon 0.1), neta, beta2b, chi-square",
        "**bold* and ~ 5, a -> b, &lt;b&gt;",
    ],
)
def test_it_stays_as_it_is(kept):
    kept = kept.replace(" -> ", " -&gt; ")
    assert SHOWN(kept) == kept


@pytest.mark.parametrize("page", sorted(path.name for path in (DOCS / "papers").glob("*.md")))
def test_no_register_loses_a_name_or_a_digit(page):
    text = escape(unescape(re.sub(r"<[^>]*>|[<>\\\\]", "", (DOCS / "papers" / page).read_text("utf-8"))), quote=False)
    shown = SHOWN(text)
    for kept in (r"\b[A-Z][A-Z0-9]+(?:-[\w.]+)+", r"\w+\.(?:py|md|json)\b", r"\b[a-z]+_[a-z]{3,}\w*\.\w+"):
        assert re.findall(kept, shown) == re.findall(kept, text)
    typed = re.sub(r"(?<![\w.])(?:1|(\d[\d.]*))e([+-])0*(\d+)(?!\w|\.\d)", r"\g<1>10\3", text)
    assert re.sub(r"\D", "", shown) == re.sub(r"\D", "", typed)


def test_other_pages_are_left_alone():
    hook = runpy.run_path(str(DOCS / "hooks" / "typed.py"))["on_page_content"]
    for path, shown in {"papers/pmtl.md": "σ ≤ 1", "claims.md": "sigma &lt;= 1"}.items():
        assert hook("sigma &lt;= 1", SimpleNamespace(file=SimpleNamespace(src_uri=path))) == shown
