"""Saving and loading: the loaded model equals the saved one, and an interrupted write leaves the previous file."""

import importlib
import os
import pickle
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, make_column_selector, make_column_transformer
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, RepeatedStratifiedKFold, StratifiedKFold
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import (
    FunctionTransformer,
    MinMaxScaler,
    OneHotEncoder,
    PowerTransformer,
    QuantileTransformer,
    StandardScaler,
)
from sklearn.tree import DecisionTreeClassifier

from lvq import GLVQ, GMLVQ, LGMLVQ, LVQ1, LVQClassifier, LVQClassifierCV, RejectClassifier
from lvq.estimators.registry import ESTIMATORS, estimator_types
from lvq.model.costs import LOGMCost, RSLVQCost
from lvq.model.links import Cauchy, RationalQuadratic
from lvq.model.relevance import FisherNeighbours, Matrix
from lvq.persistence import LoadError, load, save
from lvq.rejection import CostClassifier

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

VARIANTS = [
    LVQClassifier(cost=RSLVQCost(decision="posterior"), relevance=Matrix(rank=2)),
    LVQClassifierCV(
        cv=RepeatedStratifiedKFold(n_splits=2, n_repeats=1),
        candidates=[{"relevance": Matrix(local="prototype", ridge=0.01)}],
    ),
    LVQClassifier(cost="cross_entropy", cost_matrix=[[0, 1, 2], [1, 0, 1], [1, 1, 0]]),
    LVQClassifier(cost=LOGMCost(0.1, 1.0), kernel=RationalQuadratic(shape=2.0)),
    GLVQ(kernel=Cauchy(width="learned"), class_weight={"ash": 1.0, "birch": 2.0, "cedar": 0.5}),
    GLVQ(init="samples", n_prototypes={"ash": 1, "birch": 2, "cedar": 3}, random_state=np.random.RandomState(3)),
    GLVQ(solver="online", relevance=FisherNeighbours(rivals="nearest")),
    LGMLVQ(relevance=Matrix(local="prototype", rank=1), n_prototypes=2),
    RejectClassifier(GLVQ(), measure="combined", thresholds="optimal", cost_ratio=0.2),
    RejectClassifier(GMLVQ(), max_error=0.3, confidence=0.6),
    RejectClassifier(LVQ1(), cv=StratifiedKFold(3), cost_ratio=0.2),
    RejectClassifier(LogisticRegression(), measure="margin"),
    CostClassifier(LVQClassifier(random_state=0), {"ash:birch": 5}),
    make_pipeline(make_union(PCA(1), QuantileTransformer(n_quantiles=9)), PowerTransformer(), GLVQ()),
    make_pipeline(FunctionTransformer(np.tanh), GLVQ()),
    make_pipeline(make_column_transformer((MinMaxScaler(), slice(0, 2)), remainder=StandardScaler()), GLVQ()),
    make_pipeline(make_column_transformer((MinMaxScaler(), [True, False, False, True])), GLVQ()),
    GridSearchCV(GLVQ(solver="online"), {"n_prototypes": [1, 2], "kernel": [None, "gaussian"]}, cv=2),
    CalibratedClassifierCV(GLVQ(random_state=0), cv=2),
]


def spelled(model):
    return "".join(str(model).split())[:90]


def quick(model):
    """The model with few iterations."""
    short = {name: 5 for name in model.get_params() if name.split("__")[-1] == "max_iter"}
    return clone(model).set_params(**short)


def saved_and_loaded(model, folder, **options):
    save(model, folder / "model.lvq", **options)
    return load(folder / "model.lvq", **options)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_estimator(name, data, assert_same, tmp_path):
    X, y = data
    model = quick(estimator_types()[name](random_state=0)).fit(X, y)
    back = saved_and_loaded(model, tmp_path)
    assert type(back) is type(model)
    assert_same(model, back, X)
    if hasattr(model, "partial_fit"):
        assert_same(model.partial_fit(X, y), back.partial_fit(X, y), X)  # the training state is stored as well


@pytest.mark.parametrize("model", VARIANTS, ids=spelled)
def test_every_part(model, data, assert_same, tmp_path):
    X, y = data
    model = quick(model).fit(X, y)
    back = saved_and_loaded(model, tmp_path)
    assert str(back).partition("random_state")[0] == str(model).partition("random_state")[0]
    assert_same(model, back, X)


@pytest.mark.parametrize(
    ("dtype", "labels"),
    [(np.float32, [-1.0, 0.0, 2.0]), (np.float64, ["a", "b", "ü"]), (np.float32, np.int8([1, 2, 3]))],
)
def test_types(dtype, labels, data, assert_same, tmp_path):
    X, y = data[0].astype(dtype), np.array(labels)[np.unique(data[1], return_inverse=True)[1]]
    model = LVQClassifier(random_state=0, max_iter=3).fit(X, y)
    back = saved_and_loaded(model, tmp_path)
    assert back.prototypes_.dtype == dtype
    assert back.classes_.dtype == model.classes_.dtype
    assert_same(model, back, X)


@pytest.mark.parametrize("weights", [{1: 1.0, "1": 2.0}, {None: 1.0}, {("a", "b"): 1.0}, {np.int64(3): np.float32(2)}])
def test_keys_keep_their_types(weights, tmp_path):
    back = saved_and_loaded(GLVQ(class_weight=weights), tmp_path).class_weight
    assert back == weights
    assert [type(key) for key in back] == [type(key) for key in weights]


NUMBERS, TEXTS = make_column_selector(dtype_include=np.number), make_column_selector(dtype_exclude=np.number)


@pytest.mark.parametrize("columns", [(["size", "weight"], ["colour"]), (NUMBERS, TEXTS)], ids=["names", "selectors"])
def test_a_table_with_texts_and_missing_values(columns, assert_same, tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"size": rng.normal(size=60), "weight": rng.normal(size=60), "colour": ["red", "blue"] * 30})
    X.loc[::7, "weight"] = np.nan
    y = np.where(X["size"] > 0, "large", "small")
    steps = [
        ("numbers", make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), columns[0]),
        (
            "texts",
            make_pipeline(OneHotEncoder(handle_unknown="ignore", sparse_output=False), StandardScaler()),
            columns[1],
        ),
    ]
    inner = make_pipeline(ColumnTransformer(steps, sparse_threshold=0), GLVQ(random_state=0))
    model = RejectClassifier(inner).fit(X, y)
    back = saved_and_loaded(model, tmp_path)
    assert_same(model, back, X)
    assert list(back.feature_names_in_) == list(X)
    assert_same(clone(model).fit(X, y), clone(back).fit(X, y), X)


@pytest.mark.parametrize("model", [GLVQ(n_prototypes=3), RejectClassifier(GLVQ(), cost_ratio=0.5)], ids=spelled)
def test_not_fitted(model, tmp_path):
    back = saved_and_loaded(model, tmp_path)
    assert str(back) == str(model)
    assert str(clone(back)) == str(model)


def test_shared_random_states_stay_shared(tmp_path):
    shared = np.random.RandomState(1)
    model = RejectClassifier(GLVQ(random_state=shared), random_state=shared)
    back = saved_and_loaded(model, tmp_path)
    assert back.random_state is back.estimator.random_state
    assert back.random_state.rand() == np.random.RandomState(1).rand()


# -- the file ----------------------------------------------------------------------------------------------------------


def test_the_same_model_gives_the_same_bytes(fitted, saved, tmp_path):
    save(pickle.loads(pickle.dumps(fitted)), tmp_path / "other.lvq")
    assert (tmp_path / "other.lvq").read_bytes() == saved


def test_an_interrupted_write_leaves_the_previous_file(file, saved, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("lvq._files.os.fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        save(GLVQ(), file)
    assert file.read_bytes() == saved


# -- what cannot be saved ----------------------------------------------------------------------------------------------


@pytest.fixture
def own_parts(tmp_path, monkeypatch):
    """A module of a user: a kernel and a measure."""
    (tmp_path / "own_parts_of_a_user.py").write_text(
        "import numpy as np\n"
        "class OwnLink:\n"
        "    def value(self, D):\n"
        "        return D / (1 + D)\n"
        "    def derivative(self, D):\n"
        "        return 1 / (1 + D) ** 2\n"
        "def own_measure(estimator, X):\n"
        "    return np.asarray(X)[:, 0]\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("own_parts_of_a_user")
    sys.modules.pop("own_parts_of_a_user", None)


def test_own_classes_need_trust(data, own_parts, assert_same, tmp_path):
    X, y = data
    model = GLVQ(kernel=own_parts.OwnLink(), random_state=0, max_iter=3).fit(X, y)
    name = "own_parts_of_a_user.OwnLink"
    with pytest.raises(ValueError, match=rf"cannot store GLVQ: {name}, .*trusted=\['{name}'\]"):
        save(model, tmp_path / "model.lvq")
    assert not (tmp_path / "model.lvq").exists()
    save(model, tmp_path / "model.lvq", trusted=[own_parts.OwnLink])
    with pytest.raises(LoadError, match=rf"contains {name}, which is not trusted"):
        load(tmp_path / "model.lvq")
    assert_same(model, load(tmp_path / "model.lvq", trusted=[name]), X)
    own_parts.OwnLink, own_parts.Moved = None, own_parts.OwnLink
    with pytest.raises(LoadError, match=r"model.lvq contains a model that is not consistent"):
        load(tmp_path / "model.lvq", trusted=[name])


@pytest.mark.parametrize("trusted", ["lvq.GLVQ", [3]])
def test_trusted_is_a_list(trusted, fitted, file):
    with pytest.raises(TypeError, match=r"trusted must be a list of classes"):
        save(fitted, file, trusted=trusted)
    with pytest.raises(TypeError, match=r"trusted must be a list of classes"):
        load(file, trusted=trusted)


class Text(str):
    """A subclass of a plain type."""


def itself():
    model = RejectClassifier(GLVQ())
    model.estimator = model
    return model


NOT_STORABLE = {
    "lambda": (lambda: RejectClassifier(GLVQ(), measure=lambda estimator, X: X[:, 0]), "which is not trusted"),
    "itself": (itself, "it contains itself"),
    "subclass": (lambda: GLVQ(kernel=Text("gaussian")), "which is not trusted"),
    "sparse": (lambda: GLVQ(init=__import__("scipy.sparse").sparse.eye(3)), "which is not trusted"),
    "complex": (lambda: GLVQ(init=np.zeros((2, 2), dtype=complex)), "an array of type complex128"),
    "generator": (lambda: GLVQ(random_state=np.random.RandomState(np.random.PCG64(0))), "RandomState, which is not"),
    "tree": (lambda: RejectClassifier(DecisionTreeClassifier()), "DecisionTreeClassifier, which is not trusted"),
    "parameter": (lambda: GLVQ(max_iter=-3), "'max_iter' parameter of GLVQ"),
}


@pytest.mark.parametrize("case", NOT_STORABLE)
def test_what_cannot_be_stored(case, tmp_path):
    make, message = NOT_STORABLE[case]
    with pytest.raises(ValueError, match=rf"^lvq.save cannot store .*{message}"):
        save(make(), tmp_path / "model.lvq")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("thing", [3, GLVQ])
def test_only_estimators(thing, tmp_path):
    with pytest.raises(TypeError, match=r"lvq.save takes an estimator"):
        save(thing, tmp_path / "model.lvq")


# -- versions ----------------------------------------------------------------------------------------------------------


def test_another_scikit_learn(fitted, file, edit, data, assert_same):
    editable = edit(file)
    editable.header["versions"]["scikit-learn"] = "1.5.0"
    editable.write()
    with pytest.warns(UserWarning, match=r"model.lvq was saved with scikit-learn 1.5.0 and is loaded with"):
        back = load(file)
    assert_same(fitted, back, data[0])


def test_a_parameter_that_is_newer_than_the_file(file, edit):
    """It gets its default."""
    save(RejectClassifier(GLVQ(), cost_ratio=0.5), file)
    editable = edit(file)
    for name, attribute in (("lvq.RejectClassifier", "confidence"), ("lvq.GLVQ", "warm_start")):
        attributes = editable.objects(name)[0]
        place = attributes.index(attribute)
        del attributes[place : place + 2]
    editable.write()
    back = load(file)
    assert back.confidence == 0.95
    assert back.estimator.warm_start is False
    assert back.cost_ratio == 0.5
