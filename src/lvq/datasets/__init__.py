"""The data of the learning vector quantization papers: generators, and loaders that check what they load.

Rules kept here: a set comes from scikit-learn where its package holds it, else from a local folder, else from the
network, and is checked the same way whatever its source; values are never scaled, imputed or reordered; importing
this package loads neither scikit-learn nor any data.
"""

from lvq.datasets.generators import (
    make_multimodal,
    make_pearl_necklace,
    pearl_necklace_log_density,
    pearl_necklace_posterior,
)
from lvq.datasets.loading import available, load
from lvq.datasets.records import Dataset
from lvq.datasets.sources import DatasetMismatchError, DatasetNotFoundError
from lvq.datasets.table import ALIASES, DATASETS

__all__ = [
    "ALIASES",
    "DATASETS",
    "Dataset",
    "DatasetMismatchError",
    "DatasetNotFoundError",
    "available",
    "load",
    "make_multimodal",
    "make_pearl_necklace",
    "pearl_necklace_log_density",
    "pearl_necklace_posterior",
]
