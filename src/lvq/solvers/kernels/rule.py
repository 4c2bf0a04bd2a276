"""What one step does, in integers and floats: numba's disk cache misses functions that are given as arguments."""

from typing import NamedTuple

LVQ1, OLVQ1, LVQ21, LVQ3, GLVQ, MCE, LOGM, SNPC, RSLVQ = range(9)
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
    xi: float  # of MCE, LOGM, SNPC, RSLVQ
    alpha: float  # of the regulariser
    window: float  # of LVQ2.1 and LVQ3
    epsilon: float  # of LVQ3
    relative: bool  # GLVQ's step times (d+ + d-)
    weighted_step: bool  # the prototype step carries lambda
    every: int  # samples from one step of lambda to the next, by the sum of their gradients
    by_maximum: bool  # Fisher scores divided by their maximum, not their sum
    two_classes: bool  # FC2 compares the winner with one rival, not all classes
    between_alone: bool  # Fisher scores without S_W as soon as one S_W is zero
    even_classes: bool  # FC1 weights all classes equally, and in one without a correct win all its prototypes
    reach: float  # largest squared distance that a step may leave between sample and prototype
    key_shift: int  # 32 for float32, 0 for float64: position of the distance in its search key
    index_mask: int  # the lowest bits of a search key, which hold the prototype's index
