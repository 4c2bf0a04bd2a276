"""Warnings that name the line of the user's program that called the package."""

import sys
import warnings

PASSED = ("lvq", "sklearn", "joblib")  # packages whose own lines are passed


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the nearest line outside of this package, and of those that call it for the user or are called by it."""
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in PASSED:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
