"""What a fitted pipeline does, in the columns of its input: explanations, importances, exemplars, certificates.

`steps` is the table of the transformers that are known. `linear`, `columns` and `inverse` follow a pipeline by it:
changes of samples forwards, columns of features, and rows of features backwards.
"""

from lvq.inspection.certify import certified_accuracy
from lvq.inspection.exemplars import Exemplars
from lvq.inspection.importance import VariableImportances

__all__ = ["Exemplars", "VariableImportances", "certified_accuracy"]
