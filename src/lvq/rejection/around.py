"""What a classifier takes from the one inside it: classes, features, and the tags of scikit-learn."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils import Tags, get_tags

from lvq.typing import Labels


class AroundClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Base of classifiers with a parameter `estimator` and the fitted `estimator_` that makes the predictions."""

    estimator: BaseEstimator
    estimator_: BaseEstimator

    @property
    def predicting_estimator(self) -> BaseEstimator:
        """The classifier inside: the fitted one, before `fit` the given one."""
        return getattr(self, "estimator_", self.estimator)

    @property
    def classes_(self) -> Labels:
        """The classes."""
        return self.estimator_.classes_

    @property
    def n_features_in_(self) -> int:
        """Number of features; only where the classifier inside has it."""
        return self.estimator_.n_features_in_

    @property
    def feature_names_in_(self) -> np.ndarray:
        """Names of the features; only where X had them."""
        return self.estimator_.feature_names_in_

    def __sklearn_tags__(self) -> Tags:
        """The tags of the classifier inside about its input."""
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.input_tags, tags.non_deterministic = inner.input_tags, inner.non_deterministic
        tags.classifier_tags = inner.classifier_tags or tags.classifier_tags
        return tags
