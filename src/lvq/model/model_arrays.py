"""What a fitted model holds: frozen arrays and parts, and their forms in memory and on disk."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import numpy as np

from lvq.model.decision import DecisionRule
from lvq.model.links import Identity, Link
from lvq.model.local_diagonal import LocalDiagonal
from lvq.model.metrics import Euclidean, LocalMetric, Metric
from lvq.model.model_checks import check

ARRAYS = ("prototypes", "labels", "classes", "relevance", "importances", "variances")


@dataclass(frozen=True, eq=False, repr=False)
class ModelArrays:
    """Arrays and parts of a `PrototypeModel`, which describes them."""

    prototypes: np.ndarray
    labels: np.ndarray
    classes: np.ndarray
    metric: Metric = field(default_factory=Euclidean)
    relevance: np.ndarray | None = None
    link: Link = field(default_factory=Identity)
    decision: DecisionRule = field(default_factory=DecisionRule)
    importances: np.ndarray | None = None
    feature_names: tuple[str, ...] | None = None
    variances: np.ndarray | None = None

    def __post_init__(self) -> None:
        check(self)
        for name in ARRAYS:
            array = getattr(self, name)
            if array is not None and array.flags.writeable:  # the caller may write to it later
                object.__setattr__(self, name, array.copy(order="K"))
        self._freeze()

    def _freeze(self) -> None:
        for name in ARRAYS:
            array = getattr(self, name)
            if array is not None:
                view = array.view()
                view.flags.writeable = False
                object.__setattr__(self, name, view)

    def __repr__(self) -> str:
        kernel = "" if isinstance(self.link, Identity) else f", {type(self.link).__name__} kernel"
        return (
            f"PrototypeModel({len(self.prototypes)} prototypes, {len(self.classes)} classes, {self.n_features} features"
            f", {type(self.metric).__name__} metric{kernel})"
        )

    def __setstate__(self, state: dict[str, object]) -> None:
        """Unpickled and memory-mapped arrays are made read-only again."""
        self.__dict__.update(state)
        check(self)
        self._freeze()

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.prototypes.shape[1]

    @property
    def dtype(self) -> np.dtype:
        """Type of the prototypes."""
        return self.prototypes.dtype

    @property
    def group(self) -> np.ndarray:
        """Index of each prototype's metric, (n_prototypes,); all 0 where all prototypes have the same."""
        if not isinstance(self.metric, LocalMetric):
            return np.zeros(len(self.prototypes), dtype=np.intp)
        return self.metric.group

    @property
    def has_weights(self) -> bool:
        """Whether the metric's parameters are relevances of features, not matrices."""
        return self.relevance is not None and (self.relevance.ndim == 1 or isinstance(self.metric, LocalDiagonal))

    def matrix_of(self, prototype: int) -> np.ndarray:
        """Omega of a prototype, with |Omega (x - w)|^2 its squared distance; a vector is a diagonal matrix."""
        R = self.relevance
        if R is None:
            return np.ones(self.n_features)
        own = R[self.group[prototype]] if isinstance(self.metric, LocalMetric) else R
        return np.sqrt(own, dtype=np.float64) if self.has_weights else own.astype(np.float64)

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The model as named arrays without objects, for any format that stores arrays; see `from_arrays`."""
        from lvq.model.storage import to_arrays

        return to_arrays(self)

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> Self:
        """The model of `to_arrays`; ValueError where the arrays do not form a consistent model."""
        from lvq.model.storage import from_arrays

        return from_arrays(cls, arrays)

    def save(self, path: str | Path) -> None:
        """Write the model to a ``.npz`` file: plain arrays and a JSON header, no code."""
        from lvq.model.storage import save

        save(self, path)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a file that `save` has written."""
        from lvq.model.storage import load

        return load(cls, path)
