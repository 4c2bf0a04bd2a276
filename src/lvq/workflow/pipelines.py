"""The estimator of a name, the pipeline with its preprocessing, and the reject classifier around it.

Numbers are standardised. In columns with missing numbers among the training rows, a missing number becomes the median,
and a further feature indicates it; or it stays missing, for a model with ``missing="ignore"``. Texts are one-hot
encoded, with a category for missing texts; an unknown category is encoded as zeros.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable

from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from lvq import MODELS, LVQClassifier, LVQClassifierCV
from lvq.estimators.registry import estimator_types, short_name
from lvq.estimators.search import default_candidates
from lvq.model.links import KERNELS
from lvq.rejection import RejectClassifier
from lvq.rejection.calibration import PATH_FRACTION
from lvq.rejection.guarantee import samples_needed
from lvq.typing import Argument, ClassWeight
from lvq.workflow.preparation import Samples

#: Names that `make_model` accepts, in lower case, and what makes the estimator: every estimator of the registry, and
#: the models of the papers, which set the parameters of some.
NAMES: dict[str, Callable[..., BaseEstimator]] = {short_name(name): kind for name, kind in estimator_types().items()}
NAMES |= {name.lower(): spelling.make for name, spelling in MODELS.items() if " " not in name}
CROSS_FIT_BELOW = 2000  # rows; below, thresholds are cross-fitted, so that all rows train the model
CROSS_FIT_FOLDS = 5
MIN_CALIBRATION, MAX_CALIBRATION = 0.3, 0.5  # fraction of the training rows that is held out for thresholds or tests
# bounds that are guaranteed instead where the requested one cannot be, the lowest of them that can
WEAKER = (0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5)
GUARANTEE_FACTOR = 4  # held-out samples, as a multiple of the number that suffices if none is an error


def make_model(
    name: str = "lvq",
    *,
    prototypes: int | None = None,
    rank: int | None = None,
    kernel: str | None = None,
    class_weight: ClassWeight = None,
    sample_prototypes: bool = False,
    missing: str = "raise",
    seed: int | None = 0,
) -> BaseEstimator:
    """Make the estimator of a name.

    Parameters
    ----------
    name : str, default="lvq"
        "lvq" (`LVQClassifier`), "lvq-cv" (`LVQClassifierCV`), or a name of `lvq.MODELS`; case does not matter.
    prototypes : int, optional
        Number of prototypes for each class.
    rank : int, optional
        Rank of the matrices, for models that have any.
    kernel : str, optional
        "gaussian", "cauchy", "inverse_multiquadric" or "rational_quadratic"; "none" for none.
    class_weight : dict or "balanced", optional
        Factor of the weights of each class.
    sample_prototypes : bool, default=False
        Whether every prototype is a training sample, for models that can learn such prototypes.
    missing : {"raise", "ignore"}, default="raise"
        What NaN means: an error, or a value that distances leave out, for models that can do that.
    seed : int, optional
        Random state of the model.

    Returns
    -------
    model : estimator
        Not fitted.

    Examples
    --------
    >>> make_model("gmlvq", prototypes=2, rank=2)
    GMLVQ(n_prototypes=2, random_state=0, rank=2)
    """
    make = NAMES.get(name.lower())
    if make is None:
        close = difflib.get_close_matches(name.lower(), NAMES, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise ValueError(f"The model must be one of {', '.join(NAMES)}, got {name!r}.{hint}")
    searches = make is LVQClassifierCV  # what is given there holds for all that is compared
    known = (LVQClassifier if searches else make)().get_params()
    given: dict[str, Argument] = {} if class_weight is None else {"class_weight": class_weight}
    if sample_prototypes:
        _need(can_use_samples, "Learning prototypes that are samples (--sample-prototypes)", name, known)
        given["sample_prototypes"] = True
    if missing != "raise":
        _need(can_ignore, "Ignoring missing values (--missing ignore)", name, known)
        given["missing"] = missing
    if prototypes is not None:
        if prototypes < 1:
            raise ValueError(f"The number of prototypes must be 1 or more, got {prototypes}.")
        given["n_prototypes"] = prototypes
    if rank is not None:
        if not _has_matrix(known):
            having = [other for other, make in NAMES.items() if other == "lvq-cv" or _has_matrix(make().get_params())]
            raise ValueError(f"A rank needs a model with a matrix ({', '.join(having)}), got {name!r}.")
        if rank < 1:
            raise ValueError(f"The rank must be 1 or more, got {rank}.")
        given["rank"] = rank
    if kernel is not None:
        if kernel not in (*KERNELS, "none"):
            raise ValueError(f"The kernel must be one of {', '.join(KERNELS)} or none, got {kernel!r}.")
        given["kernel"] = None if kernel == "none" else kernel
    if not searches:
        return make(**given, random_state=seed)
    shared = {key: given.pop(key) for key in ("class_weight", "sample_prototypes", "missing") if key in given}
    base = LVQClassifier(**shared) if shared else None
    kinds = [kind | given for kind in default_candidates(LVQClassifier().set_params(**given))]
    candidates = list({str(kind): kind for kind in kinds}.values()) if given else None
    return LVQClassifierCV(estimator=base, candidates=candidates, random_state=seed)


def can_ignore(parameters: dict[str, object]) -> bool:
    """Whether a model with these parameters can ignore missing values; rules without a gradient cannot.

    Examples
    --------
    >>> can_ignore(make_model("glvq").get_params()), can_ignore(make_model("fc1glvq").get_params())
    (True, False)
    """
    return "missing" in parameters and parameters.get("relevance") not in ("fc1", "fc2")


def can_use_samples(parameters: dict[str, object]) -> bool:
    """Whether a model with these parameters can learn prototypes that are samples."""
    return "sample_prototypes" in parameters


def _need(can: Callable[[dict[str, object]], bool], what: str, name: str, parameters: dict[str, object]) -> None:
    """Raise a ValueError where a model cannot do something, with the names of those that can."""
    if not can(parameters):
        able = [other for other, make in NAMES.items() if other == "lvq-cv" or can(make().get_params())]
        raise ValueError(f"{what} needs one of {', '.join(able)}, got {name!r}.")


def _has_matrix(parameters: dict[str, object]) -> bool:
    return "rank" in parameters and parameters.get("relevance", "matrix") in ("matrix", "local_matrix")


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
    >>> samples = Samples(pd.DataFrame({"size": [1.0, 2.0]}), np.array(["a", "b"]), (), (), ())
    >>> make_pipeline_for(samples, GLVQ())
    Pipeline(steps=[('standardscaler', StandardScaler()), ('glvq', GLVQ())])
    """
    gaps = () if getattr(model, "missing", "raise") == "ignore" else samples.gaps
    if not gaps and not samples.texts:
        return make_pipeline(StandardScaler(), model)
    others = {*samples.texts, *gaps}
    numbers = [name for name in samples.X if name not in others]
    # empty columns of a fold are kept, as the columns that a model expects must not depend on the fold
    imputer = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    parts = [
        ("numbers", StandardScaler(), numbers),
        ("gaps", make_pipeline(imputer, StandardScaler()), list(gaps)),
        ("texts", encoder, list(samples.texts)),
    ]
    clash = any(name.startswith(f"{text}_") for text in samples.texts for name in samples.X)
    columns = ColumnTransformer(
        [part for part in parts if part[2]], sparse_threshold=0, verbose_feature_names_out=clash
    )
    return make_pipeline(columns, model)


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
        Bound on the error rate among accepted predictions; where it is not achievable, the lowest that is.
    confidence : float, default=0.95
        Confidence of that bound.
    coverage : float, optional
        Fraction of predictions to accept; 0.9 where `max_error` is not given either.
    n_samples : int
        Number of training samples. Below 2000 the thresholds are cross-fitted, so that all samples train the model;
        otherwise 30 % are held out for the thresholds. With `max_error` 30 to 50 % are held out in any case to test the
        guarantee: four times as many samples as suffice if none is an error.
    smallest_class : int, optional
        Number of training samples of the rarest class; cross-fitting uses no more folds.
    seed : int, optional
        Random state of the held-out samples.

    Returns
    -------
    classifier : RejectClassifier
        Not fitted; it rejects ambiguous samples and outliers; none with a coverage of 1.

    Examples
    --------
    >>> from lvq import GLVQ
    >>> make_reject_classifier(GLVQ(), coverage=0.8, n_samples=500)
    RejectClassifier(cv=5, estimator=GLVQ(), measure='combined', min_coverage=0.8)
    >>> make_reject_classifier(GLVQ(), max_error=0.05, n_samples=500).cv
    0.5
    """
    if max_error is not None and coverage is not None:
        raise ValueError("Give max_error or coverage, not both: a guarantee sets the coverage itself.")
    held_out = held_out_fraction(max_error, confidence, n_samples)
    crossed = max_error is None and n_samples < CROSS_FIT_BELOW
    return RejectClassifier(
        estimator,
        measure="auto" if coverage == 1 else "combined",  # all are accepted, outliers too
        max_error=None if max_error is None else [max_error, *(bound for bound in WEAKER if bound > max_error)],
        confidence=confidence,
        min_coverage=0.9 if coverage is None and max_error is None else coverage,
        cv=max(2, min(CROSS_FIT_FOLDS, smallest_class)) if crossed else held_out,
        random_state=seed,
    )


def held_out_fraction(max_error: float | None, confidence: float, n_samples: int) -> float:
    """Fraction of the training samples for thresholds or tests; it may depend on their number, not on their values."""
    if max_error is None or not 0 < max_error < 1 or not 0 < confidence < 1:
        return MIN_CALIBRATION
    wanted = GUARANTEE_FACTOR * samples_needed(max_error, 1 - confidence) / ((1 - PATH_FRACTION) * n_samples)
    return min(MAX_CALIBRATION, max(MIN_CALIBRATION, wanted))
