"""`lvq compare`: a table with a test and the Pareto set."""

import json

import pytest

from lvq.estimators.registry import estimator_types
from lvq.workflow.comparison import COMPARED
from lvq.workflow.pipelines import NAMES

pytest.importorskip("pandas")
pytest.importorskip("typer")


@pytest.fixture(scope="module")
def completed(lvq, fruit_csv):
    return lvq(
        "compare", fruit_csv, "--target", "Sorte", "--drop", "name", "--model", "glvq", "--model", "lvq1",
        "--prototypes", 1, "--prototypes", 2, "--folds", 2, "--repeats", 2, "--json", "--no-rivals",
    )  # fmt: skip


def test_json_holds_scores_and_ranking(completed):
    assert completed.code == 0, completed.err
    found = json.loads(completed.out)
    names = {f"{model}, {count}" for model in ("glvq", "lvq1") for count in (1, 2)}
    assert {row["name"] for row in found["ranking"]} == names
    assert all(len(scores) == 4 for scores in found["scores"].values())
    assert any(row["pareto"] for row in found["ranking"])
    assert 0.5 <= found["largest_class"] < 0.7
    assert found["failures"] == {}


def test_a_table_as_text(lvq, fruit_csv):
    found = lvq(
        "compare", fruit_csv, "--target", "Sorte", "--drop", "name", "--model", "glvq", "--prototypes", 1,
        "--prototypes", 3, "--folds", 2, "--repeats", 1, "--no-rivals",
    )  # fmt: skip
    assert found.code == 0, found.err
    lines = found.out.splitlines()
    assert "160 rows, 4 features, 2 classes" in lines[0]
    assert any(line.startswith("glvq, ") and "best" in line for line in lines)
    assert any(line.startswith("glvq, ") and line.endswith("*") for line in lines)
    assert any("most frequent class" in line for line in lines)
    assert max(map(len, lines[:8])) <= 100


def test_rivals_are_compared_on_the_same_splits(lvq, fruit_csv):
    options = ("compare", fruit_csv, "--target", "Sorte", "--drop", "name", "--model", "glvq", "--prototypes", 1)
    found = lvq(*options, "--folds", 2, "--repeats", 2, "--json")
    assert found.code == 0, found.err
    result = json.loads(found.out)
    assert set(result["scores"]) == {"glvq, 1", "logistic regression", "random forest", "RBF-SVM"}
    assert {len(scores) for scores in result["scores"].values()} == {4}
    assert "the best rival" in result["sentence"]
    text = lvq(*options, "--folds", 2, "--repeats", 1).out
    assert "What is gained" in text or "what is gained" in text
    assert text.count(" p 0.") == text.count("worse, p")


def test_groups_are_not_split(lvq, fruit, tmp_path):
    path = tmp_path / "fruit.csv"
    fruit.assign(tree=[f"t{k % 10}" for k in range(len(fruit))]).to_csv(path, index=False)
    found = lvq(
        "compare", path, "--target", "Sorte", "--drop", "name", "--group", "tree", "--model", "glvq", "--prototypes", 1,
        "--folds", 5, "--repeats", 2, "--json", "--no-rivals",
    )  # fmt: skip
    assert found.code == 0, found.err
    assert len(json.loads(found.out)["scores"]["glvq, 1"]) == 10


def test_wrong_models_and_targets(lvq, fruit_csv):
    assert lvq("compare", fruit_csv, "--target", "Sorte", "--model", "nothing").code == 2
    found = lvq("compare", fruit_csv, "--target", "sorte")
    assert found.code == 1
    assert "Did you mean 'Sorte'?" in found.err


def test_every_estimator_is_compared():
    types = estimator_types()
    del types["LVQClassifierCV"]
    assert sorted(type(NAMES[name]()).__name__ for name in COMPARED) == sorted(types)
    assert {"lvq", "lvq1", "lvq2.1", "glvq", "mce", "gmlvq"} <= set(COMPARED)
