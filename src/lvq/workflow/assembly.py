"""From words to a model: the estimator that a name stands for, what comes before it, and what it may decline.

Before the model, numbers are standardised. A missing number becomes the median of its column, and a feature of its own
says that it was missing; that holds for columns in which some were missing when the model was fitted. Texts become a 0
or 1 for each category, a missing text being a category too; an unknown category is none of them.
"""

from __future__ import annotations

import difflib
from typing import Any

from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from lvq.estimators.base import BaseLVQ
from lvq.estimators.classifier import LVQClassifier
from lvq.estimators.names import MODELS, Spelling
from lvq.estimators.search import LVQClassifierCV
from lvq.model.links import KERNELS
from lvq.rejection import RejectClassifier
from lvq.rejection.binomial import samples_needed
from lvq.rejection.calibration import PATH_FRACTION
from lvq.workflow.preparation import Samples

#: Names that `make_model` knows, in small letters.
NAMES: dict[str, Spelling] = {
    "lvq": Spelling(LVQClassifier, {}),
    "lvq-cv": Spelling(LVQClassifierCV, {}),
} | {name.lower(): spelling for name, spelling in MODELS.items() if " " not in name}
SMALL = 2000  # rows below which thresholds are set by cross-fitting, so that all rows train the model
FOLDS = 5  # of the cross-fitting
LEAST, MOST = 0.3, 0.5  # share of the training rows that is held out for thresholds or tests
AMPLE = 4  # times the samples that would show a guarantee if none were an error


def make_model(
    name: str = "lvq",
    *,
    prototypes: int | None = None,
    rank: int | None = None,
    kernel: str | None = None,
    seed: int | None = 0,
) -> BaseLVQ:
    """The estimator that a name stands for.

    Parameters
    ----------
    name : str, default="lvq"
        "lvq" (`LVQClassifier`), "lvq-cv" (`LVQClassifierCV`), or a name of `lvq.MODELS`; capitals do not matter.
    prototypes : int, optional
        For each class.
    rank : int, optional
        Of the matrices, for models that have any.
    kernel : str, optional
        "gaussian", "cauchy", "inverse_multiquadric" or "rational_quadratic"; "none" for none.
    seed : int, optional
        Of the starts.

    Returns
    -------
    model : estimator
        Not fitted.

    Examples
    --------
    >>> make_model("gmlvq", prototypes=2, rank=2)
    GMLVQ(n_prototypes=2, random_state=0, rank=2)
    """
    spelling = NAMES.get(name.lower())
    if spelling is None:
        close = difflib.get_close_matches(name.lower(), NAMES, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise ValueError(f"The model must be one of {', '.join(NAMES)}, got {name!r}.{hint}")
    known = spelling.make().get_params()
    given: dict[str, Any] = {"random_state": seed}
    if prototypes is not None:
        if prototypes < 1:
            raise ValueError(f"The number of prototypes must be 1 or more, got {prototypes}.")
        given["n_prototypes"] = prototypes
    if rank is not None:
        if "rank" not in known:
            having = [other for other, row in NAMES.items() if "rank" in row.make().get_params()]
            raise ValueError(f"A rank needs a model with a matrix ({', '.join(having)}), got {name!r}.")
        if rank < 1:
            raise ValueError(f"The rank must be 1 or more, got {rank}.")
        given["rank"] = rank
    if kernel is not None:
        if kernel not in (*KERNELS, "none"):
            raise ValueError(f"The kernel must be one of {', '.join(KERNELS)} or none, got {kernel!r}.")
        given["kernel"] = None if kernel == "none" else kernel
    return spelling.make(**given)


def make_pipeline_for(samples: Samples, model: Any) -> Pipeline:
    """A model with what its samples must go through.

    Parameters
    ----------
    samples : Samples
        Whose columns say what that is.
    model : estimator
        The last step.

    Returns
    -------
    pipeline : Pipeline
        Not fitted.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from lvq import GLVQ
    >>> samples = Samples(pd.DataFrame({"size": [1.0, 2.0]}), np.array(["a", "b"]), (), (), ())
    >>> make_pipeline_for(samples, GLVQ())
    Pipeline(steps=[('standardscaler', StandardScaler()), ('glvq', GLVQ())])
    """
    if not samples.gaps and not samples.texts:
        return make_pipeline(StandardScaler(), model)
    others = {*samples.texts, *samples.gaps}
    numbers = [name for name in samples.X if name not in others]
    # kept where a fold has no value of it, as the columns that a model expects must not depend on the fold
    imputer = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    parts = [
        ("numbers", StandardScaler(), numbers),
        ("gaps", make_pipeline(imputer, StandardScaler()), list(samples.gaps)),
        ("texts", encoder, list(samples.texts)),
    ]
    clash = any(name.startswith(f"{text}_") for text in samples.texts for name in samples.X)
    columns = ColumnTransformer(
        [part for part in parts if part[2]], sparse_threshold=0, verbose_feature_names_out=clash
    )
    return make_pipeline(columns, model)


def make_rejecting(
    estimator: Any,
    *,
    max_error: float | None = None,
    confidence: float = 0.95,
    coverage: float | None = None,
    n_samples: int,
    smallest_class: int = SMALL,
    seed: int | None = 0,
) -> RejectClassifier:
    """A classifier that may decline to answer, with thresholds set as the number of samples allows.

    Parameters
    ----------
    estimator : classifier
        Whose answers they are.
    max_error : float, optional
        Bound on the share of errors among accepted answers.
    confidence : float, default=0.95
        With which that bound holds.
    coverage : float, optional
        Share of answers to accept; 0.9 where `max_error` is not given either.
    n_samples : int
        Number of training samples. Below 2000 the thresholds are cross-fitted, so that all samples train the model;
        from there on, 30 % are held out for the thresholds. With `max_error` 30 to 50 % are held out in any case, as a
        guarantee needs samples to be shown on: four times as many as would do if none were an error.
    smallest_class : int, optional
        How many of them the rarest class has; cross-fitting takes no more folds than it has samples.
    seed : int, optional
        Draws the samples that are held out.

    Returns
    -------
    classifier : RejectClassifier
        Not fitted. It rejects ambiguous samples and outliers.

    Examples
    --------
    >>> from lvq import GLVQ
    >>> make_rejecting(GLVQ(), coverage=0.8, n_samples=500)
    RejectClassifier(cv=5, estimator=GLVQ(), measure='combined', min_coverage=0.8)
    >>> make_rejecting(GLVQ(), max_error=0.05, n_samples=500).calibration_size
    0.472
    """
    if max_error is not None and coverage is not None:
        raise ValueError("Give max_error or coverage, not both: a guarantee sets the coverage itself.")
    held_out = _held_out(max_error, confidence, n_samples)
    left = smallest_class if max_error is None else int(smallest_class * (1 - held_out))
    return RejectClassifier(
        estimator,
        measure="combined",
        max_error=max_error,
        confidence=confidence,
        min_coverage=0.9 if coverage is None and max_error is None else coverage,
        cv=max(2, min(FOLDS, left)) if n_samples < SMALL else None,
        calibration_size=held_out,
        random_state=seed,
    )


def _held_out(max_error: float | None, confidence: float, n_samples: int) -> float:
    """Share of the training samples for thresholds or tests; it may depend on their number, not on their values."""
    if max_error is None or not 0 < max_error < 1 or not 0 < confidence < 1:
        return LEAST
    for_tests = 1.0 if n_samples < SMALL else 1 - PATH_FRACTION
    wanted = AMPLE * samples_needed(max_error, 1 - confidence) / (for_tests * n_samples)
    return min(MOST, max(LEAST, wanted))
