"""What the loops are given: choices as integers, and arrays in named tuples, which numba's disk cache can store."""

from typing import NamedTuple

import numpy as np

LVQ1, OLVQ1, LVQ21, LVQ3, GLVQ, MCE, LOGM, SNPC, RSLVQ, CROSS_ENTROPY = range(10)
IDENTITY, GAUSSIAN, CAUCHY, MULTIQUADRIC, RATIONAL = range(5)
FIXED, GRADIENT, HEBBIAN, HEBBIAN_SQUARED, FISHER1, FISHER2 = range(6)
CONSTANT, LINEAR, INVERSE = range(3)
TIME = -1.0  # value of Rule.slope that means the number of the step


class Rule(NamedTuple):
    """What one step does. Integers are choices, floats are quantities; every field has the same type in every model."""

    cost: int
    link: int
    relevance: int
    schedule: int
    horizon: float  # steps until the linear schedule reaches zero; steps in one unit of the 1/t schedule
    rate: float  # of the prototypes
    relevance_rate: float  # of lambda or Omega
    width_rate: float  # of the logarithm of the kernel's width
    shape: float  # the exponent of the rational quadratic kernel
    slope: float  # of the sigmoid in GLVQ; 0 the identity, TIME the number of the step
    xi: float  # of MCE, LOGM, SNPC, RSLVQ and the cross-entropy
    alpha: float  # of the regulariser
    window: float  # of LVQ2.1 and LVQ3
    epsilon: float  # of LVQ3
    relative: bool  # GLVQ's step times (d+ + d-)
    weighted_step: bool  # the prototype step carries lambda
    by_maximum: bool  # Fisher scores divided by their maximum, not their sum
    two_classes: bool  # FC2 compares the winner with one rival, not all classes
    between_alone: bool  # Fisher scores without S_W as soon as one S_W is zero
    even_classes: bool  # FC1 weights all classes equally, and in one without a correct win all its prototypes
    reach: float  # largest squared distance that a step may leave between sample and prototype


class Rows(NamedTuple):
    """Samples. X is finite where values are missing; `missing` has no rows where all samples are complete."""

    X: np.ndarray  # (N, n)
    missing: np.ndarray  # (N, n) or (0, n), of bool
    y: np.ndarray  # (N,) class indices
    weight: np.ndarray  # (N,) factors of each sample's step


class SparseRows(NamedTuple):
    """Samples in compressed rows."""

    values: np.ndarray
    columns: np.ndarray
    pointers: np.ndarray  # row i has the values pointers[i] to pointers[i + 1]
    y: np.ndarray
    weight: np.ndarray


class Epochs(NamedTuple):
    """Epochs of one call."""

    orders: np.ndarray  # (epochs, N) the order of the samples
    costs: np.ndarray  # (epochs,) of zeros; gets the sum of the costs
    step: float  # number of steps before


class Prototypes(NamedTuple):
    """What every loop learns, and what it needs to know of the classes."""

    W: np.ndarray  # (M, n); in the sparse loop (n, M)
    starts: np.ndarray  # (C + 1,) class k has the prototypes starts[k] to starts[k + 1]
    width: np.ndarray  # (3,) width of the kernel, and its limits
    statistics: tuple  # lvq.solvers.state.Statistics


class Weights(NamedTuple):
    """Relevances of each feature, for one or several groups of prototypes."""

    relevances: np.ndarray  # (G, n)
    owner: np.ndarray  # (M,) group of each prototype
    variances: np.ndarray  # (n,) of the features; used where values are missing


class Matrices(NamedTuple):
    """Omega, for one or several groups of prototypes."""

    omega: np.ndarray  # (G, m, n)
    groups: np.ndarray  # (G + 1,) group k has the prototypes groups[k] to groups[k + 1]
    variances: np.ndarray  # (n,) of the features; used where values are missing


class Search(NamedTuple):
    """Distances of the plain loop, which it compares as integers."""

    distances: np.ndarray  # (M,)
    bits: np.ndarray  # (M,) the same memory
