"""Expressions of numpy and Python in `d`, three entries: of them symbols have to make what numbers make."""

from __future__ import annotations

ARGUMENTS = ("d", "(d > .5)", "np.array([d, d * .5])", "[x for x in d]", "d[0]", "(d[0] > .5)", "[x > .5 for x in d]")
OF_ONE = """
    all amax amin any argmax argmin argwhere asarray atleast_1d average copy count_nonzero cumprod cumsum diff ediff1d
    flatnonzero flip max mean median min nan_to_num nanargmax nanmax nansum nonzero prod ptp ravel round shape size sort
    std sum transpose unique var vstack zeros_like
""".split()  # noqa: SIM905
OTHERS = """
    np.array_equal(d, d[::-1]); np.array_equiv(d, d[::-1]); np.allclose(d, d[::-1]); np.isclose(d, .5)
    np.digitize(d, [.25, .5]); np.digitize(d, [.25, .5], right=True); np.histogram(d, [0, .5, 1])[0]
    np.intersect1d(d[:1], d[1:]); np.isin(d, [.5, 1]); np.isin(d, d[:1]); np.searchsorted([.25, .5], d)
    np.searchsorted([.25, .5], d, side="right"); np.searchsorted(np.sort(d), .5); np.setdiff1d(d[:1], d[1:])
    np.union1d(d[:1], d[1:]); np.unique(d, return_counts=True); np.unique(d, return_index=True)
    np.unique(d > .5); np.sort(d)[::-1]; np.append(d, .5); np.compress(d > .5, d)
    np.bincount((d > .5).astype(int)); np.delete(d, d > .5); np.extract(d > .5, d)
    np.insert([1.0, 2], 0, d[0]); np.repeat([1, 2, 3], d > .5); np.take([1, 2], (d > .5) * 1)
    np.where(d > .5, 1, 0); np.where(d > .5, d, 0); np.where(d); np.where(d, 1, 0)
    np.split(d, [int(d[0] > .5)]); np.roll(d, int(d[0] > .5)); np.tile(d, 2); np.clip(d, .25, .5)
    np.clip(d, .25, None); np.clip(d[0], .25, .5); np.convolve(d, [1, 2]); np.dot(d, [1, 2, 3])
    np.inner(d, [1, 2, 3]); np.outer(d, [1, 2]); np.percentile(d, 50); np.quantile(d, .3)
    np.max(d, initial=.5); np.max(d, initial=.5, where=d < 1); np.sum(d, where=d < 1); np.mean(d, where=d < 1)
    np.average(d, weights=[1, 2, 3]); np.sum(d, keepdims=True); np.sum(np.array([d, d]), axis=0)
    np.diff(d > .5); np.maximum(d, .5); np.fmax(d, d[::-1]); np.sign(d - .5); np.abs(d - .5)
    abs(d - .5); np.abs(d > .5) + abs(d < 1)
    np.logical_and(d > .5, d < 1); ~(d > .5); (d > .5) & (d < 1); (d > .5) | (d < 1); (d > .5) ^ (d < 1)
    (d > .5) * 2; (d > .5) + (d < 1); (d > .5) * (d < 1); (d > .5) - .5; (d > .5) == (d < 1); d == d[::-1]
    d != .5; np.bool_(d[0]); np.bool_(d); d.astype(bool); (d > .5).astype(bool); d.item(1); list(d.flat)
    d.fill(.5); d.round(1); d.take([0]); d[d > .5]; np.array([1, 2, 3])[d > .5]
    np.array([1, 2, 3])[(d > .5) * 1]; max(d); sorted(d); any(d > .5); round(d[0]); bool(d[0]); d[0] and 1
    d[0] or 1; not d[0]; d[0] == .5; (d[0] > .5) + (d[1] > .5); (d[0] > .5) == 1; (d[0] > .5) < (d[1] > .5)
    sum([d[0] > .5, d[1] > .5]); sum(x > .5 for x in d); max(d[0] > .5, d[1] > .5); (d[0] > .5) // 1
    [0] * (d[0] > .5); (d[0] > .5) & True; np.True_ & (d[0] > .5); 1 - (d[0] > .5); (d[0] > .5) * d[1]
    d[0] ** 1; d[0] ** 0; np.power(d[0], 1); d[0] // .5; d[0] % .5; divmod(d[0], .5)[0]; d[0].is_integer()
    d[0].hex(); float(d[0] > .5) + d[1]; np.argmax(d > .5); sorted(d.tolist()).index(d[0])
    d.tolist().count(.5); d[0] in [.5, 1]; len([x for x in d if x]); min(d) == max(d)
"""
EXPRESSIONS = [
    *(expression.strip() for line in OTHERS.splitlines() for expression in line.split(";") if expression.strip()),
    *(f"np.{name}({argument})" for name in OF_ONE for argument in ARGUMENTS),
]
