"""Counterfactuals near real samples: what is asked for holds, and none is farther than the nearest real sample."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, QuantileTransformer, StandardScaler

from lvq import GLVQ, GMLVQ, LGMLVQ, certified_radius, counterfactual
from lvq.model.relevance import Matrix, Weights
from lvq.solvers.online import Online

NUMBERS = ["age", "dose", "weight"]
MODELS = [
    GLVQ(n_prototypes=2),
    GMLVQ(n_prototypes=2),
    LGMLVQ(relevance=Matrix(local="class", rank=2), max_iter=500),
    GLVQ(n_prototypes=2, kernel="gaussian"),
    GLVQ(relevance=Weights(local="prototype"), n_prototypes=2, max_iter=500),
]


def table(n_samples=120, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n_samples) % 3
    frame = pd.DataFrame(rng.normal(size=(n_samples, 3)) + 2 * np.eye(3)[y], columns=NUMBERS)
    frame["weight"] = 70 + 10 * frame["weight"]
    frame.loc[rng.random(n_samples) < 0.1, "dose"] = np.nan
    frame["site"] = pd.Categorical(np.where(rng.random(n_samples) < 0.7, np.array(["n", "s", "w"])[y], "n"))
    frame["smoker"] = rng.choice(["yes", "no"], n_samples)
    return frame, np.array(["a", "b", "c"])[y]


def fitted(model, *, scaler="passthrough"):
    X, y = table()
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    texts = make_pipeline(OneHotEncoder(sparse_output=False), scaler)
    blocks = [("texts", texts, ["site", "smoker"]), ("numbers", numbers, NUMBERS)]
    pipeline = make_pipeline(ColumnTransformer(blocks), clone(model).set_params(random_state=0))
    return pipeline.fit(X, y), X


def distances(X, other, units):
    """Of all pairs of rows, by the documented formula; a missing value counts 0."""
    numbers = ((X[NUMBERS].to_numpy()[:, None] - other[NUMBERS].to_numpy()[None]) / units[:3]) ** 2
    texts = sum(X[name].to_numpy()[:, None] != other[name].to_numpy()[None] for name in ("site", "smoker"))
    return np.sqrt(np.nansum(numbers, axis=2) + texts)


@pytest.mark.parametrize(
    ("model", "target", "scaler"),
    [
        (MODELS[0], None, StandardScaler()),
        (MODELS[1], "c", "passthrough"),
        (MODELS[2], None, "passthrough"),
        pytest.param(MODELS[3], "c", StandardScaler(), marks=pytest.mark.slow),
        pytest.param(MODELS[4], None, StandardScaler(), marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_never_farther_than_the_nearest_real_sample(model, target, scaler):
    pipeline, samples = fitted(model, scaler=scaler)
    X = table(12, seed=1)[0]
    found, before = counterfactual(pipeline, X, target, samples=samples), pipeline.predict(X)
    assert np.array_equal(pipeline.predict(found.samples), found.label)
    assert np.all(found.label != before if target is None else found.label == target)
    assert list(found.samples.columns) == list(X.columns)
    np.testing.assert_allclose(np.diag(distances(X, found.samples, found.units)), found.distance, atol=1e-9)
    predicted = pipeline.predict(samples)
    allowed = predicted[None] != before[:, None] if target is None else np.broadcast_to(predicted == target, (12, 120))
    needed = before != target if target is not None else np.full(12, True)
    complete = allowed & samples.notna().all(axis=1).to_numpy()
    nearest = np.where(complete, distances(X, samples, found.units), np.inf).min(axis=1)
    known = needed & X.notna().all(axis=1).to_numpy()
    assert known.sum() > 4
    assert np.all(found.distance[known] <= nearest[known] * (1 + 1e-9))
    assert np.all(found.distance[~needed] == 0)
    # within the range of the samples, with whole categories
    for name in NUMBERS:
        low, high = (np.fmin(samples[name].min(), X[name]), np.fmax(samples[name].max(), X[name]))
        inside = found.samples[name].between(low - 1e-9, high + 1e-9) | X[name].isna()
        assert inside.all()
    assert set(found.samples["site"]) <= {"n", "s", "w"}
    # changes that keep the categories are not below the certified radius
    kept = (found.samples["site"].astype(str) == X["site"].astype(str)) & (found.samples["smoker"] == X["smoker"])
    radius = certified_radius(pipeline, X, units=found.units)
    assert np.all((found.distance >= radius * (1 - 1e-9))[kept & needed])


@pytest.mark.parametrize("model", MODELS[:2], ids=str)
def test_short(model):
    """With one metric and numbers alone nothing shorter is found around the result, within the bounds."""
    X, y = table()
    X = X[["age", "weight"]].to_numpy()
    pipeline = make_pipeline(StandardScaler(), clone(model).set_params(random_state=0)).fit(X, y)
    found, before = counterfactual(pipeline, X[:15], samples=X), pipeline.predict(X[:15])
    rng, beaten = np.random.default_rng(0), 0
    for x, label, changed, distance in zip(X, before, found.samples, found.distance):
        move = (changed - x) / found.units
        tries = move * rng.uniform(0.9, 1, size=(2000, 1)) + rng.normal(size=(2000, 2)) * 0.1 * distance
        tries = tries[np.linalg.norm(tries, axis=1) < 0.99 * distance]
        points = np.clip(x + tries * found.units, X.min(axis=0), X.max(axis=0))
        beaten += bool((pipeline.predict(points) != label).any())
    assert beaten <= 1  # several prototypes of a class: the region of another one may be nearer


@pytest.mark.filterwarnings("ignore:counterfactual found no change:UserWarning")
def test_immutable_columns_and_bounds():
    pipeline, samples = fitted(GMLVQ(n_prototypes=2))
    X = table(16, seed=1)[0]
    found = counterfactual(pipeline, X, samples=samples, immutable=["age", "site"], bounds={"weight": (65.0, 80.0)})
    done = np.isfinite(found.distance)
    assert done.mean() > 0.5
    changed, X = found.samples[done], X[done]
    assert np.array_equal(changed["age"], X["age"])
    assert np.array_equal(changed["site"].astype(str), X["site"].astype(str))
    assert changed["weight"].between(np.minimum(65, X["weight"]) - 1e-9, np.maximum(80, X["weight"]) + 1e-9).all()
    lost = found.samples[~done]
    assert lost["age"].isna().all()
    assert lost["smoker"].isna().all()


@pytest.mark.filterwarnings("ignore:counterfactual found no change:UserWarning")
def test_fewer_possibilities_are_not_shorter():
    """With numbers alone and one prototype per class the search is exact, so that each restriction costs something."""
    X, y = table()
    X = X[["age", "weight"]].to_numpy()
    pipeline = make_pipeline(StandardScaler(), GMLVQ(random_state=0)).fit(X, y)
    free = counterfactual(pipeline, X[:12], "c", samples=X)
    needed = free.distance > 0
    cost = []
    np.testing.assert_allclose(
        free.distance, counterfactual(pipeline, X[:12], "c", samples=X[::-1]).distance, rtol=1e-4
    )
    for options in ({"immutable": [0]}, {"immutable": [1]}, {"bounds": {1: (70.0, 90.0)}}):
        found = counterfactual(pipeline, X[:12], "c", samples=X, **options)
        assert np.all(found.distance[needed] >= free.distance[needed] * (1 - 1e-6))
        cost.append(found.distance[needed].mean() / free.distance[needed].mean())
    assert max(cost[:2]) > 1.01  # one of the two columns matters


def test_few_changes():
    pipeline, samples = fitted(GMLVQ())
    X = table(16, seed=1)[0]
    for most in (1, 2):
        found = counterfactual(pipeline, X, samples=samples, max_changes=most)
        done = np.isfinite(found.distance)
        assert done.mean() > (0.4 if most == 1 else 0.8)
        before, after = X[done].astype(object), found.samples[done].astype(object)
        n_changed = ((before != after.set_index(before.index)) & ~before.isna()).to_numpy().sum(axis=1)
        assert n_changed.max() <= most
        assert n_changed.min() >= 1


def test_changes_of_categories_alone():
    """Local metrics as well, whose search goes on along the boundary where there are numbers to move."""
    pipeline, samples = fitted(GLVQ(relevance=Weights(local="prototype"), n_prototypes=2, max_iter=500))
    X = table(40, seed=1)[0]
    found = counterfactual(pipeline, X, samples=samples, immutable=NUMBERS)
    done = np.isfinite(found.distance)
    assert done.any()
    np.testing.assert_array_equal(found.samples.loc[done, NUMBERS], X.loc[done, NUMBERS])
    assert set(found.distance[done].round(9)) <= {1.0, round(2**0.5, 9)}


def test_steps_that_are_not_linear_and_arrays():
    X, y = table()
    X = X[["age", "weight"]].to_numpy()
    pipeline = make_pipeline(QuantileTransformer(n_quantiles=20), GLVQ(random_state=0)).fit(X, y)
    found = counterfactual(pipeline, X[:20], samples=X, units=[1.0, 10.0])
    assert isinstance(found.samples, np.ndarray)
    assert np.all(pipeline.predict(found.samples) != pipeline.predict(X[:20]))
    assert found.units.tolist() == [1.0, 10.0]
    np.testing.assert_allclose(np.linalg.norm((found.samples - X[:20]) / [1, 10], axis=1), found.distance)


def test_whole_numbers_with_gaps_are_numbers_and_the_index_stays():
    """Nullable columns of pandas are no categories: their values move between those of real samples."""
    X, y = table()
    X = X[["age"]].assign(weight=X["weight"].round().astype("Int64")).set_axis(np.arange(120) + 7)
    X.loc[10, "weight"] = pd.NA
    pipeline = make_pipeline(SimpleImputer(), StandardScaler(), GLVQ(random_state=0)).fit(X, y)
    found = counterfactual(pipeline, X.iloc[:6], samples=X)
    assert np.isfinite(found.units).all()
    assert found.samples.index.tolist() == list(range(7, 13))
    assert found.samples.loc[10].isna().tolist() == [False, True]
    changes = ((found.samples - X.iloc[:6]).astype(float) / found.units) ** 2
    np.testing.assert_allclose(np.sqrt(changes.sum(axis=1)), found.distance)


@pytest.mark.parametrize("gap", [None, np.nan])
def test_missing_categories_stay_missing_and_count_nothing(gap):
    X, y = table()
    X = X[["age", "weight"]].assign(site=X["site"].astype(object))
    X.loc[::4, "site"] = gap
    blocks = [("texts", OneHotEncoder(sparse_output=False), ["site"]), ("numbers", StandardScaler(), ["age", "weight"])]
    pipeline = make_pipeline(ColumnTransformer(blocks), GLVQ(random_state=0)).fit(X, y)
    asked = X.iloc[:40:4]
    found = counterfactual(pipeline, asked, samples=X)
    assert found.found.all()
    assert found.samples["site"].isna().all()
    changes = (found.samples[["age", "weight"]] - asked[["age", "weight"]]) / found.units[:2]
    np.testing.assert_allclose(np.linalg.norm(changes, axis=1), found.distance)
    reached = counterfactual(pipeline, asked, pipeline.predict(asked), samples=X)
    assert not reached.distance.any()


def test_no_real_sample_of_the_class():
    pipeline, samples = fitted(GMLVQ())
    only = samples[pipeline.predict(samples) != "c"]
    X = table(20, seed=1)[0]
    needed = pipeline.predict(X) != "c"
    with pytest.warns(UserWarning, match=f"no change for {needed.sum()} of 20 samples .* Try another target"):
        found = counterfactual(pipeline, X, "c", samples=only)
    assert np.isinf(found.distance[needed]).all()
    assert found.found.tolist() == (~needed).tolist()
    assert np.isinf(found.cost[needed]).all()


def test_rows_without_an_answer_are_named_with_what_the_user_can_relax():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 3)), columns=list("abc"))
    y = (X["a"] > 0).to_numpy()
    model = GLVQ(missing="ignore", init=[[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]], max_iter=1, solver=Online(learning_rate=0))
    model.fit(X, y)
    asked = X.iloc[:2].set_axis(["p7", "p9"])
    with pytest.warns(UserWarning, match=r"for 2 of 2 samples \(rows 'p7', 'p9'\).* or less strict limits"):
        found = counterfactual(model, asked, samples=X, max_changes=2, immutable=["a"])
    assert not found.found.any()
    assert found.samples.isna().all(axis=None)
    assert counterfactual(model, asked, samples=X, max_changes=2).found.all()  # and no warning


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"immutable": ["age"], "samples": None}, r"counterfactual needs real samples, .* for immutable"),
        ({"max_changes": 0}, "max_changes of counterfactual == 0, must be >= 1"),
        ({"immutable": ["sex"]}, r"immutable of counterfactual must name columns of X, .* got \['sex'\]"),
        ({"immutable": [7]}, r"must name columns of X, by name or by index from 0 to 4; got \[7\]"),
        ({"bounds": {"site": (0, 1)}}, "must be for columns of numbers; 'site' has categories"),
        ({"bounds": {"age": (2, 1)}}, r"bounds of counterfactual must be \(lower, upper\), got \(2, 1\) for 'age'"),
        ({"units": [1.0, 2.0]}, "units of counterfactual must be 5 positive numbers"),
        (
            {"samples": table()[0].assign(age="old")},
            "samples of counterfactual must have the columns of X, with numbers",
        ),
    ],
    ids=str,
)
def test_refused(options, message):
    pipeline, samples = fitted(GMLVQ())
    with pytest.raises(ValueError, match=message):
        counterfactual(pipeline, samples, **{"samples": samples, **options})


@pytest.mark.parametrize("max_changes", [None, 4])
def test_whole_numbers_stay_whole_and_changes_are_listed(max_changes):
    """The number of vessels does not become .451; the model itself predicts the rounded rows as wanted."""
    X, y = table()
    X.insert(0, "vessels", np.random.default_rng(1).poisson(2.0 * np.unique(y, return_inverse=True)[1]).astype(float))
    model = make_pipeline(
        ColumnTransformer([("numbers", make_pipeline(SimpleImputer(), StandardScaler()), ["vessels", *NUMBERS])]),
        GMLVQ(random_state=0),
    ).fit(X, y)
    rows = X.iloc[:30].set_axis([f"P{row}" for row in range(30)])
    found = counterfactual(model, rows, samples=X, max_changes=max_changes)
    assert found.found.all()
    assert (model.predict(found.samples) == found.label).all()
    changed = found.samples["vessels"] != rows["vessels"]
    assert changed.sum() > 5
    assert (found.samples["vessels"] % 1 == 0).all()
    assert ((found.samples["age"] % 1)[(found.samples["age"] != rows["age"])] > 0).any()

    listed = found.table()
    assert list(listed) == ["row", "column", "before", "after"]
    for row, name, before, after in listed.itertuples(index=False):
        assert (rows.loc[row, name], found.samples.loc[row, name]) == (before, after)
    assert len(listed) == ((found.samples != rows) & ~(found.samples.isna() & rows.isna())).to_numpy().sum()
    assert repr(found) == f"Counterfactual(30 of 30 samples, {len(listed)} changed values; see .table())"


@pytest.mark.filterwarnings("ignore:.*found no change")
@pytest.mark.parametrize(("row", "bounds"), [([9.0, 3.0], (4.4, 9)), ([1.0, 8.0], (0, 4.8)), ([9.0, 3.0], (3.6, 9))])
def test_whole_numbers_keep_fractional_bounds(row, bounds):
    X = np.array([[0.0, 0], [1, 8], [8, 3], [9, 3]])
    model = GLVQ(init=[[0.5, 4], [8.5, 4]], max_iter=0).fit(X, [0, 0, 1, 1])
    found = counterfactual(model, [row], samples=X, bounds={0: bounds}).samples[0]
    assert np.isnan(found).all() or (bounds[0] <= found[0] <= bounds[1] and (found == np.rint(found)).all())
