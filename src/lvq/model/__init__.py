"""The mathematics and the fitted model: arrays in, arrays out, NumPy, torch or CSR; no scikit-learn."""

from lvq.model.prototype_model import PrototypeModel

__all__ = ["PrototypeModel"]
