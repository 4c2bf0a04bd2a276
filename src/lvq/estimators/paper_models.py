"""The model names of the papers, and the estimator and parameters of each.

A kernel or a relevance rule is a parameter here, not a class.
"""

from typing import NamedTuple

from lvq.estimators.base import BaseLVQ
from lvq.estimators.kohonen import LVQ1, LVQ3, LVQ21, OLVQ1, RLVQ
from lvq.estimators.margin import GLVQ, GMLVQ, GRLVQ, LGMLVQ, LOGM, MCE
from lvq.estimators.soft import RSLVQ, SNPC
from lvq.model.relevance import FisherNeighbours, FisherPrototypes, Hebbian, Matrix
from lvq.solvers.online import Online
from lvq.typing import Argument


class PaperModel(NamedTuple):
    """An estimator class and the parameters that make it the model of a paper."""

    estimator: type[BaseLVQ]
    parameters: dict[str, Argument]

    def make(self, **parameters: Argument) -> BaseLVQ:
        """The estimator, with further parameters."""
        return self.estimator(**(self.parameters | parameters))


# The tables of Ridge et al. follow rules that differ from the printed formulas or are not printed; these reproduce
# them. For GLVQ also divide the learning rate by 4: the printed step lacks that factor of the gradient.
_PUBLISHED: dict[str, Argument] = {"weighted_step": True, "no_variance": "between"}

RELATIVE = Online(step="relative", schedule="constant")

MODELS: dict[str, PaperModel] = {
    # Kohonen
    "LVQ1": PaperModel(LVQ1, {}),
    "LVQ2.1": PaperModel(LVQ21, {}),
    "LVQ3": PaperModel(LVQ3, {}),
    "OLVQ1": PaperModel(OLVQ1, {}),
    # Ridge, Leonardis, Skocaj, as printed
    "RLVQ": PaperModel(RLVQ, {"relevance": Hebbian(squared=True)}),
    "GRLVQ": PaperModel(GRLVQ, {}),
    "FC1LVQ1": PaperModel(LVQ1, {"relevance": "fc1"}),
    "FC2LVQ1": PaperModel(LVQ1, {"relevance": "fc2"}),
    "FC1GLVQ": PaperModel(GLVQ, {"relevance": "fc1"}),
    "FC2GLVQ": PaperModel(GLVQ, {"relevance": "fc2"}),
    # the same as in their published results
    "RLVQ (published)": PaperModel(LVQ1, {"relevance": Hebbian()}),
    "GLVQ (published)": PaperModel(GLVQ, {"slope": "time", "solver": Online(step="gradient", schedule="constant")}),
    "GRLVQ (published)": PaperModel(GRLVQ, {"slope": 10.0, "solver": RELATIVE}),
    "FC1LVQ1 (published)": PaperModel(LVQ1, {"relevance": FisherPrototypes(no_variance="between", classes="even")}),
    "FC2LVQ1 (published)": PaperModel(LVQ1, {"relevance": FisherNeighbours(no_variance="between", rivals="nearest")}),
    "FC1GLVQ (published)": PaperModel(
        GLVQ,
        {
            "relevance": FisherPrototypes(**_PUBLISHED, classes="even"),
            "slope": 10.0,
            "solver": RELATIVE,
        },
    ),
    "FC2GLVQ (published)": PaperModel(
        GLVQ,
        {
            "relevance": FisherNeighbours(**_PUBLISHED, rivals="nearest"),
            "slope": 10.0,
            "solver": RELATIVE,
        },
    ),
    # Jin, Liu, Hou
    "GLVQ": PaperModel(GLVQ, {}),
    "MCE": PaperModel(MCE, {}),
    "LOGM": PaperModel(LOGM, {}),
    "SNPC": PaperModel(SNPC, {}),
    "FC1MCE": PaperModel(MCE, {"relevance": "fc1"}),
    "FC2MCE": PaperModel(MCE, {"relevance": "fc2"}),
    "FC1LOGM": PaperModel(LOGM, {"relevance": "fc1"}),
    "FC2LOGM": PaperModel(LOGM, {"relevance": "fc2"}),
    "RSLVQ": PaperModel(RSLVQ, {}),
    # Kaestner, Nebel, Riedel, Biehl, Villmann
    "DK-GLVQ": PaperModel(GLVQ, {"kernel": "gaussian"}),
    "GMLVQ": PaperModel(GMLVQ, {}),
    "GMLVQ m=n": PaperModel(GMLVQ, {}),
    "GMLVQ m=2": PaperModel(GMLVQ, {"relevance": Matrix(rank=2)}),
    "DK-GMLVQ": PaperModel(GMLVQ, {"kernel": "gaussian"}),
    "DK-GMLVQ m=n": PaperModel(GMLVQ, {"kernel": "gaussian"}),
    "DK-GMLVQ m=2": PaperModel(GMLVQ, {"kernel": "gaussian", "relevance": Matrix(rank=2)}),
    "LGMLVQ": PaperModel(LGMLVQ, {}),
}
