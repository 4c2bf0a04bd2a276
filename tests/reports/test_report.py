"""The report: its numbers are those of scikit-learn; classes, dates and missing values are as people read them."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    confusion_matrix,
    log_loss,
    precision_score,
    recall_score,
    roc_auc_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, OneHotEncoder, StandardScaler

import lvq
from experiments.datasets import available, load_dataset
from lvq import GLVQ, GMLVQ, GRLVQ, LVQClassifier, RejectClassifier
from lvq.rejection import CostClassifier
from lvq.reports import Context, Folds, Report, render
from lvq.reports.charts import drawings
from lvq.reports.metrics import fraction_of, metrics_of
from lvq.reports.rejection import operating_points
from lvq.solvers.lbfgs import LBFGS
from lvq.solvers.online import Online

pd = pytest.importorskip("pandas")


# -- numbers -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["wdbc", "iris", "many_classes"])
def test_metrics_are_those_of_scikit_learn(name, cases):
    case = cases[name]
    report, predicted = case.report, case.model.predict(case.X)
    names = np.array(report.data.classes)
    y, predicted = case.y.astype(str), predicted.astype(str)
    assert report.metrics.accuracy.value == accuracy_score(y, predicted)
    assert report.metrics.balanced_accuracy == pytest.approx(balanced_accuracy_score(y, predicted))
    recall = recall_score(y, predicted, average=None, labels=names, zero_division=0)
    precision = precision_score(y, predicted, average=None, labels=names, zero_division=0)
    for row, one, other in zip(report.metrics.by_class, recall, precision):
        assert (row.sensitivity.value or 0.0) == pytest.approx(one)
        assert (row.ppv.value or 0.0) == pytest.approx(other)
    assert (report.rejection.confusion is None) == (len(names) > 10)
    if report.rejection.confusion is not None:
        first = np.array(report.rejection.confusion[0])
        assert first[:, :-1].tolist() == confusion_matrix(y, predicted, labels=names).tolist()


def test_areas_and_log_loss_are_those_of_scikit_learn(wdbc):
    table = wdbc.model.predict_proba(wdbc.X)
    positive = wdbc.y == wdbc.model.classes_[1]
    assert wdbc.report.metrics.auc == pytest.approx(roc_auc_score(positive, table[:, 1]))
    assert wdbc.report.metrics.log_loss == pytest.approx(log_loss(positive, table[:, 1]), rel=1e-3)


def test_certified_accuracy_begins_with_the_accuracy(iris):
    _, accuracy = zip(*iris.report.certified)
    assert accuracy[0] == iris.report.metrics.accuracy.value
    assert list(accuracy) == sorted(accuracy, reverse=True)


def test_accepted_rows_are_those_of_the_model(wdbc):
    accepted = wdbc.model.accept(wdbc.X)
    assert wdbc.report.coverage.count == accepted.sum()
    correct = wdbc.model.predict(wdbc.X)[accepted] == wdbc.y[accepted]
    assert wdbc.report.accepted_accuracy.value == correct.mean()
    fitted = wdbc.report.rejection.fitted
    assert wdbc.report.rejection.n_accepted[fitted] == accepted.sum()
    assert wdbc.report.rejection.threshold[fitted] == wdbc.report.model.rejection.threshold == wdbc.model.point_.unseen
    assert wdbc.report.guarantee.max_error == wdbc.model.point_.max_error


def test_every_operating_point_is_counted_on_its_rows(wdbc, accepted_at):
    rejection, summary = wdbc.report.rejection, wdbc.summary
    assert rejection.n_accepted[0] == len(wdbc.y)
    assert rejection.coverage == sorted(rejection.coverage, reverse=True)
    correct = wdbc.model.predict(wdbc.X) == wdbc.y
    for point in range(0, len(rejection.coverage), 7):
        accepted = accepted_at(summary, point)
        assert accepted.sum() == rejection.n_accepted[point]
        assert (~correct[accepted]).sum() == rejection.n_errors[point]


def test_unknown_categories_stay_rejected_along_the_slider():
    certainty = np.linspace(0.1, 0.9, 30)
    reason = np.where(np.arange(30) == 29, "unknown category", "")
    accepted, _, fitted = operating_points(certainty, reason)
    assert accepted[0].all()
    assert not accepted[1:, 29].any()
    assert (accepted[fitted] == (reason == "")).all()


def test_intervals_of_groups_are_wider_than_those_of_rows():
    """Ten groups of 30 equal rows hold as much as ten rows."""
    hit = np.repeat([True, True, True, True, True, True, True, False, False, True], 30)
    groups = np.repeat(np.arange(10), 30)
    rows, grouped = fraction_of(hit), fraction_of(hit, groups=groups)
    assert rows.value == grouped.value == 0.8
    assert np.diff(grouped.interval)[0] > 3 * np.diff(rows.interval)[0]
    all_alike = fraction_of(np.ones(300, dtype=bool), groups=groups)
    assert all_alike.interval == pytest.approx(fraction_of(np.ones(10, dtype=bool)).interval)


def test_intervals_of_groups_hold_the_truth():
    rng, covered = np.random.default_rng(0), 0
    for _ in range(200):
        rates = rng.beta(4, 1, size=40)
        groups = np.repeat(np.arange(40), 20)
        low, high = fraction_of(rng.random(800) < rates[groups], groups=groups).interval
        covered += low <= 0.8 <= high
    assert covered >= 180


def test_a_useless_model_is_called_useless():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 2)), np.where(np.arange(200) < 160, "common", "rare")
    model = GLVQ(init=[[0.0, 0.0], [99.0, 99.0]], solver=Online(learning_rate=0)).fit(X[::2], y[::2])
    report = Report.of(model, X, y)
    first, *others = report.verdict
    assert first.text.startswith("This model is no better than always predicting “common”: it predicts 160 of 200")
    assert "It does rank" not in first.text
    assert first.good is False
    assert any("rare" in answer.text and answer.good is False for answer in others)
    assert not any(answer.good for answer in others)
    assert report.to_json()["verdict"][0] == {"text": first.text, "good": False}


def with_folds(report, folds):
    return replace(report, context=replace(report.context, folds=folds))


def with_metrics(report, n_common, found, score, **changes):
    """A report of 500 samples, the first of them of class 0, with some predicted as class 1."""
    y, predicted = np.repeat([0, 1], [n_common, 500 - n_common]), np.zeros(500, int)
    predicted[list(found)] = 1
    second = score(y)
    table = np.column_stack([1 - second, second])
    metrics = metrics_of(y, predicted, np.ones(500, bool), 2, table)
    return with_folds(replace(report, metrics=metrics, **changes), None)


def test_a_model_that_only_ranks_is_told_so(wdbc):
    rng = np.random.default_rng(0)
    ranks = with_metrics(wdbc.report, 474, [], lambda y: 0.02 * (y + 2 * rng.random(500)))
    first, *others = ranks.verdict
    name = ranks.data.classes[1]
    assert first.text.endswith(
        f"It does rank the samples (AUC {ranks.metrics.auc:.2f}); a fit with --costs predicts “{name}” more often."
    )
    assert first.good is False
    assert not any(answer.good for answer in others)
    chance = with_metrics(wdbc.report, 474, [], lambda y: 0.1 * rng.random(500)).verdict[0].text
    assert "It does rank" not in chance


def test_useful_by_cross_validation_alone(wdbc):
    data = replace(wdbc.report.data, train_counts=[700, 300])
    small = with_metrics(wdbc.report, 350, [*range(40), *range(350, 400)], lambda y: 0.3 + 0.2 * y, data=data)
    first = with_folds(small, Folds([0.75, 0.76, 0.77], [250, 250, 250])).verdict[0]
    assert first.text.startswith(
        "This model is useful by cross-validation (76.0 % against 70.0 %); the test alone does not show it: "
        "it predicts 360 of 500"
    )
    assert first.good is None
    paired = with_metrics(wdbc.report, 440, [*range(3), *range(440, 455)], lambda y: 0.3 + 0.2 * y).verdict[0]
    assert paired.text.endswith("Of 18 samples that only one of the two predicts correctly, the model has 15.")
    assert paired.good is True
    bare = replace(small, data=replace(data, n_train=None))
    assert "It was not compared with logistic regression (give X_train and y_train)." in map(str, bare.verdict)


def test_one_row_in_every_fold_shows_nothing(wdbc):
    folds = Folds([0.949, 0.95, 0.948], [500, 500, 500], [0.947, 0.948, 0.946])
    low, high = folds.above_logistic_regression
    assert low < 0 < high
    assert folds.above(0.5)[0] > 0
    texts = [str(answer) for answer in with_folds(wdbc.report, folds).verdict]
    assert sum("No clear difference from logistic regression" in text for text in texts) == 1


def test_the_guarantee_comes_second_and_a_rejection_of_right_ones_can_be_switched_off(wdbc):
    assert wdbc.report.verdict[1].text.startswith("Guaranteed for new samples")
    right = with_metrics(wdbc.report, 250, range(250, 500), lambda y: y, accepted_accuracy=fraction_of(np.ones(400)))
    assert any(str(answer).endswith("min_coverage=1 (--coverage 1) accepts all.") for answer in right.verdict)


def test_a_guarantee_that_the_test_does_not_support(wdbc):
    bound = wdbc.report.guarantee.max_error
    texts = {}
    for wrong in (0, 1, 60):
        accepted = fraction_of(np.arange(100) >= (wrong if wrong != 1 else int(100 * bound) + 1))
        texts[wrong] = replace(wdbc.report, accepted_accuracy=accepted).verdict[1]
    assert "In the test" not in texts[0].text
    assert "accepted were wrong" in texts[1].text
    assert texts[1].text.endswith("no proof against the bound, but a reason to check.")
    assert texts[1].good is None
    assert "In the test 60 of 100 accepted were wrong (60.0 %): more than chance" in texts[60].text
    assert texts[60].good is False


def test_rejection_is_compared_with_one_class_where_that_is_as_good(wdbc):
    """Few samples of the rarer class are accepted, so one class would be about as good; counts in one format."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [1800, 700])
    accepted = (np.arange(2500) < 1500) | (np.arange(2500) >= 2490)
    right = accepted & (rng.random(2500) < 0.99) | ~accepted & (rng.random(2500) < 0.5)
    metrics = metrics_of(y, np.where(right, y, 1 - y), accepted, 2, None)
    report = replace(wdbc.report, metrics=metrics, accepted_accuracy=fraction_of(right, accepted))
    text = next(str(answer) for answer in report.verdict if "Rejecting" in str(answer))
    name = report.data.classes[0]
    start = "Rejecting uncertain predictions raises the accuracy, but not above that of one class"
    assert f"{start}: with 990 of 2 500 test samples rejected" in text
    assert text.endswith(f"; always predicting “{name}” would be correct for 99.3 % of them.")
    assert f"it predicts {right.sum():,} of 2,500".replace(",", " ") in report.verdict[0].text


def test_a_column_that_may_contain_the_class_is_suspected_where_predictions_are_good():
    rng = np.random.default_rng(0)
    y = np.where(np.arange(240) % 2, "ill", "well")
    X = pd.DataFrame(rng.normal(size=(240, 4)), columns=["leak", "age", "size", "dose"])
    X["leak"] = 20.0 * (y == "ill") + X["leak"]
    X["number"] = np.arange(240)
    model = make_pipeline(StandardScaler(), GRLVQ(random_state=0))
    X["code"] = X["leak"] + rng.normal(0, 3, 240)  # so that the importance is shared
    good = Report.of(model.fit(X[:120], y[:120]), X[120:], y[120:]).verdict
    assert sum("Check the data: each of the columns leak, code separates" in answer.text for answer in good) == 1
    assert sum("a different whole number in every test sample: number" in answer.text for answer in good) == 1
    assert "Every sample of every class is found." in [answer.text for answer in good]
    shuffled = rng.permutation(y[120:])
    useless = Report.of(model, X[120:], shuffled).verdict
    assert useless[0].good is False
    assert not any("known before the class" in answer.text for answer in useless)


@pytest.mark.parametrize("n_classes", [2, 6])
def test_a_column_that_predicts_alone_is_suspected_by_its_order_or_its_values(n_classes):
    rng = np.random.default_rng(0)
    codes = np.arange(240) % n_classes
    X = pd.DataFrame(rng.normal(size=(240, 12)) + 0.7 * codes[:, None])
    X.columns = [f"measurement {k}" for k in range(12)]
    X["therapy"] = np.array(list("abcdef"))[codes]
    X["score"] = 8.0 * (codes * 5 % 7) + rng.normal(size=240)  # in another order than the classes
    X["ward"] = np.array(["north", "south"])[np.arange(240) % 3 % 2]
    steps = make_column_transformer((OneHotEncoder(), ["therapy", "ward"]), remainder=StandardScaler())
    model = make_pipeline(steps, GLVQ(random_state=0)).fit(X[:120], codes[:120])
    report = Report.of(model, X[120:], codes[120:])
    (found,) = report.data.suspects
    assert set(re.findall("therapy|score|ward|measurement", found)) == {"therapy", "score"}
    assert "Checked: no column" not in render(report)
    assert "Checked: no column" in render(Report.of(model, X[120:], rng.permutation(codes[120:])))
    apart = rng.normal(size=(240, 3)) + 9.0 * codes[:, None]
    assert Report.of(model[-1].fit(apart, codes), apart, codes).data.suspects == []


# -- classes, dates, missing values ------------------------------------------------------------------------------------


def test_classes_are_in_natural_order_everywhere():
    rng = np.random.default_rng(0)
    codes = np.arange(240) % 12
    X, y = np.column_stack([codes + rng.normal(0, 0.2, 240), rng.normal(size=240)]), (codes + 1).astype(str)
    model = GMLVQ(random_state=0).fit(X, y)
    report = Report.of(model, X, np.where(np.arange(240) == 5, "0", y))
    assert report.data.classes == [*map(str, range(1, 13)), "0"]  # the class that the model does not know is last
    predicted = model.predict(X)
    for name, row in zip(report.data.classes, report.metrics.by_class):
        assert row.ppv.total == (predicted == name).sum()
    points = report.map.points
    assert [report.data.classes[code] for code in points.predicted] == predicted.tolist()
    labels = [report.data.classes[code] for code in report.prototypes.label]
    assert labels == model.prototype_labels_.tolist()
    table = model.predict_proba(X)
    ninth = list(model.classes_).index("9")
    assert report.metrics.by_class[8].auc == pytest.approx(roc_auc_score(y == "9", table[:, ninth]), abs=0.02)


def tumours(n=120):
    rng = np.random.default_rng(0)
    y = np.where(np.arange(n) % 2, "ill", "well")
    size = rng.normal(3.0 + 2 * (y == "ill"))
    size[::9] = np.nan
    kind = np.where(rng.random(n) < 0.8, y, "other")
    frame = pd.DataFrame({"size": size, "kind": kind, "day": 19000.0 + np.arange(n)})
    numbers = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler())
    steps = make_column_transformer(
        (numbers, ["size"]), (OneHotEncoder(sparse_output=False), ["kind"]), (StandardScaler(), ["day"])
    )
    return frame, y, make_pipeline(steps, GRLVQ(random_state=0)).fit(frame, y)


def test_columns_are_those_of_the_data():
    frame, y, model = tumours()
    report = Report.of(model, frame, y, context=Context(dates=["day"]))
    assert set(report.prototypes.features) == {"size", "kind", "day"}
    kind, day = (report.prototypes.features.index(name) for name in ("kind", "day"))
    assert all(re.fullmatch(r"(ill|well|other)( \(.*%\))?", row[kind]) for row in report.prototypes.values)
    assert all(row[day].startswith("2022-0") for row in report.prototypes.values)
    assert report.prototypes.low[day].startswith("2022-0")
    lines = [line for one in report.explanations.typical for line in one.features]
    assert {line.name for line in lines} == {"size", "kind", "day"}
    missing = [line for line in lines if line.value is None]
    assert all(line.name == "size" for line in missing)
    assert ">missing</td>" in render(report) or not missing


def test_evidence_and_values_are_those_of_explain():
    frame, y, model = tumours()
    report, found = Report.of(model, frame, y), lvq.explain(model, frame)
    assert report.map.points.winner == found.winner.tolist()
    names = found.feature_names.tolist()
    for one in report.explanations.typical:
        row = report.map.points.name.index(one.name)
        total = np.abs(found.contributions[row]).sum()
        for line in one.features:
            place = names.index(line.name)
            assert line.evidence == pytest.approx(found.contributions[row, place] / total, abs=1e-9)
            assert (line.value is None) == pd.isna(frame.iloc[row, place])


@pytest.mark.parametrize("step", [PCA(2), Normalizer()])
def test_columns_behind_steps_that_mix(step):
    X, y = load_iris(return_X_y=True)
    report = Report.of(make_pipeline(step, GMLVQ(random_state=0)).fit(X, y), X, y)
    assert report.prototypes.in_units == isinstance(step, PCA)
    assert len(report.prototypes.features) == 4
    assert "after Normalizer" in render(report) or isinstance(step, PCA)


def test_prototypes_outside_the_samples_are_named():
    X, y = load_iris(return_X_y=True)
    X = pd.DataFrame(X, columns=list("abcd"))
    model = GLVQ(init=[[5, 3, 1, 0], [6, 3, 4, 1], [99, 3, 5, 2]], solver=Online(learning_rate=0)).fit(X, y)
    report = Report.of(model, X, y)
    assert report.prototypes.n_outside >= 1
    assert report.prototypes.outside[0] == "a"
    assert "not typical samples" in render(report)


@pytest.mark.parametrize("model", [GMLVQ(random_state=0), GLVQ(random_state=0)], ids=["matrix", "plain"])
def test_ordered_features_are_curves(model):
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    X = np.cumsum(rng.normal(size=(80, 40)), axis=1) + 3 * y[:, None]
    names = [f"{850 + 2 * k} nm" for k in range(40)]
    X = pd.DataFrame(X, columns=names)
    report = Report.of(make_pipeline(StandardScaler(), model).fit(X, y), X, y)
    assert report.curves.prototypes.feature_names == names
    assert (report.matrix is None) == (report.curves.importance is None) == isinstance(model, GLVQ)
    if report.matrix is not None:
        assert np.shape(report.matrix.matrix) == (40, 40)
        assert report.curves.importance.feature_names == names
    drawn = drawings(report)
    assert all(">850<" in drawn[name] and ">nm<" in drawn[name] for name in {"relevance", "prototypes"} & set(drawn))
    render(report)
    X.columns = [*names[::-1][:39], "1 nm x"]
    shuffled = Report.of(model.fit(X, y), X, y)
    assert shuffled.curves is None


def test_pixels_are_images(digits):
    assert digits.report.prototypes.image_side == 8
    assert len(digits.report.prototypes.images[0]) == 64
    assert np.abs(digits.report.explanations.wrong[0].pixel_contributions).max() == 1


def test_pixels_that_were_left_out_are_blank():
    X, y = load_digits(return_X_y=True, as_frame=True)
    X = X.loc[:, X.nunique() > 1]
    model = make_pipeline(StandardScaler(), GLVQ(solver=LBFGS(tol=0.5), random_state=0)).fit(X, y)
    images = np.array(Report.of(model, X[:200], y[:200]).prototypes.images)
    assert images.shape == (10, 64)
    assert not images[:, 0].any()


# -- costs, probabilities, certificates --------------------------------------------------------------------------------


def test_costs():
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)[:, :5]
    model = CostClassifier(LVQClassifier(relevance=None, solver=LBFGS(tol=1e-2), random_state=0), {"0:1": 20}).fit(
        X[::2], y[::2]
    )
    report = Report.of(model, X[1::2], y[1::2])
    predicted, true = model.predict(X[1::2]), y[1::2]
    paid = 20.0 * ((true == 0) & (predicted == 1)) + ((true == 1) & (predicted == 0))
    assert report.costs.mean == pytest.approx(paid.mean())
    assert report.costs.cheapest == pytest.approx((true == 1).mean())
    assert (
        report.verdict[0].text == f"This model is useful: a sample costs {paid.mean():.3f} on average; "
        f"always predicting “0” would cost {(true == 1).mean():.3f}."
    )
    assert report.certified.startswith("a certificate is about the class of the nearest prototype")
    assert "least expected cost" in render(report)


# -- the whole ---------------------------------------------------------------------------------------------------------


def test_one_class_one_row_and_strange_labels():
    X, y = load_iris(return_X_y=True)
    model = RejectClassifier(GLVQ(random_state=0)).fit(X, y)
    report = Report.of(model, X[:1], y[:1])
    assert report.metrics.by_class[1].sensitivity.value is None
    assert report.metrics.auc is None
    render(report)


def test_steps_before_the_rejection_are_not_skipped():
    X, y = load_wine(return_X_y=True)
    model = make_pipeline(StandardScaler(), RejectClassifier(GMLVQ(random_state=0))).fit(X[::2], y[::2])
    report = Report.of(model, X[1::2], y[1::2])
    assert report.metrics.accuracy.value == model.score(X[1::2], y[1::2])
    assert report.coverage.count == model[-1].accept(model[0].transform(X[1::2])).sum()


# -- evidence ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tumours_in_words():
    """A model with evidence, of numbers and a category, with names that try to break out of the page."""
    data = load_breast_cancer(as_frame=True)
    X, y = data.data.iloc[:, :7].round(3), np.array(["<i>malignant", "benign"])[data.target]
    X.insert(0, "<b>site</b>", np.where(np.arange(len(X)) % 3 == 0, "left </svg>", "right"))
    steps = make_column_transformer((OneHotEncoder(sparse_output=False), X.columns[:1]), remainder=StandardScaler())
    model = make_pipeline(steps, LVQClassifier(form="additive", n_prototypes=1, random_state=0)).fit(X[::2], y[::2])
    return model, X[1::2], Report.of(model, X[1::2], y[1::2], X_train=X[::2])


@pytest.fixture
def heart():
    """The default for heart disease, with rejection, and its report."""
    if "heart" not in available():
        pytest.skip("heart is not in the folder of LVQ_DATA")
    X, y = load_dataset("heart", return_X_y=True)
    model = make_pipeline(StandardScaler(), LVQClassifier(random_state=0)).fit(X[::2], y[::2])
    return model, X, Report.of(RejectClassifier(model, cv="prefit").fit(X[::2], y[::2]), X[1::2], y[1::2])


@pytest.fixture
def all_tumours():
    """The default for all thirty columns, with rejection, and its report."""
    X, y = load_breast_cancer(return_X_y=True)
    y = np.array(["malignant", "benign"])[y]
    model = make_pipeline(StandardScaler(), LVQClassifier(random_state=0)).fit(X[::2], y[::2])
    return model, X, Report.of(RejectClassifier(model, cv="prefit").fit(X[::2], y[::2]), X[1::2], y[1::2])


@pytest.mark.parametrize("name", ["tumours_in_words", "heart", "all_tumours"])
def test_ten_cases_can_be_recomputed_from_the_text_of_the_page(name, request):
    """Values give the evidence of a column, all evidence the log-odds, and these the odds and the probability."""
    model, X, report = request.getfixturevalue(name)
    page = render(report).replace("−", "-")
    cards = re.findall('<article class="card">.*?</article>', page, re.DOTALL)[:10]
    assert len(cards) == 10
    for card in cards:
        text = re.sub("<[^>]*>", "", card)
        odds, log_odds = re.search(r"Odds (.*?) against .* \(log-odds (.*?)\)", text).groups()
        evidence = re.findall(r"<td[^>]*>([+-]\d+\.\d\d)</td></tr>", card)
        assert len(evidence) == np.shape(X)[1]
        bracket, numbers = r'(\S+) <small class="muted">\((\S+)\)</small></td>', 0
        for found in re.findall(rf"<td>([^<]*)</td><td>{bracket}<td>{bracket}<td[^>]*>(\S+)</td></tr>", card):
            x, near, reach, far, far_reach, own = map(float, found)
            assert ((x - far) / far_reach) ** 2 - ((x - near) / reach) ** 2 == pytest.approx(own, abs=0.1)
            numbers += 1
        by_column = model[-1].form_ in ("plain", "additive")  # others count pairs of columns
        assert numbers == by_column * (len(evidence) - (name == "tumours_in_words"))  # which has a category
        assert sum(map(float, evidence)) == pytest.approx(float(log_odds), abs=0.005 * (len(evidence) + 1))
        probability = float(re.search(r"Probability (?:over )?(\S*) %", text)[1]) / 100
        assert probability == pytest.approx(1 / (1 + np.exp(-float(log_odds))), abs=0.002)
        own, other = (1e6, 1) if "million" in odds else map(float, odds.replace(",", "").split(" : "))
        assert np.log(own / other) == pytest.approx(min(float(log_odds), np.log(1e6)), abs=0.011)
        pattern = (
            r"Certainty (\S+?)(?: \((\S+) or more is accepted\))?, (higher is more certain|accepted|rejected as \w+)\."
        )
        certainty, threshold, accepted = re.search(pattern, text).groups()
        assert threshold is None or (float(certainty) >= float(threshold)) == (accepted == "accepted")


def test_short_descriptions_of_a_report(wdbc):
    assert repr(wdbc.report) == f"GMLVQ on breast tumours. {wdbc.report.verdict[0]}"
    assert wdbc.report._repr_html_().count("<li>") == len(wdbc.report.verdict)


def test_the_card_of_plain_distances_says_that_all_weigh_the_same():
    X, y = load_iris(return_X_y=True)
    model = LVQClassifier(form="plain", random_state=0).fit(X, y)
    assert Report.of(model, X, y).model.metric == "squared differences: all features have the same weight"


def test_the_refits_of_the_importances_give_the_curves_their_intervals(tumours_in_words, tmp_path):
    model, X, report = tumours_in_words
    y = model.predict(X)
    assert "Shaded: 90" not in render(report)
    importances = lvq.variable_importances(model, X, y, n_resamples=4)
    page = render(Report.of(model, X, y, X_train=X, context=Context(importances=importances)))
    assert "Shaded: 90\xa0% intervals of the curves' shapes, from 4 refits." in page.replace("&nbsp;", "\xa0")


def test_evidence_effects_and_form_are_on_the_page(tumours_in_words):
    model, X, report = tumours_in_words
    page, stored = render(report), json.loads(json.dumps(report.to_json()))
    assert report.effects.exact
    assert {effect.name for effect in report.effects.columns} == set(X.columns)
    assert stored["model"]["form"] == "additive"
    assert stored["explanations"]["typical"][0]["features"][0]["evidence"]
    assert len(stored["effects"]["columns"]) == 8
    case = report.explanations.typical[0]
    assert case.probability == pytest.approx(model.predict_proba(X.loc[[case.name]]).max())
    assert f"log-odds {'−' if case.log_odds < 0 else '+'}{abs(case.log_odds):.2f}" in page
    assert page.count("Evidence of each feature, from even odds") == 12
    assert "<dt>Form</dt><dd>additive" in page
    assert not any(name in page for name in ("<b>site", "left </svg>", "<i>malignant"))


def test_models_without_evidence_have_contributions(wdbc):
    assert wdbc.report.effects is None
    assert wdbc.report.explanations.typical[0].log_odds is None
    assert "multiplies the odds by the number" not in render(wdbc.report)
