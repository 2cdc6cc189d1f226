"""The part of numpy that gives the same for symbols as for numbers. Anything else of it is unsupported: it may tell
them apart (by how they are stored), keep something from call to call, or read and write files."""

from __future__ import annotations

FUNCTIONS = {
    "array", "asarray", "asanyarray", "ascontiguousarray", "zeros", "ones", "empty", "full", "zeros_like",
    "ones_like", "empty_like", "full_like", "arange", "linspace", "logspace", "geomspace", "eye", "identity",
    "diag", "tri", "tril", "triu", "meshgrid", "copy", "sum", "prod", "max", "min", "amax", "amin", "any",
    "all", "mean", "average", "median", "percentile", "quantile", "ptp", "std", "var", "cumsum", "cumprod",
    "nansum", "nanmax", "nanmin", "nanmean", "nanargmax", "nanargmin", "argmax", "argmin", "count_nonzero",
    "sort", "argsort", "searchsorted", "digitize", "histogram", "unique", "isin", "union1d", "intersect1d",
    "setdiff1d", "setxor1d", "array_equal", "array_equiv", "allclose", "isclose", "where", "nonzero",
    "flatnonzero", "argwhere", "extract", "compress", "take", "take_along_axis", "delete", "insert", "append",
    "repeat", "bincount", "ix_", "concatenate", "stack", "vstack", "hstack", "dstack", "column_stack", "split",
    "array_split", "reshape", "ravel", "transpose", "swapaxes", "moveaxis", "squeeze", "expand_dims",
    "atleast_1d", "atleast_2d", "broadcast_to", "roll", "tile", "resize", "rot90", "flip", "flipud", "fliplr",
    "unravel_index", "shape", "size", "ndim", "clip", "round", "around", "diff", "ediff1d", "dot", "inner",
    "outer", "kron", "trace", "interp", "convolve", "nan_to_num", "trapezoid",
}  # fmt: skip
NUMBERS = {
    "pi", "e", "inf", "nan", "newaxis", "euler_gamma", "True_", "False_",
}  # fmt: skip
ATTRIBUTES = {
    "shape", "size", "ndim", "T", "flat", "sum", "prod", "max", "min", "mean", "any", "all", "std", "var",
    "cumsum", "cumprod", "argmax", "argmin", "sort", "argsort", "searchsorted", "clip", "round", "copy",
    "astype", "tolist", "item", "fill", "reshape", "ravel", "flatten", "squeeze", "transpose", "swapaxes",
    "diagonal", "trace", "dot", "nonzero", "compress", "take", "repeat",
}  # fmt: skip
"""Of arrays."""
