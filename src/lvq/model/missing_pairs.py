"""Distances to samples with missing values in one matrix for all prototypes, by pairs of missing features.

With Lambda = Omega'Omega, m the mask of a sample, S its missing features, x its values (0 where missing), y = Lambda x:

    |Omega (x - m w)|^2 = x'y - 2 (m y)'w + w'Lambda w - 2 sum_a w_a (Lambda w)_a + sum_ab w_a Lambda_ab w_b,  a, b in S

The first terms are one product with Lambda and one with the prototypes, as for complete samples. The two sums are over
the pairs of missing features, of which there are few: with a fifth of the values missing n^2/50. The pairs are the same
for all prototypes, so that rows of a table of their terms, (n, n, M), are added (`missing_kernels.py`).

The gradient by Lambda is G = sum_ij g_ij (x_i - m_i w_j)(x_i - m_i w_j)', with g_ij the derivative by the distance:

    G = A + A' + sum_j (w_j w_j') C_j,    A = sum_i x_i (s_i x_i/2 - m_i u_i)',    C_j = sum_i g_ij m_i m_i',

s_i = sum_j g_ij and u_i = sum_j g_ij w_j: one product. C_jab is c_j - b_ja - b_jb + T_jab, with c_j = sum_i g_ij, T_jab
the sum of g_ij over the rows in which a and b are missing, and b_ja = T_jaa. The gradient by w_j is
2 ((Lambda C_j) w_j - sum_i g_ij m_i y_i). (w_j w_j') C_j and Lambda C_j are elementwise.
"""

from __future__ import annotations

from types import ModuleType
from typing import NamedTuple

import numpy as np

from lvq.model.metrics import DistanceGradient

MAX_MISSING = 0.35  # fraction of the values; pairs grow with its square, and with more of them images are faster
MIN_RANK = 0.5  # rows of Omega for each feature; with fewer, images of the prototypes are faster
MAX_TABLE = 2**18  # numbers of the table, which has to stay in the cache


def kernels() -> ModuleType | None:
    """The compiled sums; None without numba, which a stored model does not need."""
    try:
        from lvq.model import missing_kernels
    except ImportError:
        return None
    return missing_kernels


def faster_by_pairs(W: np.ndarray, R: np.ndarray) -> bool:
    """Whether sums over pairs take less time than images of each masked prototype; by the shapes alone."""
    m, n = R.shape[-2:]
    return R.ndim == 2 and m >= MIN_RANK * n and n * n * len(W) <= MAX_TABLE and kernels() is not None


class Pairs(NamedTuple):
    """What is the same for all samples."""

    W: np.ndarray  # (M, n)
    R: np.ndarray  # (m, n)
    Lambda: np.ndarray  # (n, n)
    base: np.ndarray  # (M,), w'Lambda w
    table: np.ndarray  # (n, n, M/8, 8) with M rounded up: what a pair of missing features adds

    @classmethod
    def of(cls, W: np.ndarray, R: np.ndarray) -> Pairs:
        """Of prototypes and one Omega."""
        Lambda = R.T @ R
        pulled = W @ Lambda
        return cls(W, R, Lambda, np.einsum("ij,ij->i", W, pulled), _table(W, Lambda, pulled))

    def squares(self, values: np.ndarray, mask: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Squared lengths of Omega (x - m w) for all rows and prototypes, (N, M), and m y, (N, n)."""
        compiled = kernels()
        assert compiled is not None
        seen = values @ self.Lambda
        D = np.empty((len(values), len(self.W)), dtype=seen.dtype)
        compiled.forward(values, mask, seen, self.table, self.base, D)
        D += seen @ (-2 * self.W.T)
        return np.maximum(D, 0, out=D), seen

    def pull_back(
        self, values: np.ndarray, mask: np.ndarray, seen: np.ndarray, by_square: DistanceGradient
    ) -> tuple[np.ndarray, np.ndarray]:
        """Gradient by the prototypes and by Omega; `seen` is m y, and is overwritten."""
        compiled = kernels()
        assert compiled is not None
        (count, n), value, touched = self.W.shape, by_square.value, by_square.touched
        if touched is None:
            touched = np.broadcast_to(np.arange(count), value.shape)
        by_prototype, own = np.zeros((count, n), dtype=seen.dtype), np.zeros((count, n, n), dtype=seen.dtype)
        compiled.backward(values, mask, seen, self.W, value, touched, by_prototype, own)
        own = _together(own, by_square.column_sums(count))
        own *= self.W[:, None]  # C_jab w_jb
        by_prototype = np.einsum("jab,ab->ja", own, self.Lambda) - by_prototype
        A = values.T @ seen
        return 2 * by_prototype, 2 * self.R @ (A + A.T + np.einsum("jab,ja->ab", own, self.W))


def _table(W: np.ndarray, Lambda: np.ndarray, pulled: np.ndarray) -> np.ndarray:
    """What a pair of missing features (a, b), a <= b, adds to each squared length; single features on the diagonal."""
    compiled = kernels()
    assert compiled is not None
    count, n = W.shape
    columns = np.zeros((n, -(-count // compiled.LANES) * compiled.LANES), dtype=W.dtype)
    columns[:, :count] = W.T
    table = columns[:, None] * (2 * Lambda)[:, :, None]
    table *= columns
    each = np.arange(n)
    table[each, each] /= 2
    table[each, each, :count] -= 2 * (W * pulled).T
    return table.reshape(n, n, -1, compiled.LANES)


def _together(T: np.ndarray, total: np.ndarray) -> np.ndarray:
    """C_jab, the sum of g_ij over the rows that have both features, from sums T over those that lack both, a <= b."""
    missing = np.diagonal(T, axis1=1, axis2=2)  # b_ja, (M, n)
    C = T + T.transpose(0, 2, 1)
    C += (total[:, None] - missing)[:, None]
    C -= missing[:, :, None]
    each = np.arange(T.shape[1])
    C[:, each, each] -= missing
    return C
