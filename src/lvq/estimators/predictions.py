"""Predictions of fitted estimators: input validation here, everything else in `PrototypeModel`."""

import sys
from collections.abc import Callable
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import NotFittedError

from lvq.estimators.inputs import by_partition, check_samples, in_memory, samples_to_predict
from lvq.model.links import Kernel
from lvq.model.prototype_model import Explanation, PrototypeModel
from lvq.model.rows import as_numpy, is_tensor
from lvq.model.samples import block_threads
from lvq.solvers.state import TrainingState
from lvq.typing import Array, ClassWeight

Value = TypeVar("Value")
_NO_WEIGHTS = "it has no feature weights; see feature_importances_, or lambda_ where it has matrices"


def like_given(values: Array, X: object) -> Array:
    """Values as a tensor on the device of X where X is one and the values are numbers; else unchanged."""
    if not is_tensor(X) or is_tensor(values) or values.dtype.kind not in "biuf":
        return values
    return sys.modules["torch"].as_tensor(values, device=X.device)


class ModelPredictions:
    """Methods and attributes of an estimator with a fitted `model_`.

    Attributes
    ----------
    model_ : PrototypeModel
        The fitted model: frozen arrays and parts. All predictions depend on it alone.
    prototypes_ : ndarray of shape (n_prototypes, n_features)
        Prototypes, class by class.
    prototype_labels_ : ndarray of shape (n_prototypes,)
        Their classes.
    relevances_ : ndarray of shape (n_features,)
        Weight of each feature, where it is learned.
    omega_, lambda_ : ndarray of shape ([n_matrices,] rank, n_features), ([n_matrices,] n_features, n_features)
        The matrix Omega and Lambda = Omega'Omega, where it is learned; Lambda is computed on access.
    feature_importances_ : ndarray of shape (n_features,)
        Importance of each feature, with sum one, where features have relevances: the share of the model's outputs
        (probabilities, differences of distances) that the feature explains alone. It does not depend on units. Not
        available after `partial_fit`; `lvq.variable_importances` computes it from samples.
    kernel_width_ : float
        Width of the kernel, where there is one.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    objective_history_ : ndarray of shape (n_iter_,)
        Mean cost of each epoch, each sample's taken just before its step; for lbfgs, the objective of each iteration.
    n_iter_ : int
        Epochs or iterations run.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had them.
    """

    model_: PrototypeModel
    n_features_in_: int
    n_iter_: int
    objective_history_: np.ndarray
    _state: TrainingState
    _class_weight: ClassWeight  # as it was in the last fit

    @by_partition
    def predict(self, X: ArrayLike) -> np.ndarray:
        """Predict the class of the prototype nearest to each sample.

        With ``decision="posterior"`` it is the class of the largest posterior.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Classes.
        """
        model = self._fitted("predict")
        # one product for each block, which has threads of its own; more threads would not help
        return like_given(model.classes[model.predicted(check_samples(self, X))], X)

    def _of_distances(self, function: Callable[[Array], np.ndarray], X: ArrayLike) -> Array:
        """A function of the distances of samples."""
        samples = check_samples(self, X)
        with block_threads(samples.shape[0] * self.model_.products):
            return like_given(self.model_.over_blocks(function, samples), X)

    @by_partition
    def decision_function(self, X: ArrayLike) -> np.ndarray:
        """Score of each class: how much nearer it is than all others.

        With d_k the smallest distance (after the kernel) to a prototype of class k, and d_other to any other prototype,
        this is (d_other - d_k)/(d_other + d_k) in [-1, 1], or xi (d_other - d_k) for costs with a steepness xi. With
        the cross-entropy it is the logarithm of `predict_proba`, or the log-odds with two classes; with
        ``decision="posterior"`` it is the same for the posterior before calibration.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            The predicted class has the largest; with two classes there is one column, positive for ``classes_[1]``.
        """
        model = self._fitted("decision_function")
        table = self._of_distances(model.scores, X)
        return table[:, 1] if len(model.classes) == 2 else table

    @by_partition
    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        """Probabilities of the classes.

        For costs with a steepness xi they are the softmax of -xi d_k, otherwise of the relative scores of
        `decision_function`; with ``decision="posterior"`` the posterior. `LVQClassifier` and `LVQClassifierCV`
        calibrate them: they are raised to the power of one over the temperature `model_.decision.temperature`, and
        divided by their sum. `sklearn.calibration.CalibratedClassifierCV` calibrates other models.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            Rows sum to one; the predicted class has the largest.
        """
        return self._of_distances(self._fitted("predict_proba").probabilities, X)

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Accuracy of the predictions.

        Parameters
        ----------
        X : array-like or torch.Tensor of shape (n_samples, n_features)
            Samples.
        y : array-like or torch.Tensor of shape (n_samples,)
            Their classes; on any device.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples.

        Returns
        -------
        score : float
            Accuracy.
        """
        from sklearn.metrics import accuracy_score  # a tenth of the time of a first import and fit

        y, predicted, weight = (as_numpy(in_memory(part)) for part in (y, self.predict(X), sample_weight))
        return float(accuracy_score(y, predicted, sample_weight=weight))

    def explain(self, X: ArrayLike) -> Explanation:
        """Winner, rival, certainty and the contribution of each feature, for each sample.

        `lvq.explain` does the same for a whole pipeline, in the features of its input.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        explanation : Explanation
            Named tuple of `label`, `winner`, `rival`, `certainty` and `contributions`. With u the difference of sample
            and prototype, feature l contributes u_l (Lambda u)_l to the squared distance; `contributions` is its
            contribution to the rival's distance minus that to the winner's, and a row sums to D- - D+.
        """
        return self._fitted("explain").explain(
            samples_to_predict(self, as_numpy(X))
        )  # it makes rows of length one itself

    # -- fitted attributes ---------------------------------------------------------------------------------------------

    def _fitted(self, wanted: str) -> PrototypeModel:
        """The fitted model; NotFittedError, which is an AttributeError too, where there is none."""
        if not hasattr(self, "model_"):
            raise NotFittedError(f"This {type(self).__name__} instance is not fitted yet: call fit before {wanted}.")
        return self.model_

    def _array(self, name: str, value: Value | None, reason: str) -> Value:
        if value is None:
            raise AttributeError(f"This {type(self).__name__} has no {name}: {reason}.")
        return value

    @property
    def classes_(self) -> np.ndarray:
        """The classes."""
        return self._fitted("classes_").classes

    @property
    def prototypes_(self) -> np.ndarray:
        """Prototypes, class by class."""
        return self._fitted("prototypes_").prototypes

    @property
    def prototype_labels_(self) -> np.ndarray:
        """Class of each prototype."""
        model = self._fitted("prototype_labels_")
        return model.classes[model.labels]

    @property
    def relevances_(self) -> np.ndarray:
        """Weight of each feature, or a row of weights for each group of prototypes."""
        model = self._fitted("relevances_")
        return self._array("relevances_", model.relevance if model.has_weights else None, _NO_WEIGHTS)

    @property
    def omega_(self) -> np.ndarray:
        """Omega, or one for each group of prototypes."""
        model = self._fitted("omega_")
        return self._array("omega_", None if model.has_weights else model.relevance, "it has no matrix")

    @property
    def lambda_(self) -> np.ndarray:
        """Omega'Omega; computed on access, as with 5,000 features it takes 200 MB for each matrix."""
        model = self._fitted("lambda_")
        omega = self._array("lambda_", None if model.has_weights else model.relevance, "it has no matrix")
        return np.swapaxes(omega, -1, -2) @ omega

    @property
    def kernel_width_(self) -> float:
        """Width of the kernel."""
        link = self._fitted("kernel_width_").link
        return self._array("kernel_width_", float(link.width) if isinstance(link, Kernel) else None, "it has no kernel")

    @property
    def feature_importances_(self) -> np.ndarray:
        """Importance of each feature, of sum one: how much of what the model decides by it alone explains."""
        reason = (
            "it has no relevances, or was changed by partial_fit, add_class or remove_class, which do not see all "
            "samples; call lvq.variable_importances(model, X) with samples"
        )
        return self._array("feature_importances_", self._fitted("feature_importances_").importances, reason)
