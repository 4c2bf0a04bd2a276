"""Blocks of samples for predictions, so that their memory stays bounded."""

from typing import TYPE_CHECKING

import numpy as np

from lvq.model.arrays import is_tensor
from lvq.model.sparse_rows import is_sparse, take_rows
from lvq.typing import Array

if TYPE_CHECKING:
    from lvq.model.prototype_model import PrototypeModel

BLOCK_BYTES = 2**25  # of distances and copies of samples that a prediction holds at a time on a device
CACHE_BYTES = 2**21  # the same on a processor: they stay in its cache
MIN_ROWS = 16  # at a time, with any number of prototypes: each block reads all of them


def blocks_of(model: "PrototypeModel", X: Array, filled: bool = False) -> list[Array]:
    """Views of the samples; at least one, which may be empty. Sparse rows are not copied, unless `filled`."""
    size = BLOCK_BYTES if is_tensor(X) else CACHE_BYTES
    least = MIN_ROWS if len(model.prototypes) > 3 * model.n_features else 1
    rows = max(least, size // (8 * (len(model.prototypes) + 3 * model.n_features)))  # distances, copies, images
    if is_sparse(X) and not filled:
        images = 0 if model.relevance is None else int(np.prod(model.relevance.shape[:-1]))
        rows = max(1, BLOCK_BYTES // (8 * (4 * len(model.prototypes) + 2 * images)))
    return [take_rows(X, slice(begin, begin + rows)) for begin in range(0, max(1, X.shape[0]), rows)]
