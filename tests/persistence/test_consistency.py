"""Consistency of loaded estimators, part by part."""

from dataclasses import replace

import numpy as np
import pytest

from lvq import GLVQ, OLVQ1
from lvq.model.relevance import Weights
from lvq.persistence.consistency import check
from lvq.solvers.state import Statistics, Units, state_problem


@pytest.fixture(scope="module")
def fitted(data):
    """Each array of statistics is in use with one of these rules."""
    return [model.set_params(random_state=0).fit(*data) for model in (GLVQ(relevance="fc2"), OLVQ1())]


@pytest.mark.parametrize("name", Statistics._fields)
def test_statistics_of_another_shape_type_or_value(name, fitted):
    """Also empty arrays where the rule needs full ones, and full ones where it needs none."""
    estimator = fitted[name == "rates"]
    statistics = estimator._state.statistics
    values = getattr(statistics, name)
    assert values.size
    others = [values[:-1], values.astype(np.float32), np.full_like(values, np.nan), values[..., None], values[:0]]
    for other in others:
        changed = replace(estimator._state, statistics=statistics._replace(**{name: other}))
        assert f"statistics ({name}) that do not fit" in state_problem(changed, estimator.model_)
    unused = fitted[name != "rates"]._state
    if name != "scores":
        changed = replace(unused, statistics=unused.statistics._replace(**{name: np.zeros(values.shape)}))
        problem = state_problem(changed, fitted[name != "rates"].model_)
        assert f"statistics ({name}) that do not fit" in problem


def test_a_rule_for_another_metric(fitted):
    changed = replace(fitted[1]._state, relevance=Weights())
    assert "relevance rule that does not fit its metric" in state_problem(changed, fitted[1].model_)
    other = GLVQ(random_state=0).fit(np.arange(8.0).reshape(4, 2), [0, 0, 1, 1])
    other._state = changed
    with pytest.raises(ValueError, match="that do not fit the prototypes"):
        check(other)


@pytest.mark.parametrize(
    "changes", [{"units": Units(0.0, 1.0)}, {"units": Units(1.0, np.inf)}, {"step": -1.0}, {"step": np.nan}], ids=str
)
def test_units_and_steps(changes, fitted):
    assert "steps or units that are not valid" in state_problem(replace(fitted[0]._state, **changes), fitted[0].model_)


def test_classes_that_do_not_ascend(data):
    """A stream would learn the wrong classes, as it finds labels by bisection."""
    estimator = GLVQ(random_state=0).fit(*data)
    check(estimator)
    estimator.model_ = replace(estimator.model_, classes=estimator.model_.classes[::-1])
    with pytest.raises(ValueError, match=r"GLVQ has classes that do not ascend"):
        check(estimator)
