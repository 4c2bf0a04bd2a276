"""What the loops are given: choices as integers, and arrays in named tuples, which numba's disk cache can store."""

from typing import NamedTuple

import numpy as np

WINNER, WINDOW, GLVQ, MCE, LOGM, SNPC, RSLVQ, CROSS_ENTROPY = range(8)
PAIR_COSTS = LOGM  # the last of those that touch two prototypes of a sample
IDENTITY, GAUSSIAN, CAUCHY, MULTIQUADRIC, RATIONAL = range(5)
FIXED, GRADIENT, HEBBIAN, FISHER1, FISHER2 = range(5)
TIME = -1.0  # value of Rule.slope that means the number of the step


class Rule(NamedTuple):
    """What one step does. Integers are choices, floats are quantities; every field has the same type in every model."""

    cost: int
    link: int
    relevance: int
    horizon: float  # steps until the rates reach zero; infinite where they are constant
    rate: float  # of the prototypes
    relevance_rate: float  # of lambda or Omega
    width_rate: float  # of the logarithm of the kernel's width
    shape: float  # the exponent of the rational quadratic kernel
    slope: float  # of the sigmoid in GLVQ; 0 the identity, TIME the number of the step
    xi: float  # of MCE, LOGM, SNPC, RSLVQ, CROSS_ENTROPY
    alpha: float  # of the regulariser
    window: float  # of LVQ2.1 and LVQ3
    epsilon: float  # of LVQ3; 0 in LVQ2.1
    relative: bool  # GLVQ's step times (d+ + d-)
    weighted_step: bool  # the prototype step carries lambda
    squared: bool  # Hebbian learning by squared differences
    by_maximum: bool  # Fisher scores divided by their maximum, not their sum
    two_classes: bool  # FC2 compares the winner with one rival, not all classes
    between_alone: bool  # Fisher scores without S_W as soon as one S_W is zero
    even_classes: bool  # FC1 weights all classes equally, and in one without a correct win all its prototypes
    reach: float  # largest squared distance that a step may leave between sample and prototype


class Rows(NamedTuple):
    """Samples. X is finite where values are missing; `observed` has no rows where all samples are complete."""

    X: np.ndarray  # (N, n)
    observed: np.ndarray  # (N, n) or (0, n), of the type of X: 1 observed, 0 missing
    y: np.ndarray  # (N,) class indices
    weight: np.ndarray  # (N,) factors of each sample's step


class SparseRows(NamedTuple):
    """Samples in compressed rows."""

    values: np.ndarray
    columns: np.ndarray
    pointers: np.ndarray  # row i has the values pointers[i] to pointers[i + 1]
    y: np.ndarray
    weight: np.ndarray


class Prototypes(NamedTuple):
    """What every loop learns, and what it needs to know of the classes."""

    W: np.ndarray  # (M, n); in the sparse loop (n, M)
    starts: np.ndarray  # (C + 1,) class k has the prototypes starts[k] to starts[k + 1]
    width: np.ndarray  # (3,) width of the kernel, and its limits
    statistics: tuple  # lvq.solvers.state.Statistics


class LearnedMetric(NamedTuple):
    """Relevances of the features or matrices Omega, for one or several groups of prototypes."""

    R: np.ndarray  # (G, n) or (G, m, n)
    groups: np.ndarray  # (G + 1,) group k has the prototypes groups[k] to groups[k + 1]
    variances: np.ndarray  # (n,) of the features; used where values are missing
