"""Parameters of the estimators: each is declared once as a field, and described and constrained once here.

`@estimator` makes a class a dataclass, whose `__init__` only stores its arguments, as scikit-learn requires. It writes
the descriptions of all parameters into the docstring, for ``{parameters}`` and ``{attributes}``, and collects
their constraints for scikit-learn's validation. Parameters of parts are described by the parts, and constrained here.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import MISSING, dataclass, fields
from inspect import cleandoc
from numbers import Integral, Real
from typing import TypeVar, dataclass_transform

from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from lvq.estimators.predictions import ModelPredictions
from lvq.model.costs import COSTS
from lvq.model.links import KERNELS
from lvq.model.relevance import RELEVANCES, Relevance
from lvq.model.starts import STARTS
from lvq.solvers.adam import Adam
from lvq.solvers.lbfgs import LBFGS
from lvq.solvers.online import Online

Class = TypeVar("Class", bound=type)

unit_interval = Interval(Real, 0, 1, closed="neither")
positive = Interval(Real, 0, None, closed="neither")
not_negative = Interval(Real, 0, None, closed="left")
at_least_one = Interval(Integral, 1, None, closed="left")


def one_of(*options: str) -> StrOptions:
    """One of these strings."""
    return StrOptions(set(options))


class Described:
    """All parameters of the estimators, as their docstrings have them but for defaults and names of parts.

    n_prototypes : int, dict or "auto"
        Prototypes per class: one number, or a dict class -> number. "auto" chooses 1, 2, 3, 5, 10 or 20, with at
        least six samples for each prototype, by the log-loss of samples left out of short fits. With 100 classes or
        more it chooses 1 or 2, as only 20 samples of each are drawn. None, only for LVQClassifier, takes the number
        from the form, or 1 if a relevance is given.
    init : {"kmeans", "means", "samples", "random"}, array or (array, labels)
        Start: k-means in each class, class means with a small spread, random samples of the class, random places
        in each feature's range, or given prototypes, class by class or with their labels.
    metric : {"euclidean", "cosine"}
        Whether distances compare samples as they are or only their directions. With "cosine", samples and
        prototypes have length one, and a squared distance is ``2 - 2 cos(x, w)`` before relevances and kernel;
        use it for embeddings and tf-idf rows. A row of zeros is an error. Not online.
    relevance : str or Relevance, optional
        How features are weighted: not at all (None), or by the rule of a name,
        {RELEVANCES}.
        Weights of features ("gradient", "local_diagonal"), one weight for all ("local_scale") and matrices are
        learned by gradient, local ones for each class or prototype; "hebbian" is RLVQ's rule; "fc1" and "fc2" are
        the Fisher criterion over the prototypes and over the samples they have won. Objects of
        `lvq.model.relevance`, such as ``Matrix(rank=2)``, have their own parameters, which searches and
        `set_params` call ``relevance__rank``. "auto", only for LVQClassifier, takes it from the form.
    form : {"auto", "plain", "linear", "additive", "matrix"}
        The form of the log-odds: "plain" learns one scale for all features; "linear" gives linear log-odds;
        "additive" gives sums of functions of single features; "matrix" uses products of features. "auto" chooses
        by the log-loss of samples left out of short fits; each form has its number of prototypes.
    kernel : {KERNELS} or Kernel, optional
        Radial kernel on the squared distances; None leaves them unchanged. Objects of `lvq.model.links`, such as
        ``Gaussian(width="learned")``, have their own parameters.
    slope : float, "time" or None
        Steepness of the sigmoid around mu; None is the identity. "time", only online, grows with the number of
        steps, as in Sato and Yamada.
    xi : float
        Steepness of the cost, in units of one over the data's spread (the mean smallest distance).
    alpha : float
        Weight of the regulariser that draws the nearest own prototype to the sample, in the units of `xi`.
    window : float
        Relative width of the window around the midplane of two prototypes.
    epsilon : float
        Fraction of the rate when both nearest prototypes have the sample's class.
    decision : {"nearest", "posterior"}
        Predict the class of the nearest prototype, as the papers do, or the class of the largest posterior.
    calibration : {"temperature"}, optional
        Whether `fit` ends by choosing the temperature with which `predict_proba` has the smallest log-loss on
        samples left out of short fits; with fewer than 50 samples it is one. Predictions do not change.
    solver : {"auto", "lbfgs", "adam", "online"} or solver
        How to learn: by L-BFGS on all samples, which needs no rate; by Adam on mini-batches; or sample by
        sample, as the papers do. "auto" is lbfgs, or online where a part has no gradient; for sparse X of 16,384
        features or more it is online, or adam for relevances. Objects such as ``LBFGS(device="cuda")`` have
        their own parameters. `partial_fit` is always online.
    cost_matrix : array-like of shape (n_classes, n_classes), optional
        Cost of predicting the column's class for a sample of the row's class. It multiplies each sample's cost,
        according to the class of its nearest other prototype, or with the cross-entropy each class's part of that
        cost. Not online.
    cost : {COSTS} or Cost
        The cost to minimise; see the classes of these names. Objects of `lvq.model.costs`, such as
        ``LOGMCost(xi=2)``, have their own parameters; an object of your own needs `value_and_derivative`.
    estimator : LVQClassifier, optional
        The estimator whose form, ridge and cost are chosen; None is ``LVQClassifier()``.
    cv : int, splitter or iterable
        Folds, as in scikit-learn. With a number, folds are shuffled and stratified, and copies of a sample are in
        different folds.
    candidates : sequence of dict, optional
        Parameters of `LVQClassifier` to compare, in the order of preference; None compares the forms of
        `LVQClassifier`, two with more prototypes, and two with a smaller ridge.
    n_jobs : int, optional
        Threads over candidates; None means one, -1 all cores.
    missing : {"raise", "ignore"}
        Whether NaN in X is an error or a missing value. With "ignore", distances are over the observed features,
        divided by their fraction of the metric: of the sum of Lambda_ll times the variance of feature l in the
        training samples. A row without any value is left out in `fit`; later it is equally far from all
        prototypes, with certainty 0. Not on a device or in dask collections.
    max_iter : int
        Epochs; iterations of lbfgs, which count its first epochs on large data. With 0 the model is its start.
    class_weight : dict or "balanced", optional
        Weight of each class.
    random_state : int, RandomState or None
        Seed of the start and of the order of samples.
    warm_start : bool
        Start from the prototypes of the last fit.
    verbose : bool
        Print the progress of training.
    """


PENALTIES = ("ridge", "log_determinant", "shrinkage", "smoothness")  # of relevances, in batch solvers
CONSTRAINTS: dict[str, list[object]] = {
    "n_prototypes": [at_least_one, dict, one_of("auto")],
    "init": [one_of(*STARTS), "array-like", tuple],
    "metric": [one_of("euclidean", "cosine")],
    "relevance": [one_of(*RELEVANCES), None, Relevance],
    "form": [one_of("auto", "plain", "linear", "additive", "matrix")],
    "kernel": [one_of(*KERNELS), None, HasMethods(["value", "derivative"])],
    "slope": [not_negative, one_of("time"), None],
    "xi": [positive],
    "alpha": [not_negative],
    "window": [unit_interval],
    "epsilon": [Interval(Real, 0, 1, closed="left")],
    "decision": [one_of("nearest", "posterior")],
    "calibration": [one_of("temperature"), None],
    "solver": [one_of("auto", "lbfgs", "adam", "online"), Adam, LBFGS, Online],
    "cost_matrix": ["array-like", None],
    "cost": [one_of(*COSTS), HasMethods(["value_and_derivative"])],
    "estimator": [HasMethods(["fit", "predict_proba"]), None],
    "cv": ["cv_object"],
    "candidates": [tuple, list, None],
    "n_jobs": [Integral, None],
    "missing": [one_of("raise", "ignore")],
    "max_iter": [Interval(Integral, 0, None, closed="left")],
    "class_weight": [one_of("balanced"), dict, None],
    "random_state": ["random_state"],
    "warm_start": ["boolean"],
    "verbose": ["verbose"],
    # of parts
    **{name: [not_negative] for name in PENALTIES},
    "rank": [at_least_one, one_of("auto"), None],
    "local": [one_of("class", "prototype"), None],
    "feature_groups": ["array-like", None],
    "weighted_step": ["boolean"],
    "squared": ["boolean"],
    "scores": [one_of("sum", "max")],
    "no_variance": [one_of("zero", "between")],
    "classes": [one_of("fractions", "even")],
    "rivals": [one_of("all", "nearest")],
    "width": [Interval(Real, 1e-150, 1e150, closed="both"), one_of("auto", "learned")],
    "shape": [positive],
    "device": [str, None],
    "batch_size": [at_least_one],
    "step": [one_of("scaled", "gradient", "relative")],
    "learning_rate": [not_negative],
    "relevance_rate": [not_negative, None],
    "schedule": [one_of("constant", "linear")],
    "tol": [not_negative, None],
    "shuffle": ["boolean"],
}

ATTRIBUTES = cleandoc(ModelPredictions.__doc__ or "").partition("\n\n")[2]
_named: dict[str, Iterable[str]] = {"KERNELS": KERNELS, "COSTS": COSTS, "RELEVANCES": RELEVANCES}
_text = re.sub(
    r"(?<={)[A-Z]+(?=})", lambda found: json.dumps([*_named[found[0]]])[1:-1], cleandoc(Described.__doc__ or "")
)
_texts = re.split(r"\n(?=\w)", _text.partition("\n\n")[2])
DESCRIPTIONS = {text.partition(" : ")[0]: text for text in _texts}


def entry(name: str, default: object) -> str:
    """The numpydoc entry of one parameter."""
    head, line, text = DESCRIPTIONS.get(name, name).partition("\n")  # Python -OO has no docstrings
    shown = "" if default in (None, MISSING) else f", default={default!r}"
    return head + shown + line + text


@dataclass_transform(kw_only_default=True)
def estimator(cls: Class) -> Class:
    """Make the annotated fields of a class its keyword parameters, and describe and constrain them."""
    dataclass(kw_only=True, eq=False, repr=False)(cls)  # changes the class in place
    used = [field for field in fields(cls) if field.init]
    entries = [entry(field.name, field.default) for field in used]
    text = cleandoc(cls.__doc__ or "").replace("{parameters}", "\n".join(["Parameters", "----------", *entries]))
    cls.__doc__ = text.replace("{attributes}", ATTRIBUTES)
    known = CONSTRAINTS | getattr(cls, "_own_constraints", {})  # where a class is stricter than the table
    cls._parameter_constraints = {field.name: known[field.name] for field in used}  # type: ignore[attr-defined]
    return cls
