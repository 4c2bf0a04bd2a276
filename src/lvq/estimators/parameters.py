"""Parameters of the estimators: each is declared once as a field and described once here.

`@estimator` makes a class a dataclass, whose `__init__` only stores what it is given, as scikit-learn asks, and writes
the descriptions of all its parameters into its docstring, in place of ``{parameters}`` and ``{attributes}``.
"""

from dataclasses import MISSING, dataclass, fields
from typing import Any, TypeVar, dataclass_transform

Class = TypeVar("Class", bound=type)

PARAMETERS: dict[str, tuple[str, str]] = {
    "n_prototypes": ("int or dict", "Prototypes per class: one number for all, or a dict class -> number."),
    "n_prototypes_total": (
        "int, optional",
        "Prototypes in all, shared out among the classes (the first get the remainder); replaces `n_prototypes`.",
    ),
    "init": (
        '{"kmeans", "means", "samples", "random"}, array or (array, labels)',
        "Start: k-means in each class, class means with a small spread, random samples of the class, random places in "
        "each feature's range, or given prototypes, class by class or with their labels.",
    ),
    "relevance": (
        "str or Relevance, optional",
        'How features are weighed: not at all (None), by gradient ("gradient"; "matrix" and "local_matrix" for '
        'matrices), by RLVQ\'s rule ("hebbian"), or by the Fisher criterion over the prototypes ("fc1") or over the '
        'samples they have won ("fc2"). Objects of `lvq.model.relevance` give the variants.',
    ),
    "rank": (
        "int, optional",
        "Rows of Omega, from 1 to the number of features; None means as many as features, or with a ridge and fewer "
        "samples than features as many as there are directions in which samples differ.",
    ),
    "local": ('{"class", "prototype"}', "Who has a matrix of its own."),
    "kernel": (
        '{"gaussian", "cauchy", "inverse_multiquadric", "rational_quadratic"} or Kernel, optional',
        "Radial kernel on the squared distances; None leaves them as they are.",
    ),
    "kernel_width": (
        'float, "auto" or "learned"',
        'Width of the kernel; "auto" is the root of the mean smallest squared distance at the start, "learned" starts '
        "there and follows the gradient.",
    ),
    "slope": (
        'float, "time" or None',
        'Steepness of the sigmoid around mu; None is the identity, "time" grows with the number of steps, as Sato and '
        "Yamada have it.",
    ),
    "xi": ("float", "Steepness of the cost, in units of one over the data's spread (the mean smallest distance)."),
    "alpha": (
        "float",
        "Weight of the regulariser that draws the nearest own prototype to the sample, in units of one over the data's "
        "spread.",
    ),
    "squared": ("bool", "Change the relevances by (x - w)^2 in place of abs(x - w)."),
    "window": ("float", "Relative width of the window around the midplane of two prototypes."),
    "epsilon": ("float", "Share of the rate when both nearest prototypes are of the sample's class."),
    "decision": (
        '{"nearest", "posterior"}',
        "Answer by the nearest prototype, as the papers do, or by the class of the largest posterior.",
    ),
    "solver": (
        '{"auto", "lbfgs", "adam", "online"}',
        "How to learn: by L-BFGS on all samples, which needs no rate; by Adam on mini-batches; or sample by sample, as "
        'the papers do. "auto" is lbfgs, or online where a part has no gradient or an online `step` is asked for. '
        "`partial_fit` is always online.",
    ),
    "cost_matrix": (
        "array-like of shape (n_classes, n_classes), optional",
        "Price of taking the row's class for the column's, for margin costs with lbfgs or adam: each sample's cost is "
        "multiplied by the price of taking it for the class of its nearest other prototype.",
    ),
    "cost": (
        '{"logm", "glvq", "mce", "rslvq", "snpc"} or Cost',
        "What is made small; see the classes of these names. An object of your own needs `value_and_slope`.",
    ),
    "cv": ("int, splitter or iterable", "Folds, in scikit-learn's manner."),
    "structures": (
        "sequence of dict, optional",
        "Parameters of `LVQClassifier` to compare; None compares one prototype per class with one matrix for all, "
        "and one and two prototypes per class with a matrix each.",
    ),
    "ridges": ("sequence of float", "Ridges to compare, from strong to weak."),
    "scoring": (
        "str, callable or None",
        "What decides, as in scikit-learn, say 'accuracy' or 'balanced_accuracy'; None: the mean log-likelihood.",
    ),
    "n_jobs": ("int, optional", "Threads over folds and structures; None means one, -1 all cores."),
    "ridge": (
        "float",
        "Weight of the penalty |Omega|^2; the size of Omega is then learned, in place of its unit trace. 0 keeps the "
        "unit trace, and so does the online solver.",
    ),
    "log_determinant": (
        "float",
        "Weight of the penalty -log det(Omega Omega')/2, which keeps directions of Omega from dying out.",
    ),
    "device": (
        "str, optional",
        'Where lbfgs and adam compute, in torch\'s words ("cuda", "cpu"); None is NumPy, or the place of the tensors '
        "given to `fit`.",
    ),
    "batch_size": ("int", "Samples in one step of adam."),
    "validation_fraction": (
        "float",
        "Share of the samples that adam holds out; training stops when their cost no longer improves for "
        "`n_iter_no_change` epochs, and the best parameters are kept. 0 holds out none.",
    ),
    "step": (
        '{"scaled", "gradient", "relative"}',
        "The gradient times the rate in units of the data's spread, the plain gradient times the rate, or, for "
        "relative costs, the gradient times (d+ + d-), which frees the rate from the data's scale step by step.",
    ),
    "learning_rate": ("float", "Rate of the prototypes at the start."),
    "relevance_rate": ("float", "Rate of the relevances or the matrix; the Fisher rules need none."),
    "schedule": (
        '{"linear", "constant", "inverse"}',
        "Rates fall to 0 over all epochs, stay, or fall as 1/(1 + epochs done).",
    ),
    "max_iter": ("int", "Epochs; iterations of lbfgs."),
    "tol": (
        "float, optional",
        "Stop when the mean cost of an epoch has not fallen by more than this for `n_iter_no_change` epochs; None runs "
        "all epochs. For lbfgs the relative fall of the objective in one iteration; None means 1e-5.",
    ),
    "n_iter_no_change": ("int", "Patience of `tol`."),
    "shuffle": ("bool", "A new order in every epoch; False keeps the order of the data."),
    "class_weight": ('dict or "balanced", optional', "Factor of each class's steps."),
    "random_state": ("int, RandomState or None", "Seed of start and order."),
    "warm_start": ("bool", "Start from the prototypes of the last fit."),
    "verbose": ("bool", "Show a progress bar."),
}

ATTRIBUTES = """Attributes
    ----------
    prototypes_ : ndarray of shape (n_prototypes, n_features)
        What has been learned, class by class.
    prototype_labels_ : ndarray of shape (n_prototypes,)
        Their classes.
    relevances_ : ndarray of shape (n_features,)
        Weight of each feature, where it is learned.
    omega_, lambda_ : ndarray of shape ([n_matrices,] rank, n_features), ([n_matrices,] n_features, n_features)
        The matrix Omega and Lambda = Omega'Omega, where it is learned; Lambda is made anew when asked for.
    kernel_width_ : float
        Width of the kernel, where there is one.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    objective_history_ : ndarray of shape (n_iter_,)
        Mean cost of each epoch, each sample's taken just before its step.
    n_iter_ : int
        Epochs run.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had them."""


def describe(field: Any) -> str:
    """The numpydoc entry of one parameter."""
    kind, text = PARAMETERS[field.name]
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
    """Make the annotated fields of a class its keyword parameters, and describe them in its docstring."""
    dataclass(kw_only=True, eq=False, repr=False)(cls)  # changes the class in place
    entries = "\n".join(describe(field) for field in fields(cls) if field.init)
    text = (cls.__doc__ or "").replace("    {parameters}", f"    Parameters\n    ----------\n{entries}")
    cls.__doc__ = text.replace("{attributes}", ATTRIBUTES)
    return cls
