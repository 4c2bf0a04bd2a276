"""Labels of samples with missing values near a tie: those outside the bound of rounding errors are exact."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from lvq.model.metrics import Matrix
from lvq.model.missing_prediction import observed_prototypes
from lvq.model.prototype_model import PrototypeModel

SHAPES = {"by missing features": (6, 6, 3), "by images": (12, 2, 4), "by pairs": (8, 8, 9), "many rows": (1, 300, 2)}
TYPES = [(np.float64, np.float64), (np.float32, np.float32), (np.float32, np.float64), (np.float64, np.float32)]
DATA = {"plain": (1, 0, 0, 1), "far from the origin": (1, 1000, 0, 1), "ill-conditioned": (1, 0, 8, 1e-5)}


def near_ties(seed, shape, types, scale, offset, digits, gap):
    """A model, and rows that are equally near to two of its prototypes up to rounding; one is complete.

    The rows of Omega fall by so many powers of ten; prototypes differ by `gap`.
    """
    (n, m, count), rng = shape, np.random.default_rng(seed)
    base = rng.normal(size=n) * scale + offset
    W = (base + gap * scale * rng.normal(size=(count, n))).astype(types[1])
    R = (rng.normal(size=(m, n)) * np.logspace(0, -digits, m)[:, None]).astype(types[1])
    labels = np.arange(count) * 2 // count
    model = PrototypeModel(W, labels, np.arange(2), Matrix(), R, variances=np.ones(n))
    W, Lambda, rows = W.astype(np.float64), R.T.astype(np.float64) @ R, []
    for i in range(8):
        mask = rng.random(n) > (0.3 if i else 0)
        mask[rng.integers(n)] = True
        own, other = rng.choice(count, 2, replace=False)
        normal = mask * (Lambda @ (mask * (W[own] - W[other])))
        along = mask * rng.normal(size=n) * scale
        along -= normal * (normal @ along) / (normal @ normal) if scale == 1 else 0
        rows.append(np.where(mask, (W[own] + W[other]) / 2 + along, np.nan))
    return model, np.array(rows).astype(types[0])


def exact_labels(model, X):
    """Classes by rational numbers."""
    omega = [[Fraction(float(value)) for value in row] for row in model.relevance]
    found = []
    for x in X:
        known, squares = np.flatnonzero(~np.isnan(x)), []
        for w in model.prototypes:
            e = {k: Fraction(float(x[k])) - Fraction(float(w[k])) for k in known}
            squares.append(sum(sum(row[k] * e[k] for k in known) ** 2 for row in omega))
        found.append(model.labels[squares.index(min(squares))])
    return np.array(found)


def rows_outside(model, X):
    """Labels by the scores, and the rows that these decide."""
    decided = observed_prototypes(model).predicted(X)
    return decided.labels, np.setdiff1d(np.arange(len(X)), decided.close)


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("types", TYPES, ids=lambda pair: "-".join(np.dtype(kind).name for kind in pair))
@pytest.mark.parametrize("shape", SHAPES)
def test_labels_outside_the_bound_are_exact(shape, types, data):
    """And those of the distances, for float32 and float64 samples and models."""
    for seed in range(3):
        model, X = near_ties(seed, SHAPES[shape], types, *DATA[data])
        labels, sure = rows_outside(model, X)
        np.testing.assert_array_equal(labels[sure], exact_labels(model, X[sure]))
        by_distance = model.labels[model.distances(X).argmin(axis=1)]
        np.testing.assert_array_equal(labels[sure], by_distance[sure])
        np.testing.assert_array_equal(model.predicted(X), by_distance)


@pytest.mark.parametrize("shape", ["by missing features", "by images", "by pairs"])
def test_without_the_bound_some_would_be_wrong(shape):
    """The rows above are near enough to a tie; and others are far enough from it to be decided by scores."""
    wrong = decided = 0
    for seed in range(10):
        model, X = near_ties(seed, SHAPES[shape], TYPES[0], *DATA["plain"])
        exact = exact_labels(model, X)
        for bound in observed_prototypes(model).bounds.values():
            bound[:] = 0
        wrong += np.count_nonzero(rows_outside(model, X)[0] != exact)
        away = replace(model, prototypes=model.prototypes * 1.1)
        decided += len(rows_outside(away, X)[1])
    assert wrong > 0
    assert decided > 60


@pytest.mark.parametrize("types", TYPES, ids=lambda pair: "-".join(np.dtype(kind).name for kind in pair))
@pytest.mark.parametrize("shape", SHAPES)
def test_numbers_whose_squares_are_too_small_for_their_type(shape, types):
    """The distances are then equal or few digits long, and decide."""
    scale = 1e-22 if np.float32 in types else 1e-161
    for seed in range(5):
        model, X = near_ties(seed, SHAPES[shape], types, scale, 0, 0, 1)
        np.testing.assert_array_equal(model.predicted(X), model.labels[model.distances(X).argmin(axis=1)])
