"""Estimators in files that contain arrays and names, and no code."""

from lvq.persistence.files import LoadError, load, save

__all__ = ["LoadError", "load", "save"]
