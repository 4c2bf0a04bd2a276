"""Values, texts and colours of a table of prototypes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.base import BaseEstimator

from lvq.estimators.find_model import need_model
from lvq.inspection.columns import columns_of_features, variable_table
from lvq.inspection.steps import Floats, Names
from lvq.plots.arguments import given_or_own
from lvq.plots.fitted_arrays import feature_names as names_of_features
from lvq.plots.fitted_arrays import relevance_profile
from lvq.typing import Argument


def values_by_variable(estimator: BaseEstimator, names: Sequence[str] | Names | None) -> dict[str, Argument] | None:
    """Values, texts, differences and relevances by column of X, where several features belong to one column."""
    found = need_model(estimator, "PrototypeDisplay")
    table = variable_table(found, found.model.prototypes)
    if table is None or not table.parts.categories:
        return None
    shown = np.empty(np.shape(table.values))
    differences = np.empty(np.shape(table.values))
    for k, column in enumerate(table.columns.tolist()):
        if column in table.parts.categories:
            fractions = table.parts.categories[column].fractions
            own = fractions.argmax(axis=1)[:, None]
            shown[:, k] = np.take_along_axis(fractions, own, 1)[:, 0]
            differences[:, k] = np.take_along_axis(standardised(fractions), own, 1)[:, 0]
        else:
            cells = [row[k] for row in table.values]
            codes = np.unique(cells, return_inverse=True)[1] if isinstance(cells[0], str) else cells
            shown[:, k] = codes
            differences[:, k] = standardised(shown[:, [k]])[:, 0]
    given = given_or_own("PrototypeDisplay", "feature_names", names, table.names)
    result: dict[str, Argument] = {"values": shown, "cells": table.cells, "differences": differences}
    owner = columns_of_features(found)
    if owner is not None:
        weight = np.bincount(owner, relevance_profile(estimator), minlength=found.steps[0].n_features_in_)
        result["relevances"] = weight[table.columns]
    name = "Difference from the mean prototype,\nin standard deviations (of categories: of the fraction)"
    return result | {"feature_names": list(given), "difference_name": name}


def standardised(values: Floats) -> Floats:
    """Differences from the mean over the rows, in standard deviations."""
    differences, deviation = values - values.mean(axis=0), values.std(axis=0)
    return np.divide(differences, deviation, out=np.zeros_like(differences), where=deviation > 0)


def differences_and_relevances(
    estimator: BaseEstimator, prototypes: Floats, values: Floats, *, original: bool
) -> dict[str, Argument]:
    """Differences in the units of the model, and relevances, where each feature of the model is one of the values."""
    used = np.flatnonzero(~np.isnan(values).all(axis=0))
    own, shown = names_of_features(estimator), names_of_features(estimator, original=original)[used]
    if len(own) != len(shown) or not all(new.endswith(old) for new, old in zip(own, shown)):
        return {}
    differences, relevances = np.full(values.shape, np.nan), np.zeros(values.shape[1])
    differences[:, used] = prototypes - prototypes.mean(axis=0)
    relevances[used] = relevance_profile(estimator)
    name = "Difference from the mean prototype,\nin the units of the model"
    return {"differences": differences, "difference_name": name, "relevances": relevances}
