"""A classifier around another classifier: what is passed on to the one inside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from lvq.rejection.validation import FloatArray


def _estimator_has(name: str) -> Callable[[Any], bool]:
    """For `available_if`: whether the estimator, fitted or not, has a method; its own AttributeError where not."""

    def check(self: ClassifierWrapper) -> bool:
        getattr(self.predicting_estimator, name)
        return True

    return check


class ClassifierWrapper(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Predictions, tags and metadata routing of a wrapper with the parameters `estimator` and `cv`."""

    estimator: Any
    estimator_: Any
    cv: Any

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict a class for every sample, accepted or not.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Classes.
        """
        check_is_fitted(self)
        return self.estimator_.predict(X)

    @available_if(_estimator_has("predict_proba"))
    def predict_proba(self, X: Any) -> FloatArray:
        """Probabilities of the classes by the estimator.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
        """
        check_is_fitted(self)
        return self.estimator_.predict_proba(X)

    @available_if(_estimator_has("decision_function"))
    def decision_function(self, X: Any) -> FloatArray:
        """Scores of the classes by the estimator.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        check_is_fitted(self)
        return self.estimator_.decision_function(X)

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes."""
        return self.estimator_.classes_

    @property
    def predicting_estimator(self) -> Any:
        """The estimator that makes the predictions: the fitted one, before `fit` the given one."""
        return getattr(self, "estimator_", self.estimator)

    def get_metadata_routing(self) -> MetadataRouter:
        """Metadata routing: weights and the like go to the estimator's `fit`, groups to the splitter.

        Returns
        -------
        routing : MetadataRouter
        """
        router = MetadataRouter(owner=type(self).__name__).add_self_request(self)
        router.add(estimator=self.estimator, method_mapping=MethodMapping().add(caller="fit", callee="fit"))
        if hasattr(self.cv, "split"):
            router.add(splitter=self.cv, method_mapping=MethodMapping().add(caller="fit", callee="split"))
        return router

    def _routed(self, fit_params: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Metadata for the estimator's `fit` and for the splitter's `split`."""
        if not get_config()["enable_metadata_routing"]:
            return fit_params, {}
        routed = process_routing(self, "fit", **fit_params)
        return routed.estimator.fit, routed.splitter.split if hasattr(self.cv, "split") else {}

    def __sklearn_tags__(self) -> Any:
        """The tags of the estimator about its input."""
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.input_tags, tags.non_deterministic = inner.input_tags, inner.non_deterministic
        if inner.classifier_tags is not None:
            tags.classifier_tags.multi_class = inner.classifier_tags.multi_class
            tags.classifier_tags.poor_score = inner.classifier_tags.poor_score
        return tags
