"""Preprocessing steps: tables of numbers and categories, filters of spectra, and the removal of a nuisance.

The filters and the removal mix columns; `SavitzkyGolay` and `NuisanceRemoval` are linear, and certified radii go
through them.
"""

from lvq.preprocessing.nuisance import NuisanceRemoval
from lvq.preprocessing.spectra import SavitzkyGolay, StandardNormalVariate
from lvq.preprocessing.table import TablePreprocessor

__all__ = ["NuisanceRemoval", "SavitzkyGolay", "StandardNormalVariate", "TablePreprocessor"]
