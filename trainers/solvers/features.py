"""A client's samples without the features that are zero in all of them: what the dual form multiplies with.

Such a feature's weights neither contribute to an output nor move, so that leaving it out changes nothing. Below the
features comes the bias, a feature that is 1 everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from ..engine.client_tensors import ClientTensors

FEW = 0.6
"""Features that are used at all are picked out where they are at most this share of all."""


@dataclass(frozen=True, slots=True, eq=False)
class DenseFeatures:
    """matrix: (n, k). columns: (k,), which features those are; None for all of them."""

    matrix: Tensor
    columns: Tensor | None

    def outputs(self, weight: Tensor, out: Tensor) -> None:
        """out <- X W for a (features, outputs) weight."""
        torch.mm(self.matrix, weight if self.columns is None else weight.index_select(0, self.columns), out=out)

    def transposed_times(self, coefficients: Tensor, rows: int, out: Tensor | None = None) -> Tensor:
        """The first rows, k or k + 1, of (k + 1, outputs): X^T C, and below it the sums of C over the samples."""
        result = coefficients.new_empty(rows, coefficients.shape[1]) if out is None else out
        used = self.matrix.shape[1]
        torch.mm(self.matrix.T, coefficients, out=result[:used])
        if rows > used:
            torch.sum(coefficients, 0, out=result[used])
        return result

    def gram(self) -> Tensor:
        """(n, n): X X^T."""
        return self.matrix @ self.matrix.T


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
    """Bags of words. samples: by sample; by_word: the transposed matrix of the k words that occur, below it a row of
    ones; columns: (k,), which words those are; matrix: the samples as a csr_matrix."""

    samples: Bags
    by_word: Bags
    columns: Tensor
    matrix: Any

    def outputs(self, weight: Tensor, out: Tensor) -> None:
        """out <- X W for a (features, outputs) weight."""
        out.copy_(self.samples.times(weight))

    def transposed_times(self, coefficients: Tensor, rows: int, out: Tensor | None = None) -> Tensor:
        """The first rows, k or k + 1, of (k + 1, outputs): X^T C, and below it the sums of C over the samples."""
        product = self.by_word.times(coefficients)[:rows]
        return product if out is None else out.copy_(product)

    def gram(self) -> Tensor:
        """(n, n): X X^T."""
        return torch.from_numpy((self.matrix @ self.matrix.T).toarray()).to(self.columns.device)


Features: TypeAlias = DenseFeatures | BagFeatures


def features_of(client: ClientTensors) -> Features:
    """A client's samples in the form that suits them."""
    if client.is_sparse:
        return _bags(client)
    matrix = client.features.flatten(1)
    used = (matrix != 0).any(dim=0)
    columns = used.nonzero().flatten()
    if len(columns) > FEW * len(used):
        return DenseFeatures(matrix, None)
    return DenseFeatures(matrix[:, columns], columns)


def _bags(client: ClientTensors) -> BagFeatures:
    matrix = client.features
    words, places = np.unique(matrix.indices, return_inverse=True)
    ones = np.ones((matrix.shape[0], 1), dtype=matrix.dtype)
    compact = sparse.csr_matrix((matrix.data, places, matrix.indptr), shape=(matrix.shape[0], len(words)))
    by_word = sparse.hstack([compact, ones], format="csr").T.tocsr()
    columns = torch.from_numpy(words.astype(np.int64)).to(client.device)
    return BagFeatures(Bags.of(matrix, client.device), Bags.of(by_word, client.device), columns, matrix)
