"""The data of the learning vector quantization papers: generators, and loaders that check the data.

Rules: a set is read from scikit-learn's package, else from a local folder, else from the network, and is checked the
same way from every source; values are never scaled, imputed or reordered; importing this package imports neither
scikit-learn nor any data.
"""

from experiments.datasets.generators import (
    make_multimodal,
    make_pearl_necklace,
    pearl_necklace_log_density,
    pearl_necklace_posterior,
)
from experiments.datasets.loading import available, load_dataset
from experiments.datasets.records import ALIASES, DATASETS, Dataset
from experiments.datasets.sources import DatasetMismatchError, DatasetNotFoundError

__all__ = [
    "ALIASES",
    "DATASETS",
    "Dataset",
    "DatasetMismatchError",
    "DatasetNotFoundError",
    "available",
    "load_dataset",
    "make_multimodal",
    "make_pearl_necklace",
    "pearl_necklace_log_density",
    "pearl_necklace_posterior",
]
