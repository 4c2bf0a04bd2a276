"""Predictions of models with many prototypes, by groups of near prototypes; see `lvq.model.groups`.

The scores have the rounding errors of the distances. So twice the bound of `lvq.model.folded` tells which rows the
distances decide, and every label is that of `SharedMetric.distances`.
"""

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from lvq.model.folded import Decided, FoldedPrototypes, folded_prototypes, in_blocks, prepared_prototypes
from lvq.model.groups import GroupedPrototypes, group_prototypes
from lvq.model.metrics import SharedMetric, row_squares
from lvq.model.samples import Map

if TYPE_CHECKING:
    from lvq.model.prototype_model import PrototypeModel

MANY, ROWS = 8192, 1024  # prototypes, and samples of the first call, from which groups pay
BLOCK = 8192  # samples of one block
_known: "WeakKeyDictionary[PrototypeModel, GroupedPrototypes]" = WeakKeyDictionary()


def prediction_by(model: "PrototypeModel", X: np.ndarray) -> "FoldedPrototypes | GroupedPrediction":
    """What predicts these samples; groups are made once for a model."""
    folded = folded_prototypes(model, X.dtype)
    if len(model.prototypes) < MANY or (len(X) < ROWS and model not in _known):
        return folded
    if model not in _known:
        P = prepared_prototypes(model).P
        _known[model] = GroupedPrototypes(P, model.labels, group_prototypes(P))
    return GroupedPrediction(model, folded, _known[model])


class GroupedPrediction:
    """The interface of `FoldedPrototypes`, by groups.

    Parameters
    ----------
    model : PrototypeModel
        The model, in a metric that all prototypes share.
    folded : FoldedPrototypes
        Its folded prototypes, for the bound of rounding errors.
    grouped : GroupedPrototypes
        The groups.
    """

    def __init__(self, model: "PrototypeModel", folded: FoldedPrototypes, grouped: GroupedPrototypes) -> None:
        self.model, self.folded, self.grouped = model, folded, grouped

    def predicted(self, X: np.ndarray, mapping: Map = map) -> Decided | None:
        """Class index of each row, and the rows that need the distances; None for values not finite or too large."""
        return in_blocks(lambda blocks: [self._predicted(block) for block in blocks], X, BLOCK, mapping)

    def _predicted(self, X: np.ndarray) -> Decided | None:
        reach = self.folded.reach(X)
        if reach is None:
            return None
        metric, prepared = self.model.metric, prepared_prototypes(self.model)
        assert isinstance(metric, SharedMetric)
        Z = metric.image(X - prepared.centre, self.model.relevance)
        reach = (2 * reach).astype(Z.dtype)
        found = self.grouped.nearest(Z, row_squares(Z), reach)
        return Decided(self.model.labels[found.winner], np.flatnonzero(found.rival <= found.score + reach))
