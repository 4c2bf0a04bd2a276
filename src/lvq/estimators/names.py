"""Every model name of the papers, and how it is spelled here.

A kernel or a relevance rule is a parameter, never a class: the table translates between the two ways of speaking.
"""

from typing import Any, NamedTuple

from lvq.estimators.base import BaseLVQ
from lvq.estimators.heuristic import LVQ1, LVQ3, LVQ21, OLVQ1, RLVQ
from lvq.estimators.margin import GLVQ, GMLVQ, GRLVQ, LGMLVQ, LOGM, MCE
from lvq.estimators.soft import RSLVQ, SNPC
from lvq.model.relevance import FisherNeighbours, FisherPrototypes, Hebbian


class Spelling(NamedTuple):
    """A class of this package and the parameters that make it the model of a paper."""

    estimator: type[BaseLVQ]
    parameters: dict[str, Any]

    def make(self, **parameters: Any) -> BaseLVQ:
        """The estimator, with further parameters."""
        return self.estimator(**(self.parameters | parameters))


# Ridge's tables follow rules that the printed formulas leave open or contradict; these reproduce them. For GLVQ divide
# the learning rate by 4 besides: the printed step lacks that factor of the gradient.
_PUBLISHED: dict[str, Any] = {"weighted_step": True, "no_variance": "between"}

MODELS: dict[str, Spelling] = {
    # Kohonen
    "LVQ1": Spelling(LVQ1, {}),
    "LVQ2.1": Spelling(LVQ21, {}),
    "LVQ3": Spelling(LVQ3, {}),
    "OLVQ1": Spelling(OLVQ1, {}),
    # Ridge, Leonardis, Skocaj, as printed
    "RLVQ": Spelling(RLVQ, {"squared": True}),
    "GRLVQ": Spelling(GRLVQ, {}),
    "FC1LVQ1": Spelling(LVQ1, {"relevance": "fc1"}),
    "FC2LVQ1": Spelling(LVQ1, {"relevance": "fc2"}),
    "FC1GLVQ": Spelling(GLVQ, {"relevance": "fc1"}),
    "FC2GLVQ": Spelling(GLVQ, {"relevance": "fc2"}),
    # the same as in their published results
    "RLVQ (published)": Spelling(LVQ1, {"relevance": Hebbian()}),
    "GLVQ (published)": Spelling(GLVQ, {"slope": "time", "step": "gradient", "schedule": "constant"}),
    "GRLVQ (published)": Spelling(GRLVQ, {"slope": 10.0, "step": "relative", "schedule": "constant"}),
    "FC1LVQ1 (published)": Spelling(LVQ1, {"relevance": FisherPrototypes(no_variance="between", classes="even")}),
    "FC2LVQ1 (published)": Spelling(LVQ1, {"relevance": FisherNeighbours(no_variance="between", rivals="nearest")}),
    "FC1GLVQ (published)": Spelling(
        GLVQ,
        {
            "relevance": FisherPrototypes(**_PUBLISHED, classes="even"),
            "slope": 10.0,
            "step": "relative",
            "schedule": "constant",
        },
    ),
    "FC2GLVQ (published)": Spelling(
        GLVQ,
        {
            "relevance": FisherNeighbours(**_PUBLISHED, rivals="nearest"),
            "slope": 10.0,
            "step": "relative",
            "schedule": "constant",
        },
    ),
    # Jin, Liu, Hou
    "GLVQ": Spelling(GLVQ, {}),
    "MCE": Spelling(MCE, {}),
    "LOGM": Spelling(LOGM, {}),
    "SNPC": Spelling(SNPC, {}),
    "FC1MCE": Spelling(MCE, {"relevance": "fc1"}),
    "FC2MCE": Spelling(MCE, {"relevance": "fc2"}),
    "FC1LOGM": Spelling(LOGM, {"relevance": "fc1"}),
    "FC2LOGM": Spelling(LOGM, {"relevance": "fc2"}),
    "RSLVQ": Spelling(RSLVQ, {}),
    # Kaestner, Nebel, Riedel, Biehl, Villmann
    "DK-GLVQ": Spelling(GLVQ, {"kernel": "gaussian"}),
    "GMLVQ": Spelling(GMLVQ, {}),
    "GMLVQ m=n": Spelling(GMLVQ, {}),
    "GMLVQ m=2": Spelling(GMLVQ, {"rank": 2}),
    "DK-GMLVQ": Spelling(GMLVQ, {"kernel": "gaussian"}),
    "DK-GMLVQ m=n": Spelling(GMLVQ, {"kernel": "gaussian"}),
    "DK-GMLVQ m=2": Spelling(GMLVQ, {"kernel": "gaussian", "rank": 2}),
    "LGMLVQ": Spelling(LGMLVQ, {}),
}
