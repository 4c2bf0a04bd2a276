"""What a fitted pipeline does, in the columns of its input: explanations, importances, exemplars, certificates.

`steps` is the table of the transformers that are known, and how changes of samples go through them. `columns` follows a
pipeline by it: columns of features, and rows of features back in these columns.
"""

from lvq.inspection.exemplars import Exemplars, NearestCases, nearest_cases
from lvq.inspection.importance import VariableImportances

__all__ = ["Exemplars", "NearestCases", "VariableImportances", "nearest_cases"]
