"""A client's samples without the features that are zero in all of them: what the dual form multiplies with.

Such a feature's weights neither contribute to an output nor move, so that leaving it out changes nothing.
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

    def transposed_times(self, coefficients: Tensor, out: Tensor | None = None) -> Tensor:
        """(k, outputs): X^T C for (n, outputs) coefficients."""
        return torch.mm(self.matrix.T, coefficients, out=out)

    def gram(self) -> Tensor:
        """(n, n): X X^T."""
        return self.matrix @ self.matrix.T


@dataclass(frozen=True, slots=True, eq=False)
class BagFeatures:
    """Bags of words. samples: (words, their places in `samples`, their weights) by sample; by_word: the transposed
    (k, n) matrix of the words that occur; columns: (k,), which words those are."""

    samples: tuple[Tensor, Tensor, Tensor]
    by_word: Any
    columns: Tensor

    def outputs(self, weight: Tensor, out: Tensor) -> None:
        """out <- X W for a (features, outputs) weight."""
        words, places, weights = self.samples
        out.copy_(torch.nn.functional.embedding_bag(words, weight, places, mode="sum", per_sample_weights=weights))

    def transposed_times(self, coefficients: Tensor, out: Tensor | None = None) -> Tensor:
        """(k, outputs): X^T C for (n, outputs) coefficients."""
        product = torch.from_numpy(self.by_word @ coefficients.cpu().numpy()).to(coefficients.device)
        return product if out is None else out.copy_(product)

    def gram(self) -> Tensor:
        """(n, n): X X^T."""
        return torch.from_numpy((self.by_word.T @ self.by_word).toarray()).to(self.columns.device)


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
    compact = sparse.csr_matrix((matrix.data, places, matrix.indptr), shape=(matrix.shape[0], len(words)))
    # On a CPU these are the matrix's own arrays, not copies.
    parts = (matrix.indices, matrix.indptr[:-1], matrix.data)
    first, second, third = (torch.from_numpy(part).to(client.device) for part in parts)
    return BagFeatures(
        (first, second, third), compact.T.tocsr(), torch.from_numpy(words.astype(np.int64)).to(client.device)
    )
