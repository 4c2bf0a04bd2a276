"""What there is to see in a fitted model, as arrays; nothing here draws.

The displays of this package show these numbers, and whatever else wants to show a model can use them too. Every
function takes a model of this library, a Pipeline that ends in one, a search over one, or a `RejectClassifier` around
any of these.

| Function | Gives |
|---|---|
| `parts` | the transformer in front of the model (or None), and the model |
| `plane`, `regions`, `verdicts` | a map: samples and prototypes on two axes, the answers on a grid |
| `relevance_profile`, `relation_matrix`, `cell_names` | what the metric has learned, for each local matrix |
| `prototypes_in_units`, `prototype_names`, `feature_names` | prototypes in the units of X, and what all is called |
| `square_side`, `image_side` | whether the features can be the pixels of a square |
"""

from lvq.plots.models import (
    cell_names,
    feature_names,
    image_side,
    parts,
    prototype_names,
    prototypes_in_units,
    reject_classifier,
    relation_matrix,
    relevance_profile,
    square_side,
)
from lvq.plots.planes import Plane, plane
from lvq.plots.verdicts import Regions, Verdicts, regions, verdicts

__all__ = [
    "Plane",
    "Regions",
    "Verdicts",
    "cell_names",
    "feature_names",
    "image_side",
    "parts",
    "plane",
    "prototype_names",
    "prototypes_in_units",
    "regions",
    "reject_classifier",
    "relation_matrix",
    "relevance_profile",
    "square_side",
    "verdicts",
]
