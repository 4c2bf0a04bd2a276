"""Fits that succeed or leave the estimator as it was."""

from collections.abc import Iterator
from contextlib import contextmanager

from numpy.random import RandomState
from sklearn.base import BaseEstimator


@contextmanager
def unchanged_on_error(estimator: BaseEstimator) -> Iterator[None]:
    """Restore the estimator after an error or an interrupt."""
    before, given = dict(vars(estimator)), estimator.random_state
    drawn = given.get_state() if isinstance(given, RandomState) else None
    try:
        yield
    except BaseException:
        estimator.__dict__ = before  # one assignment, which a second interrupt cannot cut in half
        if drawn is not None:
            given.set_state(drawn)
        raise
