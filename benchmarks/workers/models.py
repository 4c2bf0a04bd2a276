"""This library and scikit-learn: task -> model with `fit`, `predict` and `prototypes`.

A task names the `model` ("glvq", "gmlvq", "lvq1", "default", ...), `per_class`, `rank`, and how long to train: `epochs`
sample by sample, `max_iter` iterations, `short` (as little as possible, where only predictions are measured), or to the
library's own stop.
"""

from typing import Any

import numpy as np

Task = dict[str, Any]
Prototypes = tuple[np.ndarray, np.ndarray, np.ndarray | None]


class Model:
    """A model of some library; `fit` makes it anew at each call."""

    #: Seconds that the library measured itself, where it is not called in this process.
    own_times: dict[str, Any] | None = None
    fitted: Any

    def __init__(self, task: Task) -> None:
        self.task = task

    def make(self, n_features: int) -> Any:
        """An estimator in scikit-learn's manner."""
        raise NotImplementedError(f"{type(self).__name__} has no model {self.task['model']!r}")

    def prepare(self, X: np.ndarray) -> None:
        """Import the library, which does not belong to the time of a fit."""
        self.make(X.shape[1])

    def fit(self, X: np.ndarray, y: np.ndarray) -> None:
        """Train; classes are 0, 1, 2, ..."""
        self.fitted = self.make(X.shape[1]).fit(X, y)

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Classes."""
        return np.asarray(self.fitted.predict(X))

    def prototypes(self) -> Prototypes | None:
        """Prototypes, their labels and Omega (d = |Omega (x - w)|^2); None for other models."""
        return None


class Ours(Model):
    """This library, by its public names."""

    def make(self, n_features: int) -> Any:
        import lvq
        from lvq.model.relevance import Matrix

        task, model = self.task, self.task["model"]
        if model == "default":
            default = lvq.LVQClassifier(random_state=task.get("seed", 0))
            return default.set_params(max_iter=2) if task.get("short") else default
        given: dict[str, Any] = {"random_state": task.get("seed", 0), "n_prototypes": task.get("per_class", 1)}
        if model == "lvq1":
            return lvq.LVQ1(max_iter=task["epochs"], **given)
        if task.get("epochs"):
            given |= {"solver": "online", "max_iter": task["epochs"]}
        elif task.get("short") or task.get("max_iter"):
            given["max_iter"] = task.get("max_iter", 2)
        if model == "gmlvq":
            return lvq.GMLVQ(relevance=Matrix(rank=task.get("rank")), **given)
        return lvq.GLVQ(**given) if model == "glvq" else super().make(n_features)

    def prepare(self, X: np.ndarray) -> None:
        """The online solver is compiled too, once for a machine: that is stored on disk."""
        model = self.make(X.shape[1])
        if self.task.get("epochs"):
            y = np.repeat([0, 1], 2 * self.task.get("per_class", 1))
            model.fit(np.random.default_rng(0).standard_normal((len(y), X.shape[1])).astype(X.dtype), y)

    def prototypes(self) -> Prototypes | None:
        if self.task["model"] not in ("lvq1", "glvq", "gmlvq"):
            return None
        found = self.fitted
        return found.prototypes_, found.prototype_labels_, getattr(found, "omega_", None)


class ScikitLearn(Model):
    """Classifiers of scikit-learn with their defaults."""

    def make(self, n_features: int) -> Any:
        model = self.task["model"]
        if model == "nearest_centroid":
            from sklearn.neighbors import NearestCentroid as Chosen
        elif model == "k_neighbors":
            from sklearn.neighbors import KNeighborsClassifier as Chosen
        elif model == "logistic_regression":
            from sklearn.linear_model import LogisticRegression as Chosen
        elif model == "svc":
            from sklearn.svm import SVC as Chosen
        elif model == "lda":
            from sklearn.discriminant_analysis import LinearDiscriminantAnalysis as Chosen
        elif model == "hist_gradient_boosting":
            from sklearn.ensemble import HistGradientBoostingClassifier as Chosen
        else:
            return super().make(n_features)
        return Chosen()


#: scikit-learn's classifiers, in the order of the tables.
SCIKIT_LEARN = ("nearest_centroid", "k_neighbors", "logistic_regression", "svc", "lda", "hist_gradient_boosting")
