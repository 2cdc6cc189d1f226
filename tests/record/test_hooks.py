"""What the site's build adds: links to the glossary, an order of search results, tables of arguments, shorter pages."""

from __future__ import annotations

import re
import runpy
from collections import Counter
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


def hook(name: str) -> dict[str, object]:
    return runpy.run_path(str(DOCS / "hooks" / f"{name}.py"))


def test_the_first_use_of_a_term_leads_to_the_glossary() -> None:
    linked = hook("glossary")["linked"]
    text = "# Zero-out\n\n`zero-out` and [zero-out](x.md), then zero-out; zero-out.\n\n```\nzero-out\n```\n"
    done = linked(text, "how-to/page.md")  # type: ignore[operator]
    assert done == text.replace("then zero-out", "then [zero-out](../glossary.md#zero-out)")


@pytest.mark.parametrize(
    ("page", "text", "shown"),
    [
        (
            "page.md",
            "in brackets, see docs/ledger.md; two brackets",
            "in brackets, see docs/ledger.md; two [brackets](#bracket)",
        ),
        ("theory/page.md", "the bracket of a norm, in units of x", "the bracket of a norm, in units of x"),
        ("page.md", "one unit of its last digit; a unit", "one unit of its last digit; a [unit](#unit)"),
        (
            "page.md",
            "the trace norm; the clip norm; l1 norm",
            "the trace norm; the [clip norm](#clipping-bound); l1 [norm](#norm)",
        ),
        ("mocha.md", "a certificate of the distance; canaries", "a certificate of the distance; [canaries](#canary)"),
    ],
)
def test_a_word_in_another_sense_is_no_link(page: str, text: str, shown: str) -> None:
    linked = hook("glossary")["linked"](text, page)  # type: ignore[operator]
    assert re.sub(r"\((?:\.\./)*glossary\.md", "(", linked) == shown


def test_every_term_that_is_linked_is_defined() -> None:
    terms, common = hook("glossary")["terms"](), hook("glossary")["COMMON"]  # type: ignore[operator]
    headings = re.findall(r"^## (.+)$", (DOCS / "glossary.md").read_text("utf-8"), re.MULTILINE)
    assert len(terms) == len(headings) - len(common)  # type: ignore[arg-type]
    assert headings == sorted(headings, key=lambda word: word.casefold().replace("é", "e"))


def test_the_search_shows_glossary_and_guides_before_theory_and_lint() -> None:
    boost = hook("search")["boost"]
    order = ["glossary.md", "how-to/engineer.md", "auditing.md", "lint.md", "auditing-methods.md", "theory/rdp.md"]
    assert [*sorted(order, key=boost, reverse=True)] == order  # type: ignore[arg-type]


def test_sentences_about_arguments_become_a_table() -> None:
    pytest.importorskip("griffe", reason="the docs extra is not installed")
    described = hook("arguments")["described"]
    text = "What it does.\n\nrates: each above 0, such as a: b. prior: a number; rtol: the width.\nRaises InputError."
    rest, meant = described(text, ("rates", "prior", "rtol"))  # type: ignore[operator]
    assert rest == "What it does.\n\nRaises InputError."
    assert meant == {"rates": "each above 0, such as a: b.", "prior": "a number.", "rtol": "the width."}


def test_the_type_of_a_field_says_what_it_means() -> None:
    pytest.importorskip("griffe", reason="the docs extra is not installed")
    of = hook("arguments")["_type"]
    assert of('Annotated[float, Quantity(positive, "of the noise")]') == ("float", "Of the noise; above 0.")  # type: ignore[operator]
    assert of("float | None") == ("float | None", "")  # type: ignore[operator]


def test_every_argument_of_the_reference_is_described() -> None:
    """As its pages show it: by its docstring, its type, or what its name means everywhere."""
    griffe = pytest.importorskip("griffe", reason="the docs extra is not installed")
    tables, reference, missing = str(DOCS / "hooks" / "arguments.py"), hook("reference"), hook("arguments")["MISSING"]
    package = griffe.load("dpcert", search_paths=[DOCS.parent / "src"], extensions=griffe.load_extensions(tables))
    shown = [
        package[f"{reference['defined'](*each)}.{each[1]}".removeprefix("dpcert.")]  # type: ignore[operator]
        for page in sorted((DOCS / "reference").rglob("*.md"))
        for each in reference["described"](page.read_text("utf-8"))  # type: ignore[operator]
    ]
    members = [one for each in shown if each.is_class for one in each.members.values() if one.is_function]
    seen = [each for each in (*shown, *members) if each.docstring and not each.name.startswith("_")]
    assert sum("Attributes:" in each.docstring.value or "Args:" in each.docstring.value for each in seen) > 200
    undescribed = [each.path for each in seen if missing in each.docstring.value]
    assert undescribed == [], "say what the argument means in its docstring, `name: meaning.`, or in arguments.toml"


def test_every_statement_of_a_paper_is_on_one_of_its_pages() -> None:
    pytest.importorskip("mkdocs", reason="the docs extra is not installed")
    split = hook("long_pages")["split"]
    whole = (DOCS / "papers" / "pmtl.md").read_text("utf-8")
    pages = split("pmtl")  # type: ignore[operator]
    rows = re.findall(r"^### (.+)$", whole, re.MULTILINE)
    shown = [row for name, text in pages.items() if "-rows-" in name for row in re.findall(r"^## (.+)$", text, re.M)]
    assert shown == rows
    assert max(text.count("\n## ") for text in pages.values()) <= 20
    assert "](#pmtl-t1a)" not in pages["pmtl"]
    assert split("rates") == {}  # type: ignore[operator]


def test_what_is_broken_is_an_index_where_it_is_long() -> None:
    pytest.importorskip("mkdocs", reason="the docs extra is not installed")
    pages = hook("long_pages")["split"]("pmtl")  # type: ignore[operator]
    kinds = [name for name in pages if re.fullmatch(r"pmtl-broken-\d", name)]
    told = [int(number) for number in re.findall(r"\.md\): (\d+)$", pages["pmtl-broken"], re.MULTILINE)]
    assert told == [pages[name].count("\n- ") for name in kinds]
    assert sum(told) == (DOCS / "papers" / "pmtl.md").read_text("utf-8").split("## All rows")[0].count("\n- [PMTL")


@pytest.mark.parametrize("name", ["limits", "changes", "certificates", "theory/dominating_pairs"])
def test_every_section_of_a_long_page_is_a_page_that_its_index_names(name: str) -> None:
    pytest.importorskip("mkdocs", reason="the docs extra is not installed")
    long_pages = hook("long_pages")
    whole = long_pages["SECTIONS"][name].read_text("utf-8")  # type: ignore[index]
    index, *parts = long_pages["sections"](name).items()  # type: ignore[operator]
    headings = re.findall(r"^## (.+)$", whole, re.MULTILINE)
    assert [text.splitlines()[0].removeprefix("# ") for _, text in parts] == headings
    assert re.findall(r"^- \[(.+)\]\(([^)]+)\.md\)$", index[1], re.MULTILINE) == [
        (heading, page.rpartition("/")[2]) for heading, (page, _) in zip(headings, parts, strict=True)
    ]
    sentences = [line for line in whole.splitlines() if line and not line.startswith("#")]
    shown = "\n".join(text for _, text in [index, *parts])
    assert [line for line in sentences if line not in shown] == []


def test_every_public_name_is_on_one_page_of_the_reference() -> None:
    reference = hook("reference")
    pages = sorted((DOCS / "reference").rglob("*.md"))
    shown = Counter(each for page in pages for each in reference["described"](page.read_text("utf-8")))  # type: ignore[operator]
    packages = {package for package, _ in shown}
    assert len(packages) == 7
    assert shown == Counter((package, name) for package in packages for name in reference["public"](package))  # type: ignore[operator]
    # A name that is a module's, too, is described where it is written.
    assert reference["defined"]("dpcert.accounting", "epsilon") == "dpcert.accounting.epsilon"  # type: ignore[operator]
    assert reference["defined"]("dpcert.proofs_checks", "audit") == "dpcert.proofs_checks.auditing.audit"  # type: ignore[operator]
    told = reference["first_sentence"]("dpcert.accounting", "epsilon")  # type: ignore[operator]
    assert told == "The smallest epsilon for which the run is (epsilon, delta)-DP, as a certified bracket."
