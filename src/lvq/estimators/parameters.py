"""Parameters of the estimators: each is declared once as a field, and described and constrained once here.

`@estimator` makes a class a dataclass, whose `__init__` only stores its arguments, as scikit-learn requires. It writes
the descriptions of all parameters into the docstring, in place of ``{parameters}`` and ``{attributes}``, and collects
their constraints for scikit-learn's validation. Solvers in square brackets are those that use the parameter.
"""

import textwrap
from dataclasses import MISSING, dataclass, fields
from inspect import Signature, cleandoc
from numbers import Integral, Real
from typing import TypeVar, dataclass_transform

from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from lvq.estimators.prediction import ModelPredictions
from lvq.model.costs import COSTS
from lvq.model.links import KERNELS
from lvq.model.relevance import RELEVANCES, Relevance
from lvq.model.starts import STARTS
from lvq.solvers.online_rule import SCHEDULES, STEPS

Class = TypeVar("Class", bound=type)
SOLVERS = ("auto", "lbfgs", "adam", "online")

below_one = Interval(Real, 0, 1, closed="left")
unit_interval = Interval(Real, 0, 1, closed="neither")
positive = Interval(Real, 0, None, closed="neither")
not_negative = Interval(Real, 0, None, closed="left")
at_least_one = Interval(Integral, 1, None, closed="left")


def one_of(*options: str) -> StrOptions:
    """One of these strings."""
    return StrOptions(set(options))


PARAMETERS: dict[str, tuple[str, str]] = {
    "n_prototypes": (
        'int, dict or "auto"',
        'Prototypes per class: one number for all, or a dict class -> number. "auto" chooses up to 6 for each class, '
        "by short fits in folds: a class gets another one where that lowers the log-loss of samples left out. None, of "
        "LVQClassifier alone, is 2, or 1 where `relevance` is 'auto' and chooses so.",
    ),
    "n_prototypes_total": (
        "int, optional",
        "Total number of prototypes, distributed evenly over the classes (the first get the remainder); replaces "
        "`n_prototypes`.",
    ),
    "init": (
        '{"kmeans", "means", "samples", "random"}, array or (array, labels)',
        "Start: k-means in each class, class means with a small spread, random samples of the class, random places in "
        "each feature's range, or given prototypes, class by class or with their labels.",
    ),
    "relevance": (
        "str or Relevance, optional",
        'How features are weighted: not at all (None), by gradient ("gradient" and "local_diagonal" for weights of '
        'features, "local_scale" for one weight of all, "matrix" and "local_matrix" for matrices; local ones for each '
        'class or prototype), by RLVQ\'s rule ("hebbian"), or by the Fisher criterion over the prototypes ("fc1") or '
        'over the samples they have won ("fc2"). Objects of `lvq.model.relevance` give the variants. "auto", of '
        'LVQClassifier alone, is "local_matrix". Where `n_prototypes`, `ridge` and all that concerns matrices have '
        "their defaults, the solver is lbfgs, and there are 50 to 5,000 samples of at most 1,000 features, short fits "
        'in three folds choose between two prototypes of each class, one, and one with "local_scale": the log-loss of '
        "samples left out decides. These are folds of rows, so that another order of the rows, or copies in place of "
        "weights, can lead to another choice.",
    ),
    "rank": (
        'int, "auto" or None',
        "Rows of Omega, from 1 to the number of features, where a matrix is learned. None means as many as features, "
        "or as many as there are directions in which samples differ, with fewer samples than features and a ridge or "
        "more than 1,000 features; "
        '"auto" is the same up to 64 features, and 32 rows for more: as accurate there, at a fraction of the time.',
    ),
    "local": (
        '{"class", "prototype", "auto"}',
        "Whether each class or each prototype has its own matrix or weights, where these are local. 'auto' is each "
        "prototype, or one matrix for all where there would be over 4,000,000 numbers in the matrices.",
    ),
    "kernel": (
        '{"gaussian", "cauchy", "inverse_multiquadric", "rational_quadratic"} or Kernel, optional',
        "Radial kernel on the squared distances; None leaves them unchanged.",
    ),
    "kernel_width": (
        'float, "auto" or "learned"',
        'Width of the kernel; "auto" is the root of the mean smallest squared distance at the start, "learned" starts '
        "there and follows the gradient.",
    ),
    "slope": (
        'float, "time" or None',
        'Steepness of the sigmoid around mu; None is the identity. [online] "time" grows with the number of steps, as '
        "in Sato and Yamada.",
    ),
    "xi": ("float", "Steepness of the cost, in units of one over the data's spread (the mean smallest distance)."),
    "alpha": (
        "float",
        "Weight of the regulariser that draws the nearest own prototype to the sample, in units of one over the data's "
        "spread.",
    ),
    "squared": ("bool", "Change the relevances by (x - w)^2 instead of abs(x - w)."),
    "window": ("float", "Relative width of the window around the midplane of two prototypes."),
    "epsilon": ("float", "Fraction of the rate when both nearest prototypes are of the sample's class."),
    "decision": (
        '{"nearest", "posterior"}',
        "Predict the class of the nearest prototype, as the papers do, or that of the largest posterior.",
    ),
    "calibration": (
        '{"temperature"}, optional',
        "Whether `fit` ends with the choice of a temperature, by which `predict_proba` has the smallest log-loss on "
        "samples left out of short fits in three folds; predictions and scores do not change. With fewer than 50 "
        "samples it is one, of more than 20,000 so many are drawn, and `partial_fit` keeps it. A weight counts in "
        "it, but not as exactly as copies, which are in different folds.",
    ),
    "solver": (
        '{"auto", "lbfgs", "adam", "online"}',
        "How to learn: by L-BFGS on all samples, which needs no rate; by Adam on mini-batches; or sample by sample, as "
        'the papers do. "auto" is lbfgs; online where a part has no gradient or an online `step` is set. For sparse X '
        "of 16,384 features or more, whose prototypes lbfgs would hold more than 20 times, it is online, or adam for "
        "matrices and what online does not support. `partial_fit` is always online.",
    ),
    "cost_matrix": (
        "array-like of shape (n_classes, n_classes), optional",
        "[lbfgs, adam] Price of predicting the column's class for a sample of the row's class: each sample's cost is "
        "multiplied by the price of the class of its nearest other prototype.",
    ),
    "cost": (
        '{"logm", "glvq", "mce", "rslvq", "snpc"} or Cost',
        "The cost to minimise; see the classes of these names. Objects of `lvq.model.costs` give the variants; an "
        "object of your own needs `value_and_derivative`.",
    ),
    "estimator": (
        "LVQClassifier, optional",
        "The classifier whose structure and ridge are chosen; None is ``LVQClassifier()``.",
    ),
    "cv": ("int, splitter or iterable", "Folds, as in scikit-learn."),
    "candidates": (
        "sequence of dict, optional",
        "Parameters of `LVQClassifier` to compare, in the order of preference; None compares two and one prototypes "
        "per class with a matrix each, with two ridges and costs, four and ten with weights of the features each, two "
        "with a scale each, and a linear model. Costs are those of `estimator` where these are not the default.",
    ),
    "scoring": (
        "str, callable or None",
        "Score to maximise, as in scikit-learn, for example 'accuracy' or 'balanced_accuracy'; None: the mean "
        "log-likelihood at each candidate's temperature.",
    ),
    "n_jobs": ("int, optional", "Threads over folds and candidates; None means one, -1 all cores."),
    "ridge": (
        "float or 'auto'",
        "[lbfgs, adam] Weight of the penalty |Omega|^2, the sum of all weights where they are local, times the median "
        "of the features' variances, so that their unit does not count; the size of Omega is then learned, instead of "
        "its unit trace. "
        "'auto' is 0.003 up to 500 samples, and 1.5 divided by their number (weights do not count) for more. "
        "0 keeps the unit trace, and so does the online solver.",
    ),
    "log_determinant": (
        "float",
        "[lbfgs, adam] Weight of the penalty -log det(Omega Omega')/2, which keeps the directions of Omega from "
        "vanishing.",
    ),
    "shrinkage": (
        "float",
        "[lbfgs, adam] Weight of the penalty that draws Omega_j = s_j I + A + B_j, a matrix for each class or "
        "prototype, towards a matrix A of all and a scaled identity: abs(A)^2 and the sum of all abs(B_j)^2. 0.003 to "
        "0.03 help where samples are few or noisy.",
    ),
    "feature_groups": (
        "sequence of str, int, float or None, optional",
        "[lbfgs, adam] A label for each feature: those with the same have the same weight, such as the columns of a "
        "one-hot variable or the wavelengths of a band; None is the label of features that are excluded, and a float "
        "fixes the weight of a feature at this fraction of the sum of all. Matrices give no equal weights; there "
        "groups count in `sparsity`, features can be excluded, and a float fixes Lambda_ll at a fraction of the trace.",
    ),
    "sparsity": (
        "float",
        "[lbfgs, adam] Weight of the entropy of the weights of features or groups, which prefers few of them. It is 0 "
        "for one feature and log(n) for n equal ones, so that 0.01 to 0.1 have an effect.",
    ),
    "smoothness": (
        "float",
        "[lbfgs, adam] Weight of the squared differences between neighbouring features, for features that have an "
        "order, as in spectra: of the rows of Omega, relative to abs(Omega)^2, or of the weights, relative to their "
        "mean.",
    ),
    "device": (
        "str, optional",
        '[lbfgs, adam] Where to compute, as torch names it ("cuda", "mps", "cpu"); None is NumPy, or the device of the '
        'tensors given to `fit`. Predictions of arrays are computed there too. On "mps" in float32. Of dask '
        "collections it is the device of each worker: one GPU for each, as dask-cuda sets them.",
    ),
    "missing": (
        '{"raise", "ignore"}',
        "What NaN in X means: an error, or a missing value, in `fit`, `partial_fit` and predictions. With "
        '"ignore" distances are over the observed features, divided by the fraction of the metric that they are, the '
        "sum of Lambda_ll times the variance of feature l in the training samples so far. A row without any value is "
        "left out in `fit`, and equally far from all prototypes later: its prediction is the first class, of certainty "
        "0. Also in dask collections; not on a `device`.",
    ),
    "sample_prototypes": (
        "bool",
        "Whether every prototype is a training sample: after training each moves to the nearest sample of its class, "
        "the metric is trained with the prototypes in these places, and both are repeated while the objective falls. "
        "Such a model contains values of single samples, which may be patients.",
    ),
    "batch_size": ("int", "[adam] Samples in one step."),
    "validation_fraction": (
        "float",
        "[adam] Fraction of the samples that is held out; training stops when their cost no longer improves for "
        "`n_iter_no_change` epochs, and the best parameters are kept. 0 holds out none.",
    ),
    "step": (
        '{"scaled", "gradient", "relative"}',
        "[online] The gradient times the rate in units of the data's spread, the plain gradient times the rate, or, "
        "for relative costs, the gradient times (d+ + d-), which makes the rate independent of the data's scale step "
        "by step.",
    ),
    "learning_rate": ("float", "[online, adam] Rate of the prototypes at the start."),
    "relevance_rate": ("float", "[online] Rate of the relevances or the matrix; the Fisher rules need none."),
    "schedule": (
        '{"linear", "constant", "inverse"}',
        "[online, adam] Rates fall to 0 over all epochs, stay constant, or fall as 1/(1 + epochs done). In a stream, "
        "which has no known end, those of linear are constant, and `learning_rate` counts a tenth in models with a "
        "cost.",
    ),
    "max_iter": ("int", "Epochs; iterations of lbfgs, which count its first epochs on large data."),
    "tol": (
        "float, optional",
        "Stop when the mean cost of an epoch has not fallen by more than this for `n_iter_no_change` epochs; None runs "
        "all epochs. For lbfgs the relative fall of the objective in one iteration; None means 1e-5, and 3e-4 where "
        "values are missing. From 15,000 samples on None means 1e-4, and at most as many iterations as there were "
        "epochs of Adam before them.",
    ),
    "n_iter_no_change": ("int", "[online, adam] Patience of `tol`."),
    "shuffle": ("bool", "[online] A new order in every epoch; False keeps the order of the data."),
    "class_weight": ('dict or "balanced", optional', "Factor of the weights of each class."),
    "random_state": ("int, RandomState or None", "Seed of start and order."),
    "warm_start": ("bool", "Start from the prototypes of the last fit."),
    "verbose": ("bool", "Show a progress bar."),
}

CONSTRAINTS: dict[str, list[object]] = {
    "n_prototypes": [at_least_one, dict, one_of("auto")],
    "n_prototypes_total": [at_least_one, None],
    "init": [one_of(*STARTS), "array-like", tuple],
    "relevance": [one_of(*RELEVANCES), None, Relevance],
    "rank": [at_least_one, one_of("auto"), None],
    "local": [one_of("class", "prototype", "auto")],
    "kernel": [one_of(*KERNELS), None, HasMethods(["value", "derivative"])],
    "kernel_width": [positive, one_of("auto", "learned")],
    "slope": [positive, one_of("time"), None],
    "xi": [positive],
    "alpha": [not_negative],
    "squared": ["boolean"],
    "window": [unit_interval],
    "epsilon": [unit_interval],
    "decision": [one_of("nearest", "posterior")],
    "calibration": [one_of("temperature"), None],
    "solver": [one_of(*SOLVERS)],
    "cost_matrix": ["array-like", None],
    "cost": [one_of(*COSTS), HasMethods(["value_and_derivative"])],
    "estimator": [HasMethods(["fit", "predict_proba"]), None],
    "cv": ["cv_object"],
    "candidates": [tuple, list, None],
    "n_jobs": [Integral, None],
    "ridge": [not_negative, one_of("auto")],
    "log_determinant": [not_negative],
    "shrinkage": [not_negative],
    "feature_groups": ["array-like", None],
    "sparsity": [not_negative],
    "smoothness": [not_negative],
    "device": [str, None],
    "missing": [one_of("raise", "ignore")],
    "sample_prototypes": ["boolean"],
    "batch_size": [at_least_one],
    "validation_fraction": [below_one],
    "step": [one_of(*STEPS)],
    "learning_rate": [not_negative],
    "relevance_rate": [not_negative],
    "schedule": [one_of(*SCHEDULES)],
    "max_iter": [at_least_one],
    "tol": [not_negative, None],
    "n_iter_no_change": [at_least_one],
    "shuffle": ["boolean"],
    "class_weight": [one_of("balanced"), dict, None],
    "random_state": ["random_state"],
    "warm_start": ["boolean"],
    "verbose": ["verbose"],
}

ATTRIBUTES = cleandoc(ModelPredictions.__doc__ or "").partition("\n\n")[2]


def entry(name: str, kind: str, text: str, default: object) -> str:
    """The numpydoc entry of one parameter, for a docstring without a margin: from Python 3.13 on none has one."""
    shown = "" if default in (None, MISSING, Signature.empty) else f", default={default!r}"
    body = textwrap.wrap(text, 105, break_on_hyphens=False)
    return "\n    ".join([f"{name} : {kind}{shown}", *body])


@dataclass_transform(kw_only_default=True)
def estimator(cls: Class) -> Class:
    """Make the annotated fields of a class its keyword parameters, and describe and constrain them."""
    dataclass(kw_only=True, eq=False, repr=False)(cls)  # changes the class in place
    entries = [entry(field.name, *PARAMETERS[field.name], field.default) for field in fields(cls) if field.init]
    text = cleandoc(cls.__doc__ or "").replace("{parameters}", "\n".join(["Parameters", "----------", *entries]))
    cls.__doc__ = text.replace("{attributes}", ATTRIBUTES)
    known = CONSTRAINTS | cls.__dict__.get("_own_constraints", {})  # where a class is stricter than the table
    constraints = {field.name: known[field.name] for field in fields(cls)}
    cls._parameter_constraints = constraints  # type: ignore[attr-defined]
    return cls
