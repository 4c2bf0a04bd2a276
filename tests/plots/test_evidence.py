"""Evidence of one prediction, and effects of columns."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import lvq
from lvq import GLVQ, LVQClassifier
from lvq.inspection.importance import variable_importances
from lvq.plots import EffectDisplay, EvidenceDisplay
from lvq.plots.effects import Effect, _draw, effects_of

plt = pytest.importorskip("matplotlib.pyplot")
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def people():
    """Numbers and a category; the class depends on all."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.integers(20, 80, 160), "dose": rng.exponential(2.0, 160)})
    X["place"] = rng.choice(["town", "village", "farm"], 160)
    score = (X["age"] - 50) / 15 + (X["place"] == "farm") + rng.normal(size=160)
    return X, np.where(score > 0.3, "ill", "well")


def fitted(people, n_prototypes=1, relevance="local_diagonal"):
    X, y = people
    steps = make_column_transformer((OneHotEncoder(sparse_output=False), ["place"]), remainder=StandardScaler())
    settings = {"cost": "cross_entropy", "kernel": None, "max_iter": 30, "random_state": 0}
    return make_pipeline(steps, LVQClassifier(relevance=relevance, n_prototypes=n_prototypes, **settings)).fit(X, y)


def test_a_waterfall_ends_at_the_log_odds(people):
    found = lvq.explain(fitted(people), people[0][:3])
    display = EvidenceDisplay.from_explanation(found, 2, max_features=2)
    last = display.bars_.patches[-1]
    assert last.get_x() + last.get_width() == pytest.approx(found.evidence[2].sum())
    assert_allclose([bar.get_width() for bar in display.bars_][:2], found.evidence[2][display.order_])
    labels = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert labels[-1] == "1 other column"
    assert all(" = " in text for text in labels[:-1])
    with pytest.raises(ValueError, match="EvidenceDisplay needs a model whose log-odds are a sum over features"):
        EvidenceDisplay.from_explanation(lvq.explain(GLVQ().fit([[0.0], [1.0]], [0, 1]), [[0.0]]))


def test_effects_of_an_additive_form_sum_to_the_log_odds(people):
    """The curves, read at the values of the samples, are the evidence of these samples."""
    X, _ = people
    model = fitted(people)
    effects = EffectDisplay.from_estimator(model, X, class_="ill").effects
    assert effects.exact
    assert (effects.label, effects.rival_label) == ("ill", "well")
    one = {effect.name: effect for effect in effects.columns}
    inside = X["dose"].between(one["dose"].values[0], one["dose"].values[-1])
    inside &= X["age"].between(one["age"].values[0], one["age"].values[-1])
    read = sum(np.interp(X[name], one[name].values, one[name].log_odds) for name in ("age", "dose"))
    read = read + X["place"].map(dict(zip(one["place"].categories, one["place"].log_odds)))
    log_odds = -model.decision_function(X)  # of the second class, "well"
    assert inside.mean() > 0.9
    assert_allclose(read[inside], log_odds[inside], atol=5e-3)  # straight lines between the points of a curve
    assert one["age"].prototypes
    assert one["place"].rivals[0] in (0.0, 1.0, 2.0)


def test_effects_of_other_forms_are_those_of_the_median_sample(people):
    X, _ = people
    model = fitted(people, relevance="matrix")
    display = EffectDisplay.from_estimator(model, X, features=["dose", "place"])
    assert not display.effects.exact
    assert "through the median sample" in display.title
    median = X[["age", "dose"]].median().to_frame().T.assign(place=X["place"].mode()[0])
    dose, place = display.effects.columns
    rows = pd.concat([median] * len(dose.values)).assign(dose=dose.values)
    assert_allclose(dose.log_odds, model.decision_function(rows), rtol=1e-6, atol=1e-9)
    rows = pd.concat([median] * 3).assign(place=place.categories)
    assert_allclose(place.log_odds, model.decision_function(rows), rtol=1e-6, atol=1e-9)


def test_several_classes_and_intervals():
    rng = np.random.default_rng(0)
    y = np.arange(150) % 3
    X = rng.normal(size=(150, 3)) + 2 * np.eye(3)[y] + [0, 0, 1.5]
    model = LVQClassifier(cost="cross_entropy", kernel=None, relevance="local_diagonal", n_prototypes=1, max_iter=20)
    display = EffectDisplay.from_estimator(model.fit(X, y), X, y, class_=1, n_resamples=4)
    medians = model.predict_proba(np.median(X, axis=0)[None])[0]
    assert display.effects.rival_label == str(np.argmax(np.where(np.arange(3) == 1, 0, medians)))
    assert all(min(effect.error) >= 0 and max(effect.error) > 0 for effect in display.effects.columns)
    assert len(display.axes_) == 3
    with pytest.raises(ValueError, match=r"class_ of EffectDisplay must be one of \[0, 1, 2\], got 'a'"):
        EffectDisplay.from_estimator(model, X, class_="a")
    with pytest.raises(ValueError, match="n_resamples of variable_importances needs y"):
        EffectDisplay.from_estimator(model, X, n_resamples=2)
    with pytest.raises(ValueError, match="EffectDisplay needs a model whose log-odds are differences"):
        EffectDisplay.from_estimator(GLVQ().fit(X, y), X)


def test_refits_that_exist_give_the_same_intervals(people):
    X, y = people
    model = fitted(people)
    refits = variable_importances(model, X, y, n_resamples=4).refits
    assert effects_of(model, X, refits=refits) == effects_of(model, X, y, n_resamples=4)


def test_names_of_many_categories_do_not_overlap():
    figure, axes = plt.subplots(figsize=(2.8, 1.9), layout="constrained")
    names = [f"A{40 + k}" for k in range(10)]
    values = np.arange(10.0).tolist()
    _draw(axes, Effect("purpose", names, values, values, [0.1] * 10, [], []))
    figure.canvas.draw()
    labels = [label for label in axes.get_xticklabels() if label.get_text()]
    apart = np.diff([axes.transData.transform((label.get_position()[0], 0))[0] for label in labels])
    turned = np.deg2rad([label.get_rotation() for label in labels[1:]])
    size = labels[0].get_fontsize() * figure.dpi / 72
    assert len(labels) == 10
    assert (apart * np.sin(turned) > size).all()


def test_given_axes_are_divided(people):
    figure, ax = plt.subplots(layout="constrained")
    display = EffectDisplay.from_estimator(fitted(people), people[0], ax=ax)
    assert display.figure_ is figure
    assert len(figure.axes) == 4
    assert display.ax_ is ax
