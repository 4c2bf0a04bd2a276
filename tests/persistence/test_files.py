"""Saving and loading: what comes back is what went in, and an interrupted write harms nothing."""

import importlib
import json
import os
import pickle
import sys
import threading
import zipfile

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, RepeatedStratifiedKFold, StratifiedKFold
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import (
    FunctionTransformer,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

from lvq import GLVQ, GMLVQ, LGMLVQ, LOGM, LVQ1, MODELS, RSLVQ, LVQClassifier, LVQClassifierCV, RejectClassifier
from lvq.model.costs import LOGMCost
from lvq.model.links import RationalQuadratic
from lvq.model.relevance import FisherNeighbours
from lvq.persistence import LoadError, files, load, save
from lvq.rejection import Combination

pytestmark = [
    pytest.mark.usefixtures("skops"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]

EVERY_NAME = [pytest.param(spelling, id=name) for name, spelling in MODELS.items()]
VARIANTS = [
    LVQClassifier(),
    LVQClassifier(cost="rslvq", decision="posterior", relevance="matrix", rank=2),
    LVQClassifierCV(cv=StratifiedKFold(2), ridges=(0.01,)),
    LVQClassifierCV(cv=RepeatedStratifiedKFold(n_splits=2, n_repeats=1), ridges=[0.01]),
    LVQClassifier(cost=LOGMCost(0.1, 1.0), kernel=RationalQuadratic(shape=2.0)),
    GLVQ(kernel="cauchy", kernel_width="learned", class_weight={"ash": 1.0, "birch": 2.0, "cedar": 0.5}),
    GLVQ(init="samples", n_prototypes={"ash": 1, "birch": 2, "cedar": 3}, random_state=np.random.RandomState(3)),
    GLVQ(solver="online", relevance=FisherNeighbours(rivals="nearest")),
    LGMLVQ(local="prototype", n_prototypes=2, rank=1),
    LOGM(cost_matrix=[[0, 1, 2], [1, 0, 1], [1, 1, 0]]),
    RSLVQ(decision="posterior", kernel="inverse_multiquadric"),
]
WRAPPERS = [
    RejectClassifier(GLVQ()),
    RejectClassifier(GLVQ(), measure="distance", thresholds="global"),
    RejectClassifier(GLVQ(), measure=Combination("relsim", "distance", 0.05), cells="class", cost_ratio=0.2),
    RejectClassifier(GMLVQ(), max_error=0.4, confidence=0.6, per_class=True, on_failure="reject"),
    RejectClassifier(GMLVQ(), max_error=0.3, confidence=0.6),
    RejectClassifier(LVQ1(), cv=StratifiedKFold(3), min_accuracy=0.8),
    RejectClassifier(LogisticRegression(), measure="margin"),
    make_pipeline(StandardScaler(), GLVQ()),
    make_pipeline(MinMaxScaler(), PCA(2), GMLVQ()),
    make_pipeline(RobustScaler(), SelectKBest(k=3), LOGM()),
    make_pipeline(make_union(PCA(1), QuantileTransformer(n_quantiles=9)), PowerTransformer(), GLVQ()),
    make_pipeline(FunctionTransformer(np.tanh), GLVQ()),
    make_pipeline(StandardScaler(), RejectClassifier(GLVQ())),
    GridSearchCV(GLVQ(solver="online"), {"n_prototypes": [1, 2]}, cv=2),
    GridSearchCV(GLVQ(solver="online"), {"n_prototypes": [1, 2]}, cv=2, scoring="accuracy"),
]


def spelled(model):
    return "".join(str(model).split())[:90]


def quick(model):
    """The model with few iterations."""
    short = {name: 5 for name in model.get_params() if name.split("__")[-1] == "max_iter"}
    return clone(model).set_params(**short)


@pytest.mark.parametrize("spelling", EVERY_NAME)
def test_every_model_comes_back(spelling, data, same_answers, tmp_path):
    X, y = data
    model = spelling.make(random_state=0, max_iter=3).fit(X, y)
    save(model, tmp_path / "model.skops")
    back = load(tmp_path / "model.skops")
    assert type(back) is type(model)
    same_answers(model, back, X)
    same_answers(model.partial_fit(X, y), back.partial_fit(X, y), X)  # its memory came back as well


@pytest.mark.parametrize("model", VARIANTS, ids=spelled)
def test_every_part_comes_back(model, data, same_answers, tmp_path):
    X, y = data
    model = quick(model).fit(X, y)
    save(model, tmp_path / "model.skops")
    back = load(tmp_path / "model.skops")
    assert str(back).partition("random_state")[0] == str(model).partition("random_state")[0]
    same_answers(model, back, X)


@pytest.mark.parametrize("model", WRAPPERS, ids=spelled)
def test_wrappers_come_back(model, data, same_answers, tmp_path):
    X, y = data
    model = quick(model).fit(X, y)
    save(model, tmp_path / "model.skops")
    same_answers(model, load(tmp_path / "model.skops"), X)


@pytest.mark.parametrize("module", [pickle, joblib])
@pytest.mark.parametrize("model", VARIANTS + WRAPPERS, ids=spelled)
def test_pickle_and_joblib_too(module, model, data, same_answers, tmp_path):
    X, y = data
    model = quick(model).fit(X, y)
    with open(tmp_path / "model", "wb") as stream:
        module.dump(model, stream)
    with open(tmp_path / "model", "rb") as stream:
        same_answers(model, module.load(stream), X)


@pytest.mark.parametrize("spelling", EVERY_NAME)
def test_every_model_in_joblib(spelling, data, same_answers, tmp_path):
    X, y = data
    model = spelling.make(random_state=0, max_iter=3).fit(X, y)
    joblib.dump(model, tmp_path / "model.joblib", compress=3)
    same_answers(model, joblib.load(tmp_path / "model.joblib"), X)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("labels", [[0, 1, 2], [-1.0, 0.0, 2.0], ["a", "b", "ü"], [np.int8(1), np.int8(2), np.int8(3)]])
def test_types_are_kept(dtype, labels, data, same_answers, tmp_path):
    X, y = data[0].astype(dtype), np.array(labels)[np.unique(data[1], return_inverse=True)[1]]
    model = LVQClassifier(random_state=0, max_iter=3).fit(X, y)
    save(model, tmp_path / "model.skops")
    back = load(tmp_path / "model.skops")
    assert back.prototypes_.dtype == dtype
    assert back.classes_.dtype == model.classes_.dtype
    assert back.prototypes_ is back._params.prototypes  # one array, as before
    same_answers(model, back, X)


def test_truth_values_as_classes_and_keys(data, same_answers, tmp_path):
    X, y = data[0], data[1] == "ash"
    model = RejectClassifier(
        GLVQ(random_state=0, class_weight={False: 1.0, True: 2.0}),
        max_error=0.4,
        confidence=0.6,
        per_class=True,
        on_failure="reject",
    ).fit(X, y)
    save(model, tmp_path / "model.skops")
    back = load(tmp_path / "model.skops")
    assert list(back.point_) == list(model.point_) == [False, True]
    assert back.estimator.class_weight == {False: 1.0, True: 2.0}
    same_answers(model, back, X)


def test_a_table_with_texts_and_gaps(same_answers, tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"size": rng.normal(size=60), "weight": rng.normal(size=60), "colour": ["red", "blue"] * 30})
    X.loc[::7, "weight"] = np.nan
    y = np.where(X["size"] > 0, "large", "small")
    columns = ColumnTransformer(
        [
            ("numbers", make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), ["size", "weight"]),
            ("texts", OneHotEncoder(handle_unknown="ignore"), ["colour"]),
        ],
        sparse_threshold=0,
    )
    model = RejectClassifier(make_pipeline(columns, GLVQ(random_state=0)), min_coverage=0.8, min_cell_size=2).fit(X, y)
    save(model, tmp_path / "model.skops")
    back = load(tmp_path / "model.skops")
    same_answers(model, back, X)
    assert list(back.feature_names_in_) == list(X)


@pytest.mark.parametrize("remainder", ["passthrough", "drop", StandardScaler()])
@pytest.mark.parametrize("columns", [[0, 2], slice(0, 2), [True, False, False, True]])
def test_kinds_of_columns(columns, remainder, data, same_answers, tmp_path):
    X, y = data
    steps = make_column_transformer((MinMaxScaler(), columns), remainder=remainder)
    model = make_pipeline(steps, GLVQ(random_state=0, max_iter=3)).fit(X, y)
    save(model, tmp_path / "model.skops")
    same_answers(model, load(tmp_path / "model.skops"), X)


def test_other_encoders(tmp_path, same_answers):
    X = np.array([["a", "x"], ["b", "y"], ["a", "y"], ["b", "x"]] * 5, dtype=object)
    y = np.array([0, 1, 0, 1] * 5)
    model = make_pipeline(SimpleImputer(strategy="most_frequent"), OrdinalEncoder(), GLVQ(random_state=0)).fit(X, y)
    save(model, tmp_path / "model.skops")
    same_answers(model, load(tmp_path / "model.skops"), X)


def test_frozen(data, same_answers, tmp_path):
    X, y = data
    model = RejectClassifier(FrozenEstimator(GLVQ(random_state=0).fit(X, y))).fit(X, y)
    save(model, tmp_path / "model.skops")
    same_answers(model, load(tmp_path / "model.skops"), X)


def test_not_fitted(tmp_path):
    for model in (
        GLVQ(n_prototypes=3),
        RejectClassifier(GLVQ(), min_coverage=0.5),
        make_pipeline(StandardScaler(), GLVQ()),
    ):
        save(model, tmp_path / "model.skops")
        back = load(tmp_path / "model.skops")
        assert str(back) == str(model)
        assert str(clone(back)) == str(model)


def test_streams_go_on(data, same_answers, tmp_path):
    X, y = data
    model = LVQ1(relevance="fc2", random_state=0).partial_fit(X[:30], y[:30], classes=np.unique(y))
    save(model, tmp_path / "model.skops")
    back = load(tmp_path / "model.skops")
    same_answers(model.partial_fit(X[30:], y[30:]), back.partial_fit(X[30:], y[30:]), X)


def test_a_path_with_its_table(fitted, data, same_answers, tmp_path):
    assert fitted.path_.thresholds.ndim == 2  # made on first use and kept
    save(fitted, tmp_path / "model.skops")
    same_answers(fitted, load(tmp_path / "model.skops"), data[0])


# -- the file ----------------------------------------------------------------------------------------------------------


def test_the_same_model_gives_the_same_bytes(fitted, tmp_path):
    save(fitted, tmp_path / "one.skops")
    save(pickle.loads(pickle.dumps(fitted)), tmp_path / "other.skops")
    assert (tmp_path / "one.skops").read_bytes() == (tmp_path / "other.skops").read_bytes()


def test_skops_knows_the_file(skops, file):
    """Who wants to look into it can use the tools of skops."""
    from lvq.persistence.trusted import TRUSTED

    assert set(skops.get_untrusted_types(file=file)) <= TRUSTED


def test_the_header(file):
    with zipfile.ZipFile(file) as archive:
        header = json.loads(archive.read("lvq.json"))
    assert header["library"] == "lvq"
    assert header["format"] == 1
    assert {"version", "scikit-learn", "skops", "members"} <= set(header)


def test_links_and_permissions_are_kept(fitted, tmp_path):
    real, link = tmp_path / "real.skops", tmp_path / "link.skops"
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to(real)
    save(fitted, link)
    assert link.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o640
    load(link)


@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_an_interrupted_write_leaves_the_old_file(failing, fitted, tmp_path, monkeypatch):
    path = tmp_path / "model.skops"
    save(GLVQ(), path)
    before = path.read_bytes()

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(files.os, failing, interrupted)
    with pytest.raises(KeyboardInterrupt):
        save(fitted, path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["model.skops"]


def test_what_a_killed_write_leaves_behind_harms_nothing(fitted, tmp_path, monkeypatch):
    """Killed before the last step, there is no time to clean up."""
    path = tmp_path / "model.skops"
    save(GLVQ(n_prototypes=3), path)

    def killed(*_):
        raise SystemExit(9)

    with monkeypatch.context() as patch:
        patch.setattr(files.os, "replace", killed)
        patch.setattr(files.Path, "unlink", lambda _: None)
        with pytest.raises(SystemExit):
            save(fitted, path)
    assert len(os.listdir(tmp_path)) == 2
    assert load(path).n_prototypes == 3
    save(fitted, path)
    load(path)


def test_readers_beside_a_writer(fitted, tmp_path):
    path = tmp_path / "model.skops"
    save(fitted, path)
    stop, problems = threading.Event(), []

    def read():
        while not stop.is_set():
            try:
                load(path)
            except Exception as error:
                problems.append(error)

    reader = threading.Thread(target=read)
    reader.start()
    for _ in range(3):
        save(fitted, path)
    stop.set()
    reader.join()
    assert problems == []


def test_nothing_is_written_where_there_is_no_folder(fitted, tmp_path):
    with pytest.raises(FileNotFoundError):
        save(fitted, tmp_path / "nowhere" / "model.skops")


# -- what cannot be saved ----------------------------------------------------------------------------------------------


@pytest.fixture
def own_parts(tmp_path, monkeypatch):
    """A module of a user's own: a kernel and a measure."""
    (tmp_path / "own_parts_of_a_user.py").write_text(
        "import numpy as np\n"
        "class OwnLink:\n"
        "    def value(self, D):\n"
        "        return D / (1 + D)\n"
        "    def slope(self, D):\n"
        "        return 1 / (1 + D) ** 2\n"
        "def own_measure(estimator, X):\n"
        "    return np.asarray(X)[:, 0]\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("own_parts_of_a_user")
    sys.modules.pop("own_parts_of_a_user", None)


def test_parts_of_ones_own_need_trust(data, own_parts, same_answers, tmp_path):
    X, y = data
    model = GLVQ(kernel=own_parts.OwnLink(), random_state=0, max_iter=3).fit(X, y)
    name = "own_parts_of_a_user.OwnLink"
    with pytest.raises(ValueError, match=rf"cannot keep GLVQ.*{name}.*trusted=\['{name}'\]"):
        save(model, tmp_path / "model.skops")
    assert not (tmp_path / "model.skops").exists()
    save(model, tmp_path / "model.skops", trusted=[own_parts.OwnLink])
    with pytest.raises(LoadError, match=rf"{name}, a type that lvq.load does not trust"):
        load(tmp_path / "model.skops")
    same_answers(model, load(tmp_path / "model.skops", trusted=[name]), X)


def test_measures_of_ones_own_need_trust(data, own_parts, same_answers, tmp_path):
    X, y = data
    model = RejectClassifier(GLVQ(random_state=0, max_iter=3), measure=own_parts.own_measure).fit(X, y)
    with pytest.raises(ValueError, match=r"own_measure.*pass trusted"):
        save(model, tmp_path / "model.skops")
    save(model, tmp_path / "model.skops", trusted=[own_parts.own_measure])
    same_answers(model, load(tmp_path / "model.skops", trusted=["own_parts_of_a_user.own_measure"]), X)


@pytest.mark.parametrize("trusted", ["lvq.GLVQ", 3, [3]])
def test_trusted_is_a_list(trusted, fitted, file):
    with pytest.raises(TypeError, match=r"trusted must be a list of types"):
        save(fitted, file, trusted=trusted)
    with pytest.raises(TypeError, match=r"trusted must be a list of types"):
        load(file, trusted=trusted)


def test_functions_without_a_name(data, tmp_path):
    X, y = data
    model = RejectClassifier(GLVQ(random_state=0, max_iter=3), measure=lambda estimator, X: np.ones(len(X))).fit(X, y)
    with pytest.raises(ValueError, match=r"lvq.save cannot keep"):
        save(model, tmp_path / "model.skops")


@pytest.mark.parametrize("weights", [{1: 1.0, "1": 2.0}, {None: 1.0}, {("a", "b"): 1.0}])
def test_keys_that_the_format_cannot_hold(weights, tmp_path):
    with pytest.raises(ValueError, match=r"lvq.save cannot keep"):
        save(GLVQ(class_weight=weights), tmp_path / "model.skops")
    assert os.listdir(tmp_path) == []


def test_a_model_that_holds_itself(tmp_path):
    model = RejectClassifier(GLVQ())
    model.estimator = model
    with pytest.raises(ValueError, match=r"it holds itself"):
        save(model, tmp_path / "model.skops")


@pytest.mark.parametrize("thing", [3, "model", {"a": 1}, GLVQ, None])
def test_only_estimators(thing, tmp_path):
    with pytest.raises(TypeError, match=r"lvq.save takes an estimator"):
        save(thing, tmp_path / "model.skops")


def test_trees_need_trust(data, tmp_path, same_answers):
    """skops does not trust them, as their compiled code looks up whatever index it is given."""
    from sklearn.tree import DecisionTreeClassifier

    X, y = data
    model = RejectClassifier(DecisionTreeClassifier(max_depth=3, random_state=0)).fit(X, y)
    with pytest.raises(ValueError, match=r"sklearn.tree._tree.Tree"):
        save(model, tmp_path / "model.skops")
    trusted = ["sklearn.tree._tree.Tree"]
    save(model, tmp_path / "model.skops", trusted=trusted)
    same_answers(model, load(tmp_path / "model.skops", trusted=trusted), X)


# -- versions ----------------------------------------------------------------------------------------------------------


def test_another_scikit_learn(fitted, file, members_of, sealed, data, same_answers):
    members = members_of(file)
    schema = json.loads(members.pop("schema.json"))
    sealed(file, schema, members, **{"scikit-learn": "1.5.0"})
    with pytest.warns(UserWarning, match=r"model.skops was saved with scikit-learn 1.5.0 and is loaded with"):
        back = load(file)
    same_answers(fitted, back, data[0])


def test_another_scikit_learn_matters_only_to_its_parts(file, members_of, sealed):
    save(GLVQ(), file)
    members = members_of(file)
    sealed(file, json.loads(members.pop("schema.json")), members, **{"scikit-learn": "1.5.0"})
    load(file)  # a warning would be an error


def test_a_parameter_that_is_newer_than_the_file(file, members_of, sealed):
    """A file from before a parameter was added: it gets its default."""
    save(RejectClassifier(GLVQ(), min_coverage=0.5), file)
    members = members_of(file)
    schema = json.loads(members.pop("schema.json"))
    for attributes in (schema["content"], schema["content"]["content"]["estimator"]["content"]):
        name = "calibration_size" if "calibration_size" in attributes["content"] else "shuffle"
        place = list(attributes["content"]).index(name)
        del attributes["content"][name], attributes["key_types"]["content"][place]
        attributes["key_types"]["__id__"] += 10_000
    sealed(file, schema, members)
    back = load(file)
    assert back.calibration_size == 0.3
    assert back.estimator.shuffle is True
    assert back.min_coverage == 0.5


# -- without the extra -------------------------------------------------------------------------------------------------


def test_without_skops(file, monkeypatch):
    monkeypatch.setitem(sys.modules, "skops", None)
    monkeypatch.setitem(sys.modules, "skops.io", None)
    with pytest.raises(ImportError, match=r'pip install "lvq\[save\]"'):
        load(file)
    with pytest.raises(ImportError, match=r'pip install "lvq\[save\]"'):
        save(GLVQ(), file)
