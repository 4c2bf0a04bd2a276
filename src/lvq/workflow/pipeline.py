"""The estimator of a name, the pipeline with its preprocessing, the reject classifier around it, and costs."""

from __future__ import annotations

import difflib
from collections.abc import Callable

from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import Pipeline, make_pipeline

from lvq.estimators.find_model import find_model
from lvq.estimators.registry import MODELS, estimator_types, short_name
from lvq.estimators.search import LVQClassifierCV
from lvq.rejection import RejectClassifier
from lvq.rejection.calibration import PATH_FRACTION
from lvq.rejection.guarantee import samples_needed
from lvq.tables.header import is_number
from lvq.workflow.columns import Samples

#: Names that `make_model` accepts, in lower case, and what makes the estimator: every estimator of the registry, and
#: the models of the papers, which are estimators with certain parameters.
NAMES: dict[str, Callable[..., BaseEstimator]] = {short_name(name): kind for name, kind in estimator_types().items()}
NAMES |= {name.lower(): spelling.make for name, spelling in MODELS.items() if " " not in name}
CROSS_FIT_BELOW = 2000  # rows; below, thresholds are cross-fitted, and all rows train the model
CROSS_FIT_FOLDS = 5
MIN_CALIBRATION, MAX_CALIBRATION = 0.3, 0.5  # fraction of the training rows that is held out for thresholds or tests
GUARANTEE_FACTOR = 4  # held-out samples, as a multiple of the number that is enough if none is an error
#: Error rates that are guaranteed where a requested one is not achievable.
WEAKER_BOUNDS = (0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.1, 0.12, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)


def make_model(
    name: str = "lvq",
    *,
    prototypes: int | None = None,
    seed: int | None = 0,
) -> BaseEstimator:
    """Make the estimator of a name.

    Parameters
    ----------
    name : str, default="lvq"
        "lvq" (`LVQClassifier`), "lvq-cv" (`LVQClassifierCV`), or a name of `MODELS`; case does not matter.
    prototypes : int, optional
        Number of prototypes for each class.
    seed : int, optional
        Random state of the model.

    Returns
    -------
    model : estimator
        Not fitted.

    Examples
    --------
    >>> make_model("gmlvq", prototypes=2)
    GMLVQ(n_prototypes=2, random_state=0)
    """
    make = NAMES.get(name.lower())
    if make is None:
        close = difflib.get_close_matches(name.lower(), NAMES, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise ValueError(f"The model must be one of {', '.join(NAMES)}, got {name!r}.{hint}")
    if prototypes is None:
        return make(random_state=seed)
    if make is LVQClassifierCV:
        raise ValueError(
            "prototypes (--prototypes) cannot be given for lvq-cv, which chooses their number; leave it out."
        )
    return make(n_prototypes=prototypes, random_state=seed)


def ignores_missing(model: BaseEstimator) -> bool:
    """Whether a model, fitted or not, ignores missing values."""
    found = find_model(model)
    return getattr(model if found is None else found.estimator, "missing", "raise") == "ignore"


def make_pipeline_for(samples: Samples, model: BaseEstimator) -> Pipeline:
    """Make a pipeline of preprocessing and a model; missing numbers are filled, unless the model ignores them.

    Parameters
    ----------
    samples : Samples
        Samples, whose columns determine the preprocessing.
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
    >>> samples = Samples(pd.DataFrame({"size": [1.0, 2.0]}), np.array(["a", "b"]), np.arange(2))
    >>> make_pipeline_for(samples, GLVQ())
    Pipeline(steps=[('tablepreprocessor', TablePreprocessor()), ('glvq', GLVQ())])
    """
    first = clone(samples.preprocessor)
    return make_pipeline(first if not ignores_missing(model) else first.set_params(gaps=[]), model)


def make_reject_classifier(
    estimator: BaseEstimator,
    *,
    max_error: float | None = None,
    confidence: float = 0.95,
    coverage: float | None = None,
    n_samples: int,
    smallest_class: int = CROSS_FIT_BELOW,
    seed: int | None = 0,
) -> RejectClassifier:
    """Make a reject classifier; how its thresholds are set depends on the number of samples.

    Parameters
    ----------
    estimator : classifier
        Makes the predictions.
    max_error : float, optional
        Bound on the error rate of accepted predictions; if it is not achievable, the lowest achievable of some larger
        bounds, up to 50 %.
    confidence : float, default=0.95
        Confidence of that bound.
    coverage : float, optional
        Fraction of predictions to accept; 0.9 where `max_error` is not given either.
    n_samples : int
        Number of training samples. Below 2,000 the thresholds are cross-fitted, and all samples train the model;
        otherwise 30 % are held out for the thresholds. With `max_error`, 30 to 50 % are always held out to test the
        guarantee: four times as many samples as are enough if none is an error.
    smallest_class : int, optional
        Number of training samples of the rarest class; cross-fitting uses no more folds.
    seed : int, optional
        Random state of the held-out samples.

    Returns
    -------
    classifier : RejectClassifier
        Not fitted. It rejects ambiguous samples and outliers, or nothing with a coverage of 1.

    Examples
    --------
    >>> from lvq import GLVQ
    >>> make_reject_classifier(GLVQ(), coverage=0.8, n_samples=500).min_coverage
    0.8
    >>> make_reject_classifier(GLVQ(), max_error=0.05, n_samples=1000).cv
    0.315
    """
    if max_error is not None and coverage is not None:
        raise ValueError(
            "Give max_error (--max-error) or coverage (--coverage), not both: a guarantee sets the coverage itself."
        )
    cv: float | StratifiedKFold = _held_out(max_error, confidence, n_samples)
    if max_error is None and n_samples < CROSS_FIT_BELOW:
        cv = StratifiedKFold(max(2, min(CROSS_FIT_FOLDS, smallest_class)), shuffle=True, random_state=seed)
    return RejectClassifier(
        estimator,
        measure="auto" if coverage == 1 else "combined",  # all are accepted, outliers too
        max_error=None if max_error is None else [max_error, *(each for each in WEAKER_BOUNDS if each > max_error)],
        confidence=confidence,
        min_coverage=0.9 if coverage is None and max_error is None else coverage,
        cv=cv,
        random_state=seed,
    )


def _held_out(max_error: float | None, confidence: float, n_samples: int) -> float:
    """Fraction of the training samples for thresholds or tests; it may depend on their number, not on their values."""
    if max_error is None or not 0 < max_error < 1 or not 0 < confidence < 1:
        return MIN_CALIBRATION
    wanted = GUARANTEE_FACTOR * samples_needed(max_error, 1 - confidence) / ((1 - PATH_FRACTION) * n_samples)
    return round(min(MAX_CALIBRATION, max(MIN_CALIBRATION, wanted)), 3)


# -- costs -------------------------------------------------------------------------------------------------------------


def read_costs(given: str) -> dict[str, float]:
    """Costs by "true:predicted", of a string such as "bad:good=5,good:bad=1": predicting good for bad costs 5.

    Examples
    --------
    >>> read_costs("bad:good=5, good:bad=1")
    {'bad:good': 5.0, 'good:bad': 1.0}
    """
    costs: dict[str, float] = {}
    for part in given.split(","):
        pair, _, number = (piece.strip() for piece in part.rpartition("="))
        if ":" not in pair or not is_number(number) or pair in costs:
            raise ValueError(
                f"costs (--costs) must give each pair of two classes, true:predicted, once, as in "
                f"bad:good=5,good:bad=1; got {part.strip()!r} in {given!r}."
            )
        costs[pair] = float(number)
    return costs
