"""An estimator as a specification: its parameters, and the parts that they give."""

from dataclasses import replace
from typing import Literal

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils import Tags

from lvq.estimators.parameters import estimator
from lvq.estimators.parts import Parts, by_stored_features
from lvq.estimators.specified_parts import make_kernel, make_relevance
from lvq.model.costs import CostOrRule
from lvq.model.links import Link
from lvq.model.relevance import Relevance
from lvq.model.sparse_rows import is_sparse
from lvq.solvers.adam import Adam
from lvq.solvers.online_rule import Online
from lvq.typing import ClassWeight, Label, Seed

# Address of the API reference for scikit-learn's HTML view, for example "https://.../{estimator_name}.html". The
# project has no public address; with an empty one the view shows no link.
DOCUMENTATION = ""
WIDE_SPARSE = 2**14  # features of sparse samples from which L-BFGS is not the default
START_PARAMETERS = ("n_prototypes", "n_prototypes_total", "init", "kernel", "kernel_width", "missing")


@estimator
class Specification(BaseEstimator):
    """Parameters of all estimators, and the parts made from them."""

    _doc_link_module = "lvq"
    _doc_link_template = DOCUMENTATION

    n_prototypes: int | dict[Label, int] | Literal["auto"] = 1
    n_prototypes_total: int | None = None
    init: str | ArrayLike | tuple[ArrayLike, ArrayLike] = "kmeans"
    kernel: str | Link | None = None
    kernel_width: float | Literal["auto", "learned"] = "auto"
    learning_rate: float = 0.1
    relevance_rate: float = 0.01
    max_iter: int = 100
    tol: float | None = None
    n_iter_no_change: int = 5
    shuffle: bool = True
    class_weight: ClassWeight = None
    random_state: Seed = None
    warm_start: bool = False
    verbose: bool = False

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        missing = getattr(self, "missing", "raise") == "ignore"
        tags.input_tags.allow_nan = missing
        tags.input_tags.sparse = getattr(self, "device", None) is None and not missing
        return tags

    # -- parts: objects made from the parameters -----------------------------------------------------------------------

    def _cost(self) -> CostOrRule:
        raise NotImplementedError

    def _relevance(self) -> Relevance:
        return make_relevance(self, getattr(self, "relevance", None))

    def _parts(self, device: str | None = None) -> Parts:
        cost, relevance = self._cost(), self._relevance()
        return Parts(
            cost=cost,
            relevance=relevance,
            kernel=make_kernel(self.kernel),
            kernel_width=self.kernel_width,
            solver=self._solver(relevance),
            online=self._online(),
            batch=self._batch(),
            by_posterior=getattr(self, "decision", "nearest") == "posterior",
            sharpness=float(getattr(cost, "slope", 0.0) or 5.0),
            start=tuple((name, getattr(self, name)) for name in START_PARAMETERS if hasattr(self, name)),
            device=device,
            ignores_missing=getattr(self, "missing", "raise") == "ignore",
        )

    def _parts_for(self, X: ArrayLike, device: str | None) -> Parts:
        """The parts; "auto" is online or Adam for many sparse features, of which L-BFGS holds 20 copies."""
        parts, automatic = self._parts(device), getattr(self, "solver", None) == "auto"
        if automatic and parts.solver == "lbfgs" and is_sparse(X) and X.shape[1] >= WIDE_SPARSE:
            return replace(parts, solver="online" if by_stored_features(parts) else "adam")
        return parts

    def _solver(self, relevance: Relevance) -> str:
        return "online"

    def _online(self) -> Online:
        return Online(
            learning_rate=self.learning_rate,
            relevance_rate=self.relevance_rate,
            width_rate=self.learning_rate if isinstance(self.kernel_width, str) else 0.0,
            schedule=getattr(self, "schedule", "linear"),
            step=getattr(self, "step", "gradient"),
            time_slope=getattr(self, "slope", None) == "time",
            max_iter=self.max_iter,
            tol=self.tol,
            n_iter_no_change=self.n_iter_no_change,
            shuffle=self.shuffle,
        )

    def _batch(self) -> Adam:
        return Adam(max_iter=self.max_iter, tol=self.tol)
