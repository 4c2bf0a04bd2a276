"""Parameters of estimators and of their parts: wrong ones raise a message that says which must be what."""

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
from lvq.estimators.parameters import DESCRIPTIONS
from lvq.estimators.registry import estimator_types
from lvq.model.costs import COSTS, CrossEntropyCost, LOGMCost, MarginCost, MCECost, RSLVQCost, SoftCost
from lvq.model.links import KERNELS, Gaussian, Kernel, Part, RationalQuadratic
from lvq.model.relevance import (
    RELEVANCES,
    FisherNeighbours,
    FisherPrototypes,
    Hebbian,
    Matrix,
    Relevance,
    Scale,
    Weights,
)
from lvq.solvers.adam import Adam
from lvq.solvers.lbfgs import LBFGS
from lvq.solvers.online import Online

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
SHARED = [
    *[("init", "middle"), ("kernel", "gauss"), ("kernel", 3), ("solver", "sgd"), ("solver", Matrix())],
    *[("max_iter", -1), ("max_iter", 1.5), ("class_weight", "even"), ("random_state", "seed"), ("missing", "drop")],
    *[("warm_start", "yes"), ("verbose", "loud"), ("n_prototypes", 0), ("n_prototypes", "many"), ("relevance", 3)],
]


@pytest.mark.parametrize(
    ("model", "name"),
    [
        *[(GLVQ(**{name: value}), name) for name, value in SHARED],
        *[(LVQ1(relevance="fisher"), "relevance"), (GLVQ(relevance="fisher"), "relevance")],
        *[(RLVQ(relevance="fc1"), "relevance"), (GRLVQ(relevance="matrix"), "relevance")],
        *[(GMLVQ(relevance="gradient"), "relevance"), (LGMLVQ(relevance=None), "relevance")],
        *[(LVQ21(window=0.0), "window"), (LVQ21(window=1.0), "window"), (LVQ3(window="wide"), "window")],
        (LVQ3(epsilon=1.5), "epsilon"),
        *[(GLVQ(slope="steep"), "slope"), (GRLVQ(slope=-1.0), "slope")],
        *[(GLVQ(alpha=-1.0), "alpha"), (LOGM(alpha="none"), "alpha"), (SNPC(decision="soft"), "decision")],
        *[(MCE(xi=0.0), "xi"), (MCE(xi="steep"), "xi"), (LOGM(xi=-1.0), "xi"), (RSLVQ(xi=np.inf), "xi")],
        (RSLVQ(decision=None), "decision"),
    ],
    ids=str,
)
def test_own_parameters(model, name, data):
    message = rf"The '{name}' parameter of {type(model).__name__} must be .*\. Got .* instead"
    with pytest.raises(InvalidParameterError, match=message):
        model.fit(*data)
    if not isinstance(model, LVQClassifier):
        with pytest.raises(InvalidParameterError, match=message):
            model.partial_fit(*data, classes=[0, 1, 2])


RULES = (LVQ1, OLVQ1, LVQ21, LVQ3)
TOO_MANY = "'rank' of the matrix of {} must be at most .* features, 4; got 5"
RELATIVE, LEARNED = Online(step="relative"), Gaussian(width="learned")
IMPOSSIBLE = [
    *((rule(relevance=Matrix()), "'relevance' parameter of {} must be .*'hebbian'") for rule in RULES),
    *((rule(solver="lbfgs"), "'solver' parameter of {} must be .*'online'") for rule in RULES),
    *((cost(relevance="fc1", solver="lbfgs"), "LBFGS of {} needs a relevance") for cost in (GLVQ, SNPC)),
    *((cost(solver=RELATIVE), "must be 'scaled' or 'gradient' for {}") for cost in (MCE, LOGM, SNPC, RSLVQ)),
    *((rule(kernel=LEARNED), "width='learned' needs a cost.*; {} has none") for rule in (*RULES, RLVQ)),
    *((GLVQ(kernel=Gaussian(width=width)), "'width' parameter of Gaussian must be") for width in (1e-200, 1e200)),
    *[(GMLVQ(relevance=Matrix(rank=5)), TOO_MANY), (LGMLVQ(relevance=Matrix(rank=5, local="class")), TOO_MANY)],
    *((GLVQ(slope="time", solver=solver), "slope='time' of {} counts single steps") for solver in ("lbfgs", "adam")),
    *((OLVQ1(solver=Online(learning_rate=rate)), "must be between 0 and 1 for {}") for rate in (0.0, 1.0, 3.0)),
]


@pytest.mark.parametrize(("model", "message"), IMPOSSIBLE, ids=str)
def test_parts_that_do_not_go_together(model, message, data):
    with pytest.raises(ValueError, match=message.format(type(model).__name__)):
        model.fit(*data)


@pytest.mark.parametrize(("name", "registry"), [("kernel", KERNELS), ("cost", COSTS), ("relevance", RELEVANCES)])
def test_every_name_of_a_part_is_described(name, registry):
    """They come from the registry: a new name is no further work."""
    assert ", ".join(f'"{known}"' for known in registry) in DESCRIPTIONS[name]


def test_parts_are_checked_before_the_data():
    """Nothing is computed for impossible parts: the data here would be refused too."""
    with pytest.raises(ValueError, match="'relevance' parameter of LVQ1"):
        LVQ1(relevance="gradient").fit(np.full((2, 2), np.nan), [0, 1])


@pytest.mark.parametrize(
    ("cls", "name"), [(GLVQ, "cost_matrix"), (LVQClassifier, "decision"), (LVQClassifier, "slope")]
)
def test_parameters_without_an_effect_do_not_exist(cls, name):
    with pytest.raises(TypeError, match=f"unexpected keyword argument '{name}'"):
        cls(**{name: "auto"})


# -- parameters of parts -----------------------------------------------------------------------------------------------


@pytest.mark.thin(2)
@pytest.mark.parametrize(
    ("part", "name"),
    [
        *[(Matrix(rank=0), "rank"), (Matrix(rank=1.5), "rank"), (Matrix(rank="full"), "rank")],
        *[(Matrix(local="all"), "local"), (Weights(local="all"), "local"), (Matrix(ridge=-1.0), "ridge")],
        *[(Matrix(log_determinant=-1.0), "log_determinant"), (Matrix(shrinkage="much"), "shrinkage")],
        *[(Weights(smoothness=-1.0), "smoothness"), (Weights(smoothness=np.nan), "smoothness")],
        *[(Hebbian(squared="yes"), "squared"), (FisherPrototypes(scores="mean"), "scores")],
        *[(FisherNeighbours(rivals="some"), "rivals"), (FisherPrototypes(no_variance="one"), "no_variance")],
        *[(Gaussian(width="wide"), "width"), (Gaussian(width=0.0), "width"), (Gaussian(width=-1.0), "width")],
        *[(RationalQuadratic(shape=0.0), "shape"), (MCECost(xi=0.0), "xi"), (LOGMCost(alpha=-1.0), "alpha")],
        (RSLVQCost(decision="soft"), "decision"),
        *[(Online(learning_rate=-0.1), "learning_rate"), (Online(learning_rate="fast"), "learning_rate")],
        *[(Online(learning_rate=np.nan), "learning_rate"), (Online(relevance_rate=-0.1), "relevance_rate")],
        *[(Online(schedule="cosine"), "schedule"), (Online(step="long"), "step")],
        *[(Online(shuffle="yes"), "shuffle")],
        (Adam(batch_size=0), "batch_size"),
        *[(Adam(learning_rate=-1.0), "learning_rate"), (LBFGS(tol="small"), "tol"), (LBFGS(device=0), "device")],
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_wrong_parameters_of_parts(part, name, data):
    """The message names the part and its parameter, in `fit` and in `partial_fit`."""
    bases = {Relevance: "relevance", Kernel: "kernel", MarginCost: "cost", SoftCost: "cost", Part: "solver"}
    place = next(place for base, place in bases.items() if isinstance(part, base))
    model = (LVQClassifier if place == "cost" else LOGM)(**{"relevance": None, place: part})
    message = rf"The '{name}' parameter of {type(part).__name__} must be .*\. Got .* instead"
    with pytest.raises(InvalidParameterError, match=message):
        model.fit(*data)
    if name != "ridge" and not isinstance(part, LBFGS | Adam):  # a stream uses neither
        with pytest.raises(InvalidParameterError, match=message):
            model.partial_fit(*data, classes=[0, 1, 2])


# for every estimator a parameter of a part that it has: the part by its name and as an object, the parameter, a value
MODELS = [kind for name, kind in estimator_types().items() if name != "LVQClassifierCV"]
RELEVANCE = {
    **dict.fromkeys(MODELS, ("matrix", Matrix(), "rank", 2)),
    **dict.fromkeys(RULES, ("hebbian", Hebbian(), "squared", True)),
    RLVQ: ("hebbian", Hebbian(), "squared", True),
    GRLVQ: ("gradient", Weights(), "smoothness", 0.1),
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
    """Not in another one, in the part, in a default or in a fitted model; a search sets it too."""
    given, before = word if named else part, part.get_params()
    fitted, other = short(kind, **{place: given}).fit(*data), short(kind, **{place: given})
    predicted, default = fitted.predict_proba(data[0]), kind().get_params()
    model = clone(fitted).set_params(**{f"{place}__{name}": value})
    assert getattr(model, place).get_params() == fitted._part(place, given).get_params() | {name: value}
    together = kind().set_params(**{f"{place}__{name}": value, place: given})  # in one call, in any order
    assert getattr(together, place) == getattr(model, place)
    assert clone(model).get_params()[f"{place}__{name}"] == value
    fitted.set_params(**{f"{place}__{name}": value})
    assert getattr(other, place) == given
    assert part.get_params() == before
    assert kind().get_params() == default
    np.testing.assert_array_equal(fitted.predict_proba(data[0]), predicted)
    search = GridSearchCV(short(kind, **{place: given}), {f"{place}__{name}": [value]}, cv=2, error_score="raise")
    np.testing.assert_array_equal(search.fit(*data).predict_proba(data[0]), model.fit(*data).predict_proba(data[0]))


def test_a_solver_of_rules_keeps_their_rate():
    """`solver__shuffle` makes an object of the string, with the rate that the string means."""
    for kind, rate in ((LVQ1, 0.05), (OLVQ1, 0.1), (LVQ21, 0.01), (LVQ3, 0.01), (RLVQ, 0.05)):
        assert kind().set_params(solver__shuffle=False).solver == Online(learning_rate=rate, shuffle=False)


@pytest.mark.parametrize(
    ("model", "key", "message"),
    [
        (GMLVQ(), "relevance__rang", r"Matrix has no parameter 'rang'; it has \[.*'rank'"),
        (GMLVQ(), "relevance__free_size", "Matrix has no parameter 'free_size'"),
        (GLVQ(relevance=Scale()), "relevance__smoothness", "Scale has no parameter 'smoothness'"),
        (GRLVQ(), "relevance__rank", "Weights has no parameter 'rank'"),
        (GLVQ(), "relevance__rank", "relevance__rank: None, the relevance of GLVQ, has no parameters"),
        (GLVQ(relevance="matrx"), "relevance__rank", "'matrx', the relevance of GLVQ, has no parameters"),
        (GLVQ(), "kernel__width", "kernel__width: None, the kernel of GLVQ, has no parameters"),
        (GLVQ(kernel="gaussian"), "kernel__shape", "Gaussian has no parameter 'shape'"),
        (GLVQ(), "solver__learning_rate", "LBFGS has no parameter 'learning_rate'"),
        (LVQClassifier(), "cost__slope", "CrossEntropyCost has no parameter 'slope'"),
        (LVQClassifier(), "relevance__rank", "'auto', the relevance of LVQClassifier, has no parameters"),
        (GLVQ(), "cost__xi", "Invalid parameter 'cost' for estimator GLVQ"),
        (GLVQ(), "distance__rank", "Invalid parameter 'distance' for estimator GLVQ"),
    ],
    ids=str,
)
def test_unknown_parameters_of_parts(model, key, message):
    with pytest.raises(ValueError, match=message):
        model.set_params(**{key: 2})
