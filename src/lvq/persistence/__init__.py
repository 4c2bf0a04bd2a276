"""Models on disk: files that hold numbers and names, and no code."""

from lvq.persistence.container import LoadError
from lvq.persistence.files import load, save

__all__ = ["LoadError", "load", "save"]
