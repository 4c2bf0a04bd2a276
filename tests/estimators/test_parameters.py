"""Parameters of estimators and of their parts: wrong ones raise a message that says which must be what."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.utils._param_validation import InvalidParameterError

from lvq import (
    GLVQ,
    GMLVQ,
    GRLVQ,
    LGMLVQ,
    LOGM,
    LVQ1,
    LVQ3,
    LVQ21,
    MCE,
    OLVQ1,
    RLVQ,
    RSLVQ,
    SNPC,
    LVQClassifier,
)
from lvq.estimators.registry import estimator_types
from lvq.model.costs import CrossEntropyCost, LOGMCost, MarginCost, MCECost
from lvq.model.links import Gaussian, Kernel, Part, RationalQuadratic
from lvq.model.relevance import FisherNeighbours, FisherPrototypes, Hebbian, Matrix, Relevance, Weights
from lvq.solvers.adam import Adam
from lvq.solvers.lbfgs import LBFGS
from lvq.solvers.online import Online

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
SHARED = [
    *[("init", "middle"), ("kernel", "gauss"), ("kernel", 3), ("solver", "sgd"), ("solver", Matrix())],
    *[("max_iter", -1), ("max_iter", 1.5), ("class_weight", "even"), ("random_state", "seed"), ("missing", "drop")],
    *[("warm_start", "yes"), ("verbose", "loud"), ("n_prototypes", 0), ("n_prototypes", "many"), ("relevance", 3)],
]


@pytest.mark.thin(4)
@pytest.mark.parametrize(("name", "value"), SHARED, ids=str)
def test_shared_parameters(default, name, value, data):
    message = rf"The '{name}' parameter of {type(default).__name__} must be .*\. Got .* instead"
    with pytest.raises(InvalidParameterError, match=message):
        default.set_params(**{name: value}).fit(*data)
    with pytest.raises(InvalidParameterError, match=message):
        default.partial_fit(*data, classes=[0, 1, 2])


@pytest.mark.parametrize(
    ("model", "name"),
    [
        *[(LVQ1(relevance="fisher"), "relevance"), (GLVQ(relevance="fisher"), "relevance")],
        *[(RLVQ(relevance="fc1"), "relevance"), (GRLVQ(relevance="matrix"), "relevance")],
        *[(GMLVQ(relevance="gradient"), "relevance"), (LGMLVQ(relevance=None), "relevance")],
        *[(LVQ21(window=0.0), "window"), (LVQ21(window=1.0), "window"), (LVQ3(window="wide"), "window")],
        *[(LVQ3(epsilon=0.0), "epsilon"), (LVQ3(epsilon=1.5), "epsilon")],
        *[(GLVQ(slope=0.0), "slope"), (GLVQ(slope="steep"), "slope"), (GRLVQ(slope=-1.0), "slope")],
        *[(GLVQ(alpha=-1.0), "alpha"), (LOGM(alpha="none"), "alpha"), (SNPC(decision="soft"), "decision")],
        *[(MCE(xi=0.0), "xi"), (MCE(xi="steep"), "xi"), (LOGM(xi=-1.0), "xi"), (RSLVQ(xi=np.inf), "xi")],
        *[(RSLVQ(decision=None), "decision"), (LVQClassifier(sample_prototypes="yes"), "sample_prototypes")],
    ],
    ids=str,
)
def test_own_parameters(model, name, data):
    message = rf"The '{name}' parameter of {type(model).__name__} must be .*\. Got .* instead"
    with pytest.raises(InvalidParameterError, match=message):
        model.fit(*data)


@pytest.mark.thin(5)
@pytest.mark.parametrize(
    "relevance", ["gradient", "matrix", "local_matrix", "local_diagonal", "local_scale", Weights(), Matrix(rank=2)]
)
@pytest.mark.parametrize("cls", [LVQ1, OLVQ1, LVQ21, LVQ3])
def test_rules_have_no_gradient(cls, relevance, data):
    name = cls.__name__
    message = rf"The 'relevance' parameter of {name} must be .*'hebbian'"
    with pytest.raises(ValueError, match=message):
        cls(relevance=relevance).fit(*data)
    with pytest.raises(ValueError, match=message):
        cls(relevance=relevance).partial_fit(*data, classes=[0, 1, 2])


@pytest.mark.parametrize("cls", [MCE, LOGM, SNPC, RSLVQ])
def test_only_relative_costs_have_a_relative_step(cls, data):
    with pytest.raises(ValueError, match=rf"step of Online must be 'scaled' or 'gradient' for {cls.__name__}"):
        cls(solver=Online(step="relative")).fit(*data)


@pytest.mark.parametrize("cls", [LVQ1, OLVQ1, LVQ21, LVQ3, RLVQ])
def test_a_learned_width_needs_a_gradient(cls, data):
    with pytest.raises(ValueError, match=rf"kernel with width='learned' needs a cost.*; {cls.__name__} has none"):
        cls(kernel=Gaussian(width="learned")).fit(*data)


@pytest.mark.thin(5)
@pytest.mark.parametrize("width", [1e-200, 1e200])
@pytest.mark.parametrize("cls", [LVQ1, GLVQ, RSLVQ])
def test_a_width_whose_square_overflows_or_vanishes(cls, width, data):
    with pytest.raises(ValueError, match="The 'width' parameter of Gaussian must be"):
        cls(kernel=Gaussian(width=width)).fit(*data)


@pytest.mark.parametrize(
    "model",
    [kind(relevance=Matrix(rank=5, local=local)) for kind, local in ((GMLVQ, None), (LGMLVQ, "class"), (LOGM, None))],
    ids=["GMLVQ", "LGMLVQ", "LOGM"],
)
def test_rank_too_large(model, data):
    with pytest.raises(ValueError, match=r"'rank' of the matrix of \w+ must be at most .* features, 4; got 5"):
        model.fit(*data)


@pytest.mark.thin(7)
@pytest.mark.parametrize("solver", ["LBFGS", "Adam"])
@pytest.mark.parametrize("relevance", ["hebbian", "fc1", "fc2"])
@pytest.mark.parametrize("cls", [GLVQ, MCE, LOGM, SNPC, RSLVQ])
def test_rules_go_with_the_online_solver(cls, relevance, solver, data):
    message = rf"solver={solver} of {cls.__name__} needs a relevance with a gradient.*Use solver='online'"
    with pytest.raises(ValueError, match=message):
        cls(relevance=relevance, solver=solver.lower()).fit(*data)


@pytest.mark.parametrize("solver", ["lbfgs", "adam"])
def test_a_slope_that_grows_with_time_goes_with_the_online_solver(solver, data):
    """A batch solver has one objective; it must not silently minimise another one."""
    with pytest.raises(ValueError, match="slope"):
        GLVQ(slope="time", solver=solver).fit(*data)


def test_parts_are_checked_before_the_data():
    """Nothing is computed for impossible parts: the data here would be refused too."""
    with pytest.raises(ValueError, match="'relevance' parameter of LVQ1"):
        LVQ1(relevance="gradient").fit(np.full((2, 2), np.nan), [0, 1])


@pytest.mark.thin(3)
@pytest.mark.parametrize("solver", ["lbfgs", "adam", LBFGS(), Adam()], ids=str)
@pytest.mark.parametrize("cls", [LVQ1, OLVQ1, LVQ21, LVQ3, RLVQ])
def test_rules_have_no_batch_solver(cls, solver, data):
    with pytest.raises(ValueError, match=f"The 'solver' parameter of {cls.__name__} must be .*'online'"):
        cls(solver=solver).fit(*data)


@pytest.mark.parametrize("rate", [0.0, 1.0, 3.0])
def test_rates_of_single_prototypes_are_below_one(rate, data):
    with pytest.raises(ValueError, match="learning_rate of Online must be between 0 and 1 for OLVQ1"):
        OLVQ1(solver=Online(learning_rate=rate)).fit(*data)


@pytest.mark.parametrize(("cls", "name"), [(SNPC, "cost_matrix"), (RSLVQ, "cost_matrix"), (LVQClassifier, "slope")])
def test_parameters_without_an_effect_do_not_exist(cls, name):
    with pytest.raises(TypeError, match=f"unexpected keyword argument '{name}'"):
        cls(**{name: "auto"})


def test_parameters_are_few():
    """What belongs to a part is a parameter of the part."""
    assert len(LVQClassifier().get_params(deep=False)) <= 18
    assert len(GMLVQ().get_params(deep=False)) <= 15
    others = [kind() for name, kind in estimator_types().items() if name != "LVQClassifier"]
    assert all(len(model.get_params(deep=False)) <= 16 for model in others)


# -- parameters of parts -----------------------------------------------------------------------------------------------


@pytest.mark.thin(2)
@pytest.mark.parametrize(
    ("part", "name"),
    [
        *[(Matrix(rank=0), "rank"), (Matrix(rank=1.5), "rank"), (Matrix(rank="full"), "rank")],
        *[(Matrix(local="all"), "local"), (Weights(local="all"), "local"), (Matrix(ridge=-1.0), "ridge")],
        *[(Matrix(log_determinant=-1.0), "log_determinant"), (Matrix(shrinkage="much"), "shrinkage")],
        *[(Weights(sparsity=-1.0), "sparsity"), (Weights(smoothness=np.nan), "smoothness")],
        *[(Hebbian(squared="yes"), "squared"), (FisherPrototypes(scores="mean"), "scores")],
        *[(FisherNeighbours(rivals="some"), "rivals"), (FisherPrototypes(no_variance="one"), "no_variance")],
        *[(Gaussian(width="wide"), "width"), (Gaussian(width=0.0), "width"), (Gaussian(width=-1.0), "width")],
        *[(RationalQuadratic(shape=0.0), "shape"), (MCECost(xi=0.0), "xi"), (LOGMCost(alpha=-1.0), "alpha")],
        *[(Online(learning_rate=-0.1), "learning_rate"), (Online(learning_rate="fast"), "learning_rate")],
        *[(Online(learning_rate=np.nan), "learning_rate"), (Online(relevance_rate=-0.1), "relevance_rate")],
        *[(Online(schedule="cosine"), "schedule"), (Online(step="long"), "step"), (Online(tol=-1.0), "tol")],
        *[(Online(n_iter_no_change=0), "n_iter_no_change"), (Online(shuffle="yes"), "shuffle")],
        (Adam(batch_size=0), "batch_size"),
        *[(Adam(learning_rate=-1.0), "learning_rate"), (LBFGS(tol="small"), "tol"), (LBFGS(device=0), "device")],
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_wrong_parameters_of_parts(part, name, data):
    """The message names the part and its parameter, in `fit` and in `partial_fit`."""
    bases = {Relevance: "relevance", Kernel: "kernel", MarginCost: "cost", Part: "solver"}
    place = next(place for base, place in bases.items() if isinstance(part, base))
    model = (LVQClassifier if place == "cost" else LOGM)(**{"relevance": None, place: part})
    message = rf"The '{name}' parameter of {type(part).__name__} must be .*\. Got .* instead"
    with pytest.raises(InvalidParameterError, match=message):
        model.fit(*data)
    if name != "ridge" and not isinstance(part, LBFGS | Adam):  # a stream uses neither
        with pytest.raises(InvalidParameterError, match=message):
            model.partial_fit(*data, classes=[0, 1, 2])


# for every estimator a parameter of a part that it has: the part by its name and as an object, the parameter, a value
RULES = (LVQ1, OLVQ1, LVQ21, LVQ3)
MODELS = [kind for name, kind in estimator_types().items() if name != "LVQClassifierCV"]
RELEVANCE = {
    **dict.fromkeys(MODELS, ("matrix", Matrix(), "rank", 2)),
    **dict.fromkeys(RULES, ("hebbian", Hebbian(), "squared", True)),
    RLVQ: ("hebbian", Hebbian(), "squared", True),
    GRLVQ: ("gradient", Weights(), "sparsity", 0.1),
    LGMLVQ: ("local_matrix", Matrix(local="class"), "rank", 2),
}
NESTED = [
    *((kind, "relevance", *given) for kind, given in RELEVANCE.items()),
    *((kind, "kernel", "gaussian", Gaussian(), "width", 2.5) for kind in MODELS),
    *((kind, "solver", "online", Online(), "learning_rate", 0.02) for kind in MODELS),
    (GMLVQ, "solver", "adam", Adam(), "learning_rate", 0.02),
    (GMLVQ, "solver", "auto", LBFGS(), "tol", 1e-3),
    (LVQClassifier, "relevance", "matrix", Matrix(), "rank", 2),
    (LVQClassifier, "cost", "cross_entropy", CrossEntropyCost(), "xi", 4.0),
    (LVQClassifier, "cost", "logm", LOGMCost(), "xi", 4.0),
]
nested = pytest.mark.parametrize(
    ("kind", "place", "word", "part", "name", "value"),
    NESTED,
    ids=[f"{kind.__name__}-{place}-{word}" for kind, place, word, *_ in NESTED],
)


def short(kind, **parameters):
    return kind(**{"max_iter": 2, "random_state": 0, **parameters})


@pytest.mark.thin(7)
@nested
@pytest.mark.parametrize("named", [True, False], ids=["string", "object"])
def test_a_part_parameter_is_set_in_one_estimator_alone(named, kind, place, word, part, name, value, data):
    """Not in another one that was given the same part, in the part, in a class default or in a fitted model."""
    given, before = word if named else part, part.get_params()
    fitted, other = short(kind, **{place: given}).fit(*data), short(kind, **{place: given})
    predicted, default = fitted.predict_proba(data[0]), kind().get_params()
    model = clone(fitted).set_params(**{f"{place}__{name}": value})
    assert model.get_params()[f"{place}__{name}"] == value
    assert clone(model).get_params()[f"{place}__{name}"] == value
    fitted.set_params(**{f"{place}__{name}": value})
    assert getattr(other, place) == given
    assert part.get_params() == before
    assert kind().get_params() == default
    np.testing.assert_array_equal(fitted.predict_proba(data[0]), predicted)
    model.fit(*data)


@pytest.mark.thin(4)
@nested
def test_a_part_parameter_changes_nothing_else(kind, place, word, part, name, value):
    """What the string stands for in this estimator stays; as an object the part has its other parameters."""
    assert kind(**{place: word})._part(place, word).get_params() | {name: value} == (
        getattr(kind(**{place: word}).set_params(**{f"{place}__{name}": value}), place).get_params()
    )
    model = kind().set_params(**{f"{place}__{name}": value, place: word})  # in one call, in any order
    assert getattr(model, place).get_params()[name] == value
    assert getattr(kind(**{place: part}).set_params(**{f"{place}__{name}": value}), place) == replace(
        part, **{name: value}
    )


@pytest.mark.thin(9)
@nested
@pytest.mark.parametrize("named", [True, False], ids=["string", "object"])
def test_a_part_parameter_in_a_grid_search(named, kind, place, word, part, name, value, data):
    X, y = data
    key, before = f"{place}__{name}", part.get_params()
    search = GridSearchCV(short(kind, **{place: word if named else part}), {key: [value]}, cv=2, error_score="raise")
    search = search.fit(X, y)
    assert search.best_params_ == {key: value}
    assert search.best_estimator_.get_params()[key] == value
    assert part.get_params() == before
    direct = short(kind, **{place: word if named else part}).set_params(**{key: value}).fit(X, y)
    np.testing.assert_array_equal(search.predict_proba(X), direct.predict_proba(X))


def test_a_solver_of_rules_keeps_their_rate():
    """`solver__shuffle` makes an object of the string, with the rate that the string means."""
    for kind, rate in ((LVQ1, 0.05), (OLVQ1, 0.1), (LVQ21, 0.01), (LVQ3, 0.01), (RLVQ, 0.05)):
        assert kind().set_params(solver__shuffle=False).solver == Online(learning_rate=rate, shuffle=False)


@pytest.mark.parametrize(
    ("model", "key", "message"),
    [
        (GMLVQ(), "relevance__rang", r"Matrix has no parameter 'rang'; it has \[.*'rank'"),
        (GRLVQ(), "relevance__rank", "Weights has no parameter 'rank'"),
        (GLVQ(), "relevance__rank", "relevance__rank of GLVQ .* 'relevance' .* None has none"),
        (GLVQ(relevance="matrx"), "relevance__rank", "relevance__rank of GLVQ .* 'matrx' has none"),
        (GLVQ(), "kernel__width", "kernel__width of GLVQ .* 'kernel' .* None has none"),
        (GLVQ(kernel="gaussian"), "kernel__shape", "Gaussian has no parameter 'shape'"),
        (GLVQ(), "solver__learning_rate", "LBFGS has no parameter 'learning_rate'"),
        (LVQClassifier(), "cost__slope", "CrossEntropyCost has no parameter 'slope'"),
        (
            LVQClassifier(),
            "relevance__rank",
            "relevance__rank of LVQClassifier .* 'auto' has none",
        ),
        (GLVQ(), "cost__xi", "Invalid parameter 'cost' for estimator GLVQ"),
        (GLVQ(), "distance__rank", "Invalid parameter 'distance' for estimator GLVQ"),
    ],
    ids=str,
)
def test_unknown_parameters_of_parts(model, key, message):
    with pytest.raises(ValueError, match=message):
        model.set_params(**{key: 2})
