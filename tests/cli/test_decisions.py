"""Prices, class weights, threads: as a user types them."""

import json

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
pytest.importorskip("typer")
pytest.importorskip("vl_convert")

from lvq.persistence import load  # noqa: E402
from lvq.workflow.decision_options import read_prices  # noqa: E402


@pytest.fixture(scope="module")
def credit(tmp_path_factory):
    rng = np.random.default_rng(0)
    n = 300
    bad = rng.random(n) < 0.3
    table = pd.DataFrame(
        {"debt": rng.normal(1.2 * bad), "age": rng.normal(size=n), "risk": np.where(bad, "bad", "good")}
    )
    path = tmp_path_factory.mktemp("credit") / "credit.csv"
    table.to_csv(path, index=False)
    return path


def fitted(lvq, credit, folder, *options):
    completed = lvq(
        "fit", credit, "--target", "risk", "--model", "lvq", "--prototypes", 1, "--folds", 0, "--out", folder, *options
    )
    assert completed.code == 0, completed.err
    return load(folder / "model.lvq"), completed


def test_prices_in_short_form_and_as_a_file(lvq, credit, tmp_path):
    table = pd.read_csv(credit)
    plain, _ = fitted(lvq, credit, tmp_path / "plain")
    short, _ = fitted(lvq, credit, tmp_path / "short", "--prices", "bad:good=5,good:bad=1")
    (tmp_path / "prices.csv").write_text("true,bad,good\nbad,0,5\ngood,1,0\n", encoding="utf-8")
    of_file, _ = fitted(lvq, credit, tmp_path / "file", "--prices", tmp_path / "prices.csv")
    X = table[["debt", "age"]]
    n_bad = [(model.predict(X) == "bad").sum() for model in (plain, short, of_file)]
    assert n_bad[0] < n_bad[1] == n_bad[2]
    assert short.estimator_.costs_.tolist() == [[0, 5], [1, 0]]
    out = lvq("predict", tmp_path / "short", credit, "--out", tmp_path / "p.csv")
    assert out.code == 0, out.err
    assert (pd.read_csv(tmp_path / "p.csv")["label"] == short.predict(X)).all()


def test_prices_beside_those_of_a_single_class(lvq, credit, tmp_path):
    model, completed = fitted(lvq, credit, tmp_path / "run", "--prices", "bad:good=5,good:bad=1")
    metrics = json.loads((tmp_path / "run/metrics.json").read_text(encoding="utf-8"))["metrics"]
    bad, good = (row["sensitivity"]["total"] for row in metrics["by_class"])
    single = min((good, "bad"), (5 * bad, "good"))
    printed = " ".join(completed.out.split())
    assert f"of a single class {single[0] / (bad + good):.3f} always {single[1]}, the cheapest one" in printed
    validated = lvq("validate", tmp_path / "run", credit, "--json")
    assert validated.code == 0, validated.err
    price, table = json.loads(validated.out)["price"], pd.read_csv(credit)
    predicted, bad = model.predict(table[["debt", "age"]]), table["risk"] == "bad"
    assert price["value"] == pytest.approx(np.where(bad, 5, 1)[predicted != table["risk"]].sum() / len(table))
    assert price["cheapest"] == pytest.approx(min(5 * bad.mean(), 1 - bad.mean()))
    assert f"Price for each row {price['at_fit']:.3f}" in printed
    page = (tmp_path / "run/validation-credit.html").read_text(encoding="utf-8")
    assert f"is {price['value']:.3f}; it was {price['at_fit']:.3f} in the test" in page


def test_class_weights(lvq, credit, tmp_path):
    for given, weights in (("balanced", "balanced"), ("bad=4,good=1", {"bad": 4.0, "good": 1.0})):
        model, _ = fitted(lvq, credit, tmp_path / given, "--class-weight", given)
        assert model.estimator_[-1].class_weight == weights


@pytest.mark.parametrize("option", [("--class-weight", "balanced"), ("--class-weight", "1=5"), ("--prices", "1:2=5")])
def test_classes_that_are_numbers(lvq, credit, tmp_path, option):
    table = pd.read_csv(credit)
    table["risk"] = table["risk"].map({"bad": 1, "good": 2})
    table.to_csv(tmp_path / "numbers.csv", index=False)
    named = tuple(part.replace("1", "bad").replace("2", "good") for part in option)
    found = []
    for path, given in ((tmp_path / "numbers.csv", option), (credit, named)):
        out = tmp_path / path.stem
        completed = lvq("fit", path, "--target", "risk", "--model", "glvq", "--folds", 2, "--out", out, *given)
        assert completed.code == 0, completed.err
        summary = json.loads((out / "metrics.json").read_text(encoding="utf-8"))
        found.append((summary["rivals"]["models"], summary["scores"]))
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--prices", "bad=5"), "must name two classes, true:predicted"),
        (("--prices", "bad:good"), "must be like bad:good=5,good:bad=1, or the name of a file"),
        (("--prices", "bad:goood=5"), "Did you mean 'bad:good'?"),
        (("--prices", "bad:good=5,bad:good=1"), "got 'bad:good' twice in"),
        (("--class-weight", "bda=5"), "Did you mean 'bad'?"),
        (("--class-weight", "much"), "must be like balanced, or bad=5,good=1"),
        (("--class-weight", "bad=0"), "must be above 0"),
        (("--class-weight", "bad=1,bad=2"), "got 'bad' twice in"),
    ],
)
def test_wrong_prices_and_weights(lvq, credit, tmp_path, options, message):
    completed = lvq("fit", credit, "--target", "risk", "--out", tmp_path / "run", *options)
    assert completed.code == 1
    assert message in completed.err


def test_threads_do_not_change_the_model(lvq, credit, tmp_path):
    for count in (1, 2):
        fitted(lvq, credit, tmp_path / str(count), "--threads", count)
    one, two = (json.loads((tmp_path / str(k) / "metrics.json").read_text(encoding="utf-8")) for k in (1, 2))
    assert one["scores"] == two["scores"]
    assert lvq("fit", credit, "--target", "risk", "--threads", 0, "--out", tmp_path / "no").code == 2


@pytest.mark.parametrize("table", [",bad,bad\nbad,0,5\ngood,1,0\n", ",bad,good\nbad,0,5\nbad,1,0\n"])
def test_a_file_with_a_pair_twice(tmp_path, table):
    path = tmp_path / "prices.csv"
    path.write_text(table, encoding="utf-8")
    with pytest.raises(ValueError, match="must name each class once in the first line and once in the first column"):
        read_prices(path)
