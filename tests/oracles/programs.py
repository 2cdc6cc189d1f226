"""Functions of the language of proofs, built by Hypothesis: statements over numbers, lists and arrays."""

from __future__ import annotations

from hypothesis import strategies as st

NUMBERS = ("x", "y", "d[0]", "d[1]", "len(d)", "a[0]", "a[-1]", "b[0]", "0", "1", "2", "0.5", "0.25", "-1")
TESTS = ("{} < {}", "{} <= {}", "{} > {}", "{} >= {}", "{} == {}", "not ({} < {})", "({} < {}) == ({} > 0.3)")


def numbers(depth: int) -> st.SearchStrategy[str]:
    """Expressions that are numbers."""
    if depth == 0:
        return st.sampled_from(NUMBERS)
    inner = numbers(depth - 1)
    return st.one_of(
        st.sampled_from(NUMBERS),
        st.builds("({} + {})".format, inner, inner),
        st.builds("({} - {})".format, inner, inner),
        st.builds("({} * {})".format, inner, st.sampled_from(("2", "0.5", "-1", "x"))),
        st.builds("({} / {})".format, inner, st.sampled_from(("2", "0.5", "4"))),
        st.builds("-{}".format, inner),
        st.builds("abs({})".format, inner),
        st.builds("max({}, {})".format, inner, inner),
        st.builds("min({}, {}, {})".format, inner, inner, inner),
        st.builds("({} if {} else {})".format, inner, tests(depth - 1), inner),
        st.builds("sum([{}, {}])".format, inner, inner),
        st.builds("sum({} for v in d)".format, st.sampled_from(("v", "v * 2", "max(v, 0.5)", "(1 if v > 0.5 else 0)"))),
        st.builds("[{}, {}][{}]".format, inner, inner, st.sampled_from(("0", "1", "-1"))),
        st.builds("int({})".format, tests(depth - 1)),
        st.builds("np.{}(d)".format, st.sampled_from(("sum", "mean", "max", "min", "median"))),
        st.builds("a.{}()".format, st.sampled_from(("sum", "max", "min", "mean"))),
        st.builds("float({})".format, inner),
    )


def tests(depth: int) -> st.SearchStrategy[str]:
    """Expressions that are truth values."""
    inner = numbers(max(depth - 1, 0))
    compared = st.builds(lambda form, p, q, r: form.format(p, q, r), st.sampled_from(TESTS), inner, inner, inner)
    return st.one_of(
        compared,
        st.builds("({} and {})".format, compared, compared),
        st.builds("({} or {})".format, compared, compared),
        st.builds("any(v > {} for v in d)".format, st.sampled_from(("0.3", "0.5", "0.9"))),
        st.builds("all(v < {} for v in b)".format, st.sampled_from(("0.3", "0.5", "0.9"))),
    )


def statements(depth: int) -> st.SearchStrategy[list[str]]:
    """Lines of one statement."""
    number, test = numbers(2), tests(1)
    simple = st.one_of(
        st.builds("{} = {}".format, st.sampled_from(("x", "y", "b[0]", "a[0]", "a[1:]", "a[:]")), number),
        st.builds("{} += {}".format, st.sampled_from(("x", "y", "b[1]", "a[0]", "a")), number),
        st.builds("{} -= {}".format, st.sampled_from(("x", "a[-1]", "b[-1]")), number),
        st.builds("{} *= {}".format, st.sampled_from(("y", "a")), st.sampled_from(("2", "0.5", "-1"))),
        st.builds("b.append({})".format, number),
        st.builds("x, y = {}, {}".format, number, number),
        st.sampled_from(("b = b + [x]", "b = b[::-1]", "b = sorted(b)", "a = a[::-1]", "c = a", "c = a.copy()", "a = c",
                         "c[0] = y", "b = list(a)", "a = np.array([x, y])", "a = np.clip(a, 0, 1)", "b.reverse()",
                         "a = np.where(a > 0.5, a, 0.5)", "a = np.cumsum(d)", "a = a + d",
                         "x = b.pop() if len(b) > 2 else x",
                         "a = np.maximum(a, 0.5)", "a = np.sort(a)", "e = b; e[0] = x", "c = a[:1]; c[0] = x")),
    )  # fmt: skip
    one = simple.map(lambda line: [line])
    if depth == 0:
        return one
    block = st.lists(statements(depth - 1), min_size=1, max_size=2).map(_indented)
    return st.one_of(
        one,
        st.builds(lambda t, body: [f"if {t}:", *body], test, block),
        st.builds(lambda t, body, other: [f"if {t}:", *body, "else:", *other], test, block, block),
        st.builds(lambda body: ["for v in d:", *body], block),
        st.builds(lambda body: ["for i, v in enumerate(d.tolist()):", *body, "    y = y + i"], block),
        st.builds(lambda t, body: ["for v in d:", *body, f"    if {t}:", "        break"], test, block),
    )


def _indented(parts: list[list[str]]) -> list[str]:
    return [f"    {line}" for part in parts for line in part]


BEGUN = ["    x, y, v = 0.0, 1.0, 0.5", "    a, b = d.copy(), [0.25, d[0]]", "    c = a"]


def programs() -> st.SearchStrategy[str]:
    """Bodies of functions mechanism(d, rng), which put out what they have computed."""
    body = st.lists(statements(2), min_size=1, max_size=4)
    return st.builds(
        lambda parts, out: "\n".join([*BEGUN, *_indented(parts), f"    return {out}"]),
        body,
        st.sampled_from(("x, y, a, b, c", "[x, y]", "a, b", "{'x': x, 'a': a.tolist()}", "(a > 0.5).sum(), x")),
    )
