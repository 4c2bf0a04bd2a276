"""Costs as a user types them."""

import json

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
pytest.importorskip("typer")
pytest.importorskip("jinja2")

from lvq.persistence import load  # noqa: E402


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


def test_costs_beside_those_of_a_single_class(lvq, credit, tmp_path):
    model, completed = fitted(lvq, credit, tmp_path / "run", "--costs", "bad:good=5,good:bad=1")
    metrics = json.loads((tmp_path / "run/metrics.json").read_text(encoding="utf-8"))
    bad, good = (row["sensitivity"]["total"] for row in metrics["metrics"]["by_class"])
    single = min((good, "bad"), (5 * bad, "good"))
    printed = " ".join(completed.out.split())
    assert f"always predicting “{single[1]}” would cost {single[0] / (bad + good):.3f}" in printed
    assert f"a sample costs {metrics['costs']['mean']:.3f} on average" in printed
    validated = lvq("validate", tmp_path / "run", credit)
    assert validated.code == 0, validated.err
    costs, table = (
        json.loads((tmp_path / "run/validation-credit.json").read_text(encoding="utf-8"))["costs"],
        pd.read_csv(credit),
    )
    predicted, bad = model.predict(table[["debt", "age"]]), table["risk"] == "bad"
    assert costs["mean"] == pytest.approx(np.where(bad, 5, 1)[predicted != table["risk"]].sum() / len(table))
    assert costs["cheapest"] == pytest.approx(min(5 * bad.mean(), 1 - bad.mean()))


def test_classes_that_are_numbers(lvq, credit, tmp_path):
    table = pd.read_csv(credit)
    table["risk"] = table["risk"].map({"bad": 1, "good": 2})
    table.to_csv(tmp_path / "numbers.csv", index=False)
    found = []
    for path, given in ((tmp_path / "numbers.csv", "1:2=5"), (credit, "bad:good=5")):
        out = tmp_path / path.stem
        completed = lvq(
            "fit", path, "--target", "risk", "--model", "glvq", "--folds", 2, "--out", out, "--costs", given
        )
        assert completed.code == 0, completed.err
        summary = json.loads((out / "metrics.json").read_text(encoding="utf-8"))
        rounded = [summary["metrics"].pop(name) for name in ("auc", "log_loss")]
        found.append((rounded, summary["context"]["folds"], summary["metrics"]))
    assert found[0][0] == pytest.approx(found[1][0], rel=1e-9)
    assert found[0][1:] == found[1][1:]


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        ("bad=5", "true:predicted, once, as in"),
        ("bad:good", "got 'bad:good' in"),
        ("bad:goood=5", "of the classes 'bad', 'good', got 'bad:goood'"),
        ("bad:good=5,bad:good=1", "got 'bad:good=1' in"),
    ],
)
def test_wrong_costs(lvq, credit, tmp_path, costs, message):
    completed = lvq("fit", credit, "--target", "risk", "--out", tmp_path / "run", "--costs", costs)
    assert completed.code == 1
    assert "Traceback" not in completed.err
    assert message in " ".join(completed.err.split())
