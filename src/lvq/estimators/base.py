"""The base of all estimators: an estimator is a specification, `fit` turns it into a `PrototypeModel`.

`fit` in steps: validate the parameters and make the parts (`_parts`), validate the samples, start (`starts`,
`training.begin`), run a solver (`training.run_online`, `run_batch`), and set the result in one assignment.
"""

from typing import Self

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin, clone
from sklearn.utils import check_random_state

from lvq.estimators import training as steps
from lvq.estimators.atomic import unchanged_on_error
from lvq.estimators.continued_fits import check_stream, check_unchanged
from lvq.estimators.convergence import warn_if_not_converged
from lvq.estimators.given_prototypes import check_auto_start, given_prototypes
from lvq.estimators.growth import chosen_counts
from lvq.estimators.parameters import estimator
from lvq.estimators.part_checks import (
    check_cost_matrix_classes,
    check_parts,
    check_rank,
    check_sample_prototypes,
    check_sparse_matrix,
    check_structure,
    check_width,
)
from lvq.estimators.partition_checks import check_partitioned_solver, is_dask, refuse_dask, training_partitions
from lvq.estimators.parts import Parts
from lvq.estimators.prediction import ModelPredictions
from lvq.estimators.sample_prototypes import on_samples
from lvq.estimators.specification import Specification
from lvq.estimators.stream_steps import add_prototypes, measure_units, next_samples, with_cost, with_moments
from lvq.estimators.tensor_checks import training_tensors
from lvq.estimators.tensors import float_types, floating, on_device, require_torch
from lvq.estimators.training import Training
from lvq.estimators.validation import check_batch, check_training_data
from lvq.model.arrays import as_numpy, is_tensor, namespace
from lvq.model.feature_moments import FeatureMoments
from lvq.model.incomplete_samples import samples_of
from lvq.model.links import Kernel
from lvq.model.objective import Params
from lvq.model.samples import ArraySamples
from lvq.model.sparse_rows import is_sparse, take_rows
from lvq.model.starts import distribute, prototypes_per_class, start_prototypes
from lvq.solvers.progress import progress_bar, silent
from lvq.solvers.threads import product_threads, single_threaded_products


@estimator
class BaseLVQ(ModelPredictions, ClassifierMixin, Specification):
    """Base of all estimators: from specification and samples to a fitted model."""

    # -- learning ------------------------------------------------------------------------------------------------------

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model to samples.

        Parameters
        ----------
        X : array-like, sparse matrix, torch tensor, dask array or dask data frame of shape (n_samples, n_features)
            Samples. Sparse ones, best in CSR format, are never made dense as a whole. With lbfgs and adam tensors stay
            on their device, from the start to the last iteration, and the samples of dask on their workers.
        y : array-like, torch tensor, dask array or dask series of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the samples; with lbfgs and below 15,000 samples a weight is exactly a number of copies. Online
            it is the factor of each sample's step, after division by their mean. A sample of weight 0 is left out.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        with unchanged_on_error(self):
            return self._fit(X, y, sample_weight)

    def _fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None) -> Self:
        self._validate_params()
        X, device = self._placed(X)
        parts = self._parts_for(X, device)
        check_parts(self, parts)
        check_sample_prototypes(self, parts, in_memory=not is_dask(X))
        warm = self.warm_start and hasattr(self, "model_")
        samples, classes = self._samples(parts, X, y, sample_weight, reset=not warm)
        random_state = check_random_state(self.random_state)
        check_cost_matrix_classes(self, len(classes))
        report = progress_bar(type(self).__name__, self.max_iter) if self.verbose else silent
        with single_threaded_products(product_threads()):
            shaped, parts, temperature = self._settled(parts, samples, classes, warm)
            if warm:
                check_unchanged(self, parts, classes, stream=False)
                training = steps.restarted(parts, self._training(), samples.n_samples, len(classes), random_state)
                training = with_moments(training, samples)
            else:
                training = shaped._begin(parts, samples, classes, random_state)
            training, result = steps.run(parts, training, samples, report)
            if parts.solver == "lbfgs":
                warn_if_not_converged(self, result, samples)
            if getattr(self, "sample_prototypes", False):
                training = on_samples(parts, training, samples, classes)
            if temperature is None:
                temperature = shaped._temperature(parts, samples, classes)
            self._set_fitted(training, parts, classes, samples, result.n_iter, np.array(result.history), temperature)
        return self

    def _temperature(self, parts: Parts, samples: ArraySamples, classes: np.ndarray) -> float:
        """Temperature of the probabilities; one where they are not calibrated."""
        return 1.0

    def partial_fit(
        self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Update the model with one batch of a stream, each sample once.

        The first samples set the starting prototypes and the units of rates and steepness. A class first seen later
        gets its prototypes from its first samples. A stream has no known end: with ``schedule="linear"``
        rates are constant, and that of the prototypes is a tenth of `learning_rate` in models with a cost. For streams
        that change fast ``schedule="constant"`` takes it as it is given.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Their classes.
        classes : array-like of shape (n_classes,), optional
            All classes that can occur; needed in the first call.
        sample_weight : array-like of shape (n_samples,), optional
            Factor of each sample's step.

        Returns
        -------
        self : object
            The updated estimator.
        """
        with unchanged_on_error(self):
            return self._partial_fit(as_numpy(X), as_numpy(y), as_numpy(classes), as_numpy(sample_weight))

    def _partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None,
        sample_weight: ArrayLike | None,
        moments: FeatureMoments | None = None,
    ) -> Self:
        refuse_dask(self, X, "partial_fit", "Give the partitions one after another.")
        first = not hasattr(self, "model_")
        self._validate_params()
        parts = self._parts()
        check_parts(self, parts)
        check_stream(self, parts)
        X, y, weight, classes = check_batch(self, X, y, classes, sample_weight, first=first)
        if first:
            samples = samples_of(X, y, weight) if parts.ignores_missing else ArraySamples(X, y, weight)
            random_state = check_random_state(self.random_state)
            training = self._begin(parts, samples, classes, random_state, stream=True, moments=moments)
            n_iter, history, temperature = 0, np.array([]), 1.0
        else:
            check_unchanged(self, parts, classes, stream=True)
            training, samples = next_samples(with_cost(self._training(), parts), X, y, weight)
            training = self._add_classes(parts, training, samples, classes)
            training = measure_units(training, parts, samples)
            n_iter, history, temperature = self.n_iter_, self.objective_history_, self.model_.decision.temperature
        if len(np.unique(training.labels)) > 1:  # with one class so far, there is nothing to learn
            training, result = steps.run_online(parts, training, samples, silent, stream=True)
            n_iter, history = n_iter + 1, np.append(history, result.history)
        self._set_fitted(training, parts, classes, None, n_iter, history, temperature)
        return self

    def _placed(self, X: ArrayLike) -> tuple[ArrayLike, str | None]:
        """Samples, those of a tensor in a floating type; and the device of the batch solvers, if any."""
        device = getattr(self, "device", None)
        if is_tensor(X):
            device = str(X.device) if hasattr(self, "device") else None
            X = floating(X, np.dtype(np.float32), type(self).__name__)
        if device is not None and not is_dask(X):  # of dask the workers' devices count
            require_torch(device)
        return X, device

    def _samples(
        self, parts: Parts, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None, *, reset: bool
    ) -> tuple[ArraySamples, np.ndarray]:
        """Checked samples where the solver computes, and their classes."""
        if is_dask(X):
            check_partitioned_solver(self, parts.solver)
            return training_partitions(self, X, y, sample_weight, reset=reset, device=parts.device)
        device = None if parts.solver == "online" else parts.device
        if is_tensor(X) and device is not None:
            return training_tensors(self, X, y, sample_weight, reset=reset)
        given = as_numpy(X), as_numpy(y), as_numpy(sample_weight)
        X, y, weight, classes = check_training_data(self, *given, reset=reset, types=float_types(device))
        make = samples_of if parts.ignores_missing else ArraySamples
        samples = make(X, y, weight / weight.mean())  # only ratios count, so that the rate keeps its meaning
        return samples if device is None else samples.to(lambda array: on_device(array, device)), classes

    def _begin(
        self,
        parts: Parts,
        samples: ArraySamples,
        classes: np.ndarray,
        random_state: RandomState,
        *,
        stream: bool = False,
        moments: FeatureMoments | None = None,
    ) -> Training:
        check_rank(self, parts.relevance, samples.n_features)
        check_structure(self, parts.relevance, samples.n_features)
        if is_sparse(samples.X):
            check_sparse_matrix(self, parts.relevance, samples.n_features)
        if isinstance(parts.kernel, Kernel) and not isinstance(parts.kernel_width, str):
            check_width(self, parts.kernel_width)
        if isinstance(self.init, str):
            W, labels = self._start_prototypes(samples, classes, random_state)
        else:
            W, labels = given_prototypes(self, self._counts(classes), samples.X, classes)
        training = steps.begin(parts, samples, W, labels, len(classes), random_state, stream=stream, moments=moments)
        check_width(self, training.params.width)
        return training

    def _settled(
        self, parts: Parts, samples: ArraySamples, classes: np.ndarray, warm: bool
    ) -> tuple[Self, Parts, float | None]:
        """This estimator with what depends on the samples, its parts, and its temperature where that is known."""
        return self._with_counts(parts, samples, classes, warm), parts, None

    def _with_counts(self, parts: Parts, samples: ArraySamples, classes: np.ndarray, warm: bool) -> Self:
        """This estimator; with n_prototypes="auto" a copy with the chosen numbers, or with those of the last fit."""
        if not isinstance(self.n_prototypes, str) or self.n_prototypes_total is not None:
            return self
        check_auto_start(self)
        if warm:
            counts = np.bincount(self.model_.labels, minlength=len(classes))
        else:
            counts = chosen_counts(self, parts, samples, classes)
        return clone(self).set_params(n_prototypes=dict(zip(classes.tolist(), counts.tolist())))

    def _counts(self, classes: np.ndarray) -> np.ndarray:
        if self.n_prototypes_total is not None:
            return distribute(self.n_prototypes_total, len(classes))
        assert not isinstance(self.n_prototypes, str)
        return prototypes_per_class(self.n_prototypes, classes)

    def _start_prototypes(
        self, samples: ArraySamples, classes: np.ndarray, random_state: RandomState
    ) -> tuple[np.ndarray, np.ndarray]:
        """Prototypes for those classes that have samples."""
        assert isinstance(self.init, str)  # given prototypes are of all classes
        most = int(self._counts(classes).max())
        X, y, weight = samples.start_rows(self.init, most, random_state)
        present, inner = namespace(y).unique(y, return_inverse=True)
        present = as_numpy(present)
        counts = self._counts(classes)[present]
        W, labels = start_prototypes(X, inner, weight, counts, self.init, random_state, classes[present])
        return W, present[labels]

    def _add_classes(self, parts: Parts, training: Training, samples: ArraySamples, classes: np.ndarray) -> Training:
        new = ~np.isin(samples.y, training.labels)
        if not new.any():
            return training
        of_new = ArraySamples(take_rows(samples.X, new), samples.y[new], samples.weight[new])
        W, labels = self._start_prototypes(of_new, classes, training.state.random_state)
        return add_prototypes(training, parts, W, labels, samples, len(classes))

    def _training(self) -> Training:
        """The fitted model as the start of further training, with a random state of its own."""
        model, width = self.model_, getattr(self.model_.link, "width", None)
        params = Params(model.prototypes, model.relevance, width)
        return Training(params, model.labels, model.link, self._state.copy())

    def _set_fitted(
        self,
        training: Training,
        parts: Parts,
        classes: np.ndarray,
        samples: ArraySamples | None,
        n_iter: int,
        history: np.ndarray,
        temperature: float = 1.0,
    ) -> None:
        names, seed = getattr(self, "feature_names_in_", None), self.random_state
        shared = seed is None or seed is training.state.random_state  # and may be used elsewhere
        fitted = {
            "model_": steps.fitted_model(training, parts, classes, names, samples, temperature),
            "_state": training.state.copy() if shared else training.state,
            "_device": getattr(self, "device", None),
            "_class_weight": self.class_weight,
            "n_iter_": n_iter,
            "objective_history_": history,
        }
        self.__dict__.update(fitted)
