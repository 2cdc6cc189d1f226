"""A client's samples as the dual form multiplies with them: without the features in which none of them differ.

A feature that is zero in all samples has weights that neither contribute to an output nor move; one that has the same
value in all of them moves like every other of that value. So only the features in which samples differ are listed, and
one value is kept for the others: blank margins of pictures, whether ink or paper is 1, and words that do not occur.
"Table" is the linear model as a matrix: the weights (features, outputs), and below them, if there is one, the bias.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from ..engine.client_tensors import ClientTensors
from ..engine.contribution import SparseRows

FEW = 0.6
"""Features are listed where those in which samples differ are at most this share of all."""


@dataclass(frozen=True, slots=True, eq=False)
class AllFeatures:
    """matrix: (n, features); bias: whether the table has one."""

    matrix: Tensor
    bias: bool

    def outputs(self, table: Tensor, out: Tensor) -> None:
        """out <- the (n, outputs) outputs of the linear model with this table."""
        if self.bias:
            torch.addmm(table[-1], self.matrix, table[:-1], out=out)
        else:
            torch.mm(self.matrix, table, out=out)

    def moved(self, coefficients: Tensor) -> Tensor:
        """The table X^T C for (n, outputs) coefficients C, flat."""
        features = self.matrix.shape[1]
        table = coefficients.new_empty(features + self.bias, coefficients.shape[1])
        torch.mm(self.matrix.T, coefficients, out=table[:features])
        if self.bias:
            torch.sum(coefficients, 0, out=table[features])
        return table.view(-1)


@dataclass(frozen=True, slots=True, eq=False)
class ListedFeatures:
    """rows: (k,), the rows of the table that are listed, the bias's among them; matrix: (n, k), their values in the
    samples. others: None where all other features are zero in all samples; else (1, rows of the table), 1 for them and
    0 for the listed ones; the matrix' last column is then the value that they have, and the last of `rows` any."""

    rows: Tensor
    matrix: Tensor
    others: Tensor | None

    def outputs(self, table: Tensor, out: Tensor) -> None:
        """out <- the (n, outputs) outputs of the linear model with this table."""
        own = table.index_select(0, self.rows)
        if self.others is not None:
            torch.mm(self.others, table, out=own[-1:])
        torch.mm(self.matrix, own, out=out)

    def moved(self, coefficients: Tensor) -> SparseRows:
        """The table X^T C for (n, outputs) coefficients C."""
        return SparseRows(self.rows, torch.mm(self.matrix.T, coefficients), self.others is not None)


@dataclass(frozen=True, slots=True, eq=False)
class Bags:
    """A sparse matrix by rows: the columns and weights of each row's entries, and where each row begins among them."""

    columns: Tensor
    begins: Tensor
    weights: Tensor

    @classmethod
    def of(cls, matrix: Any, device: torch.device) -> Bags:
        """A csr_matrix's own arrays, on a CPU without copying."""
        arrays = (matrix.indices, matrix.indptr[:-1], matrix.data)
        return cls(*(torch.from_numpy(array).to(device) for array in arrays))

    def times(self, dense: Tensor) -> Tensor:
        """The matrix times a dense one."""
        return torch.nn.functional.embedding_bag(
            self.columns, dense, self.begins, mode="sum", per_sample_weights=self.weights
        )


@dataclass(frozen=True, slots=True, eq=False)
class BagFeatures:
    """Bags of words. samples: by sample; by_word: the transposed matrix of the k words that occur, below it, with a
    bias, a row of ones; rows: (k,) or (k + 1,), which rows of the table those are."""

    samples: Bags
    by_word: Bags
    rows: Tensor
    bias: bool

    def outputs(self, table: Tensor, out: Tensor) -> None:
        """out <- the (n, outputs) outputs of the linear model with this table."""
        out.copy_(self.samples.times(table))
        if self.bias:
            out += table[-1]

    def moved(self, coefficients: Tensor) -> SparseRows:
        """The table X^T C for (n, outputs) coefficients C."""
        return SparseRows(self.rows, self.by_word.times(coefficients))


Features: TypeAlias = AllFeatures | ListedFeatures | BagFeatures


def features_of(client: ClientTensors, bias: bool) -> Features:
    """A client's samples in the form that suits them."""
    if client.is_sparse:
        return _bags(client, bias)
    matrix = client.features.flatten(1)
    same, features = (matrix == matrix[0]).all(dim=0), matrix.shape[1]
    values, counts = matrix[0, same].unique(return_counts=True)
    if len(values) == 0 or features - int(counts.max()) > FEW * features:
        return AllFeatures(matrix, bias)
    value = values[counts.argmax()]
    others = same & (matrix[0] == value)
    columns = others.logical_not().nonzero().flatten()
    rows = torch.cat([columns, columns.new_full((int(bias),), features)])
    listed = [matrix[:, columns], matrix.new_ones(len(matrix), int(bias))]
    if value == 0:
        return ListedFeatures(rows, torch.cat(listed, dim=1), None)
    spread = torch.cat([others.to(matrix.dtype), matrix.new_zeros(int(bias))]).unsqueeze(0)
    rows = torch.cat([rows, rows.new_zeros(1)])
    return ListedFeatures(rows, torch.cat([*listed, value.expand(len(matrix), 1)], dim=1), spread)


def gram_of(client: ClientTensors) -> Tensor:
    """(n, n): X X^T, without the bias."""
    if client.is_sparse:
        return torch.from_numpy((client.features @ client.features.T).toarray()).to(client.device)
    matrix = client.features.flatten(1)
    return torch.as_tensor(matrix @ matrix.T)


def _bags(client: ClientTensors, bias: bool) -> BagFeatures:
    matrix = client.features
    words, places = np.unique(matrix.indices, return_inverse=True)
    compact = sparse.csr_matrix((matrix.data, places, matrix.indptr), shape=(matrix.shape[0], len(words)))
    if bias:
        words = np.append(words, matrix.shape[1])
        compact = sparse.hstack([compact, np.ones((matrix.shape[0], 1), dtype=matrix.dtype)], format="csr")
    rows = torch.from_numpy(words.astype(np.int64)).to(client.device)
    return BagFeatures(Bags.of(matrix, client.device), Bags.of(compact.T.tocsr(), client.device), rows, bias)
