"""Parameters of the estimators: each is declared once as a field, and described and constrained once here.

`@estimator` makes a class a dataclass, whose `__init__` only stores what it is given, as scikit-learn asks. It writes
the descriptions of all parameters into the docstring, in place of ``{parameters}`` and ``{attributes}``, and collects
their constraints for scikit-learn's validation. A name of solvers in square brackets names those that use a parameter.
"""

from dataclasses import MISSING, dataclass, fields
from numbers import Integral, Real
from typing import Any, NamedTuple, TypeVar, dataclass_transform

from sklearn.metrics import get_scorer_names
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from lvq.model.costs import COSTS
from lvq.model.links import KERNELS
from lvq.model.relevance import RELEVANCES, Relevance
from lvq.model.starts import STARTS
from lvq.solvers.online import SCHEDULES, STEPS

Class = TypeVar("Class", bound=type)
SOLVERS = ("auto", "lbfgs", "adam", "online")

below_one = Interval(Real, 0, 1, closed="left")
unit_interval = Interval(Real, 0, 1, closed="neither")
positive = Interval(Real, 0, None, closed="neither")
not_negative = Interval(Real, 0, None, closed="left")
at_least_one = Interval(Integral, 1, None, closed="left")


def one_of(*options: str) -> Any:
    """One of these strings."""
    return StrOptions(set(options))


class Parameter(NamedTuple):
    """Type and description for the docstring, and the constraints for scikit-learn."""

    kind: str
    text: str
    constraints: list[Any]


PARAMETERS: dict[str, Parameter] = {
    "n_prototypes": Parameter(
        "int or dict", "Prototypes per class: one number for all, or a dict class -> number.", [at_least_one, dict]
    ),
    "n_prototypes_total": Parameter(
        "int, optional",
        "Total number of prototypes, distributed evenly over the classes (the first get the remainder); replaces "
        "`n_prototypes`.",
        [at_least_one, None],
    ),
    "init": Parameter(
        '{"kmeans", "means", "samples", "random"}, array or (array, labels)',
        "Start: k-means in each class, class means with a small spread, random samples of the class, random places in "
        "each feature's range, or given prototypes, class by class or with their labels.",
        [one_of(*STARTS), "array-like", tuple],
    ),
    "relevance": Parameter(
        "str or Relevance, optional",
        'How features are weighted: not at all (None), by gradient ("gradient"; "matrix" and "local_matrix" for '
        'matrices), by RLVQ\'s rule ("hebbian"), or by the Fisher criterion over the prototypes ("fc1") or over the '
        'samples they have won ("fc2"). Objects of `lvq.model.relevance` give the variants.',
        [one_of(*RELEVANCES), None, Relevance],
    ),
    "rank": Parameter(
        "int, optional",
        "Rows of Omega, from 1 to the number of features, where a matrix is learned. None means as many as features, "
        "or with a ridge and fewer samples than features as many as there are directions in which samples differ.",
        [at_least_one, None],
    ),
    "local": Parameter(
        '{"class", "prototype"}',
        "Whether each class or each prototype has its own matrix, where matrices are local.",
        [one_of("class", "prototype")],
    ),
    "kernel": Parameter(
        '{"gaussian", "cauchy", "inverse_multiquadric", "rational_quadratic"} or Kernel, optional',
        "Radial kernel on the squared distances; None leaves them unchanged.",
        [one_of(*KERNELS), None, HasMethods(["value", "derivative"])],
    ),
    "kernel_width": Parameter(
        'float, "auto" or "learned"',
        'Width of the kernel; "auto" is the root of the mean smallest squared distance at the start, "learned" starts '
        "there and follows the gradient.",
        [positive, one_of("auto", "learned")],
    ),
    "slope": Parameter(
        'float, "time" or None',
        'Steepness of the sigmoid around mu; None is the identity. [online] "time" grows with the number of steps, as '
        "in Sato and Yamada.",
        [positive, one_of("time"), None],
    ),
    "xi": Parameter(
        "float",
        "Steepness of the cost, in units of one over the data's spread (the mean smallest distance).",
        [positive],
    ),
    "alpha": Parameter(
        "float",
        "Weight of the regulariser that draws the nearest own prototype to the sample, in units of one over the data's "
        "spread.",
        [not_negative],
    ),
    "squared": Parameter("bool", "Change the relevances by (x - w)^2 instead of abs(x - w).", ["boolean"]),
    "window": Parameter(
        "float", "Relative width of the window around the midplane of two prototypes.", [unit_interval]
    ),
    "epsilon": Parameter(
        "float", "Fraction of the rate when both nearest prototypes are of the sample's class.", [unit_interval]
    ),
    "decision": Parameter(
        '{"nearest", "posterior"}',
        "Predict the class of the nearest prototype, as the papers do, or that of the largest posterior.",
        [one_of("nearest", "posterior")],
    ),
    "solver": Parameter(
        '{"auto", "lbfgs", "adam", "online"}',
        "How to learn: by L-BFGS on all samples, which needs no rate; by Adam on mini-batches; or sample by sample, as "
        'the papers do. "auto" is lbfgs, or online where a part has no gradient or an online `step` is asked for. '
        "`partial_fit` is always online.",
        [one_of(*SOLVERS)],
    ),
    "cost_matrix": Parameter(
        "array-like of shape (n_classes, n_classes), optional",
        "[lbfgs, adam] Price of taking the row's class for the column's: each sample's cost is multiplied by the price "
        "of taking it for the class of its nearest other prototype.",
        ["array-like", None],
    ),
    "cost": Parameter(
        '{"logm", "glvq", "mce", "rslvq", "snpc"} or Cost',
        "The cost to minimise; see the classes of these names. Objects of `lvq.model.costs` give the variants; an "
        "object of your own needs `value_and_derivative`.",
        [one_of(*COSTS), HasMethods(["value_and_derivative"])],
    ),
    "estimator": Parameter(
        "LVQClassifier, optional",
        "The classifier whose structure and ridge are chosen; None is ``LVQClassifier()``.",
        [HasMethods(["fit", "predict_proba"]), None],
    ),
    "cv": Parameter("int, splitter or iterable", "Folds, as in scikit-learn.", ["cv_object"]),
    "structures": Parameter(
        "sequence of dict, optional",
        "Parameters of `LVQClassifier` to compare; None compares one prototype per class with one matrix for all, "
        "and one and two prototypes per class with a matrix each.",
        [tuple, list, None],
    ),
    "ridges": Parameter("sequence of float", "Ridges to compare, from strong to weak.", [tuple, list]),
    "scoring": Parameter(
        "str, callable or None",
        "Score to maximise, as in scikit-learn, for example 'accuracy' or 'balanced_accuracy'; None: the mean "
        "log-likelihood.",
        [one_of(*get_scorer_names()), callable, None],
    ),
    "n_jobs": Parameter(
        "int, optional", "Threads over folds and structures; None means one, -1 all cores.", [Integral, None]
    ),
    "ridge": Parameter(
        "float",
        "[lbfgs, adam] Weight of the penalty |Omega|^2; the size of Omega is then learned, instead of its unit trace. "
        "0 keeps the unit trace, and so does the online solver.",
        [not_negative],
    ),
    "log_determinant": Parameter(
        "float",
        "[lbfgs, adam] Weight of the penalty -log det(Omega Omega')/2, which keeps the directions of Omega from "
        "vanishing.",
        [not_negative],
    ),
    "device": Parameter(
        "str, optional",
        '[lbfgs, adam] Where to compute, as torch names it ("cuda", "cpu"); None is NumPy, or the device of the '
        "tensors given to `fit`. Predictions of arrays are computed there too.",
        [str, None],
    ),
    "batch_size": Parameter("int", "[adam] Samples in one step.", [at_least_one]),
    "validation_fraction": Parameter(
        "float",
        "[adam] Fraction of the samples that is held out; training stops when their cost no longer improves for "
        "`n_iter_no_change` epochs, and the best parameters are kept. 0 holds out none.",
        [below_one],
    ),
    "step": Parameter(
        '{"scaled", "gradient", "relative"}',
        "[online] The gradient times the rate in units of the data's spread, the plain gradient times the rate, or, "
        "for relative costs, the gradient times (d+ + d-), which makes the rate independent of the data's scale step "
        "by step.",
        [one_of(*STEPS)],
    ),
    "learning_rate": Parameter("float", "[online, adam] Rate of the prototypes at the start.", [not_negative]),
    "relevance_rate": Parameter(
        "float", "[online] Rate of the relevances or the matrix; the Fisher rules need none.", [not_negative]
    ),
    "schedule": Parameter(
        '{"linear", "constant", "inverse"}',
        "[online, adam] Rates fall to 0 over all epochs, stay constant, or fall as 1/(1 + epochs done).",
        [one_of(*SCHEDULES)],
    ),
    "max_iter": Parameter("int", "Epochs; iterations of lbfgs.", [at_least_one]),
    "tol": Parameter(
        "float, optional",
        "Stop when the mean cost of an epoch has not fallen by more than this for `n_iter_no_change` epochs; None runs "
        "all epochs. For lbfgs the relative fall of the objective in one iteration; None means 1e-5.",
        [not_negative, None],
    ),
    "n_iter_no_change": Parameter("int", "[online, adam] Patience of `tol`.", [at_least_one]),
    "shuffle": Parameter(
        "bool", "[online] A new order in every epoch; False keeps the order of the data.", ["boolean"]
    ),
    "class_weight": Parameter(
        'dict or "balanced", optional', "Factor of the weights of each class.", [one_of("balanced"), dict, None]
    ),
    "random_state": Parameter("int, RandomState or None", "Seed of start and order.", ["random_state"]),
    "warm_start": Parameter("bool", "Start from the prototypes of the last fit.", ["boolean"]),
    "verbose": Parameter("bool", "Show a progress bar.", ["verbose"]),
}

ATTRIBUTES = """Attributes
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
        The matrix Omega and Lambda = Omega'Omega, where it is learned; Lambda is computed when asked for.
    feature_importances_ : ndarray of shape (n_features,)
        Importance of each feature, of sum one, where features have relevances: the diagonal of C Lambda C with C the
        features' covariance, the squared covariance of each feature with the model's own directions. Not after
        `partial_fit`.
    kernel_width_ : float
        Width of the kernel, where there is one.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    objective_history_ : ndarray of shape (n_iter_,)
        Mean cost of each epoch, each sample's taken just before its step; of lbfgs the objective of each iteration.
    n_iter_ : int
        Epochs or iterations run.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had them."""


def describe(field: Any) -> str:
    """The numpydoc entry of one parameter."""
    kind, text, _ = PARAMETERS[field.name]
    default = "" if field.default in (None, MISSING) else f", default={field.default!r}"
    lines, line = [], ""
    for word in text.split():
        if len(line) + len(word) > 105:
            lines.append(line)
            line = ""
        line += f"{' ' if line else ''}{word}"
    body = "\n        ".join([*lines, line])
    return f"    {field.name} : {kind}{default}\n        {body}"


@dataclass_transform(kw_only_default=True)
def estimator(cls: Class) -> Class:
    """Make the annotated fields of a class its keyword parameters, and describe and constrain them."""
    dataclass(kw_only=True, eq=False, repr=False)(cls)  # changes the class in place
    entries = "\n".join(describe(field) for field in fields(cls) if field.init)
    text = (cls.__doc__ or "").replace("    {parameters}", f"    Parameters\n    ----------\n{entries}")
    cls.__doc__ = text.replace("{attributes}", ATTRIBUTES)
    own = cls.__dict__.get("_own_constraints", {})  # where a class is stricter than the table
    constraints = {field.name: own.get(field.name, PARAMETERS[field.name].constraints) for field in fields(cls)}
    cls._parameter_constraints = constraints  # type: ignore[attr-defined]
    return cls
