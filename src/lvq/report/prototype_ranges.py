"""Prototypes that are outside the range of the samples: no sample could be like them."""

from __future__ import annotations

import numpy as np

from lvq.inspection.inverse import input_values, numbers_of
from lvq.report.features import Features, Floats
from lvq.report.variables import Variables
from lvq.typing import JSONValue

SMALLEST = 1e-6  # of the range, that counts as outside
MAX_NAMED = 3  # features in the sentence


def outside_section(features: Features, inputs: Floats, variables: Variables | None) -> dict[str, JSONValue] | None:
    """How many prototypes have a value outside the range of the samples, and of which features, the farthest first.

    None where none has, and where values are not in the units of the data. Categories have no range.
    """
    if not features.in_units:
        return None
    far = _of_features(features, inputs) if variables is None else _of_variables(variables, inputs)
    names = features.names if variables is None else variables.names
    outside = far > SMALLEST
    if not outside.any():
        return None
    order = np.argsort(-far.max(axis=0), kind="stable")
    return {
        "n_prototypes": int(outside.any(axis=1).sum()),
        "features": [names[k] for k in order if outside[:, k].any()],
    }


def _of_features(features: Features, inputs: Floats) -> Floats:
    values = features.values(inputs)
    return _beyond(features.values(features.model.prototypes), np.fmin.reduce(values), np.fmax.reduce(values))


def _of_variables(variables: Variables, inputs: Floats) -> Floats:
    cells, known = input_values(variables.features.found, inputs), variables.prototypes.parts.categories
    assert cells is not None
    far = np.zeros((len(variables.prototypes.values), len(variables.names)))
    for k, column in enumerate(variables.columns.tolist()):
        numbers, own = numbers_of(cells[:, column]), [row[k] for row in variables.prototypes.values]
        numbers = numbers[np.isfinite(numbers)]
        if column not in known and len(numbers) and not any(isinstance(value, str) for value in own):
            far[:, k] = _beyond(np.array(own, dtype=np.float64), numbers.min(), numbers.max())
    return far


def _beyond(values: Floats, low: Floats | float, high: Floats | float) -> Floats:
    """How far values are outside a range, as a fraction of it; 0 inside, and where samples have a single value."""
    width = np.asarray(high - low, dtype=np.float64)
    beyond = np.maximum(np.maximum(low - values, values - high), 0.0)
    return np.divide(beyond, width, out=np.zeros_like(beyond), where=np.broadcast_to(width > 0, beyond.shape))


def outside_sentence(section: dict[str, JSONValue], n_prototypes: int) -> str:
    """What it means, and what keeps prototypes inside.

    Examples
    --------
    >>> print(outside_sentence({"n_prototypes": 1, "features": ["age", "size"]}, 4))
    1 of 4 prototypes has values outside the range of the samples (age, size): training moves prototypes to where they separate the classes. Prototypes that are samples (--sample-prototypes, sample_prototypes=True) are inside.
    """  # noqa: E501
    names, count = section["features"], section["n_prototypes"]
    more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
    return (
        f"{count} of {n_prototypes} prototypes {'has' if count == 1 else 'have'} values outside the range of the "
        f"samples ({', '.join(names[:MAX_NAMED])}{more}): training moves prototypes to where they separate the "
        "classes. Prototypes that are samples (--sample-prototypes, sample_prototypes=True) are inside."
    )
