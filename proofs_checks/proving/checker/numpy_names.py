"""What of numpy a function may use: each does with an array of symbols what it does with one of numbers, or refuses.

Ufuncs are not named: symbols answer those that they know, and refuse the others (tables.py).
"""

from __future__ import annotations

MAKING = {
    "arange", "array", "asanyarray", "asarray", "ascontiguousarray", "copy", "diag", "empty", "empty_like",
    "eye", "full", "full_like", "geomspace", "identity", "linspace", "logspace", "meshgrid", "ones",
    "ones_like", "tri", "tril", "triu", "zeros", "zeros_like",
}  # fmt: skip
REDUCING = {
    "all", "amax", "amin", "any", "argmax", "argmin", "average", "count_nonzero", "cumprod", "cumsum", "max",
    "mean", "median", "min", "nanargmax", "nanargmin", "nanmax", "nanmean", "nanmin", "nansum", "percentile",
    "prod", "ptp", "quantile", "std", "sum", "var",
}  # fmt: skip
ORDERING = {
    "argsort", "array_equal", "array_equiv", "allclose", "digitize", "histogram", "intersect1d", "isclose",
    "isin", "searchsorted", "setdiff1d", "setxor1d", "sort", "union1d", "unique",
}  # fmt: skip
CHOOSING = {
    "append", "argwhere", "bincount", "compress", "delete", "extract", "flatnonzero", "insert", "ix_",
    "nonzero", "repeat", "take", "take_along_axis", "where",
}  # fmt: skip
SHAPING = {
    "array_split", "atleast_1d", "atleast_2d", "broadcast_to", "column_stack", "concatenate", "dstack",
    "expand_dims", "flip", "fliplr", "flipud", "hstack", "moveaxis", "ndim", "ravel", "reshape", "resize",
    "roll", "rot90", "shape", "size", "split", "squeeze", "stack", "swapaxes", "tile", "transpose",
    "unravel_index", "vstack",
}  # fmt: skip
COUNTING = {
    "around", "clip", "convolve", "diff", "dot", "ediff1d", "inner", "interp", "kron", "nan_to_num", "outer",
    "round", "trace", "trapezoid",
}  # fmt: skip
CONSTANTS = {"e", "euler_gamma", "inf", "nan", "newaxis", "pi", "True_", "False_"}
KNOWN = MAKING | REDUCING | ORDERING | CHOOSING | SHAPING | COUNTING | CONSTANTS

METHODS = {
    "T", "all", "any", "argmax", "argmin", "argsort", "astype", "clip", "compress", "copy", "cumprod", "cumsum",
    "diagonal", "dot", "fill", "flat", "flatten", "item", "max", "mean", "min", "ndim", "nonzero", "prod",
    "ravel", "repeat", "reshape", "round", "searchsorted", "shape", "size", "sort", "squeeze", "std", "sum",
    "swapaxes", "take", "tolist", "trace", "transpose", "var",
}  # fmt: skip
"""Attributes of arrays, likewise."""
