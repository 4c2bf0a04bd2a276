"""The documents are correct: their Python runs, and the files, targets and names they mention exist."""

import ast
import importlib
import inspect
import json
import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator

import lvq
from experiments import pool
from lvq.estimators.registry import MODELS
from lvq.model.relevance import Matrix

ROOT = Path(__file__).parents[1]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
EXTENSIONS = "py|md|toml|txt|json"


def names_of(paths):
    return [path.relative_to(ROOT).as_posix() for path in paths]


def text_of(name):
    return (ROOT / name).read_text(encoding="utf-8")


def blocks(text):
    return re.findall(r"^```python\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


every_document = pytest.mark.parametrize("path", DOCUMENTS, ids=names_of(DOCUMENTS))
with_python = [path for path in DOCUMENTS if blocks(path.read_text(encoding="utf-8"))]


def test_the_documents_are_there():
    assert {"README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/design.md"} <= set(names_of(DOCUMENTS))
    assert "README.md" in names_of(with_python)


@pytest.mark.parametrize("path", with_python, ids=names_of(with_python))
def test_python_runs(path, capsys, tmp_path, monkeypatch):
    """Block after block, each document from nothing; a warning is an error."""
    monkeypatch.chdir(tmp_path)
    needs = {name: name for name in ("matplotlib", "onnxruntime", "onnx", "typer")} | {
        "lvq.report": "jinja2",
        "import dask": "dask",
    }
    for word, extra in needs.items():
        if word in path.read_text(encoding="utf-8"):
            pytest.importorskip(extra)
    namespace = {"__name__": "__main__"}
    for number, block in enumerate(blocks(path.read_text(encoding="utf-8")), start=1):
        exec(compile(block, f"{path.name}, block {number}", "exec"), namespace)
    assert capsys.readouterr().out


@every_document
def test_links_lead_somewhere(path):
    for target in re.findall(r"\]\(([^)#]+)\)", path.read_text(encoding="utf-8")):
        if not target.startswith("https://"):
            assert (path.parent / target).exists(), target


@every_document
def test_links_are_plain_markdown(path):
    """Roles such as {doc} are links on the site only; where pages are read as files they are not."""
    assert re.findall(r"\{(?:doc|ref|any|term|py:\w+|class|func|meth|mod)\}`[^`]*`", path.read_text("utf-8")) == []


@every_document
def test_files_exist(path):
    """A path from the root or from the package, or the bare name of a file somewhere in source, tests or documents."""
    text = path.read_text(encoding="utf-8")
    for word in re.findall(r"`([^`\n]+)`", text):
        if word.startswith(".venv/"):  # made by the first target of make
            continue
        if re.fullmatch(rf"[\w.-]+\.({EXTENSIONS})", word):
            places = [ROOT, *(ROOT / folder for folder in ("src", "tests", "docs"))]
            assert any((place / word).exists() or any(place.glob(f"*/**/{word}")) for place in places), word
        elif re.fullmatch(rf"[\w.-]+(/[\w.-]+)*(/|/[\w-]+|\.({EXTENSIONS}))", word) and "/" in word:
            assert (ROOT / word).exists() or (ROOT / "src/lvq" / word).exists(), word


@every_document
def test_make_targets_exist(path):
    targets = set(re.findall(r"^([\w-]+):", text_of("Makefile"), flags=re.MULTILINE))
    assert set(re.findall(r"(?:`|^    )make ([\w-]+)", path.read_text(encoding="utf-8"), flags=re.MULTILINE)) <= targets


@every_document
def test_dotted_names_exist(path):
    """Such as `lvq.rejection.RejectClassifier`, with or without what is called on it."""
    for dotted in re.findall(r"`lvq\.([\w.]+)", path.read_text(encoding="utf-8")):
        part = lvq
        for name in dotted.split("."):
            inside = hasattr(part, name)  # a module that nothing has imported yet is not
            part = getattr(part, name) if inside else importlib.import_module(f"{part.__name__}.{name}")


def test_every_estimator_is_among_the_models():
    classes = [name for name in lvq.__all__ if inspect.isclass(getattr(lvq, name))]
    missing = [
        name for name in classes
        if issubclass(getattr(lvq, name), BaseEstimator) and f"`{name}`" not in text_of("docs/models.md")
    ]  # fmt: skip
    assert missing == []


def test_names_of_the_papers():
    """Each row `| FC2GLVQ | `GLVQ(relevance="fc2")` |` agrees with the table of names."""
    rows = re.findall(r"^\| ([^|`]+) \| `(\w+\(.*\))` \|$", text_of("docs/models.md"), flags=re.MULTILINE)
    assert len(rows) > 2
    for name, spelling in rows:
        shown = eval(spelling, {name: getattr(lvq, name) for name in lvq.__all__} | {"Matrix": Matrix})
        made = MODELS[name].make()
        assert type(shown) is type(made)
        assert shown.get_params() == made.get_params()


def test_accuracies_are_those_of_the_pool():
    """README and which-model.md show the means of `experiments/results/pool.md`."""
    models = text_of("experiments/results/pool.md").split("| set |")[0]
    table = re.findall(r"^\| ([\w ]+) \| ([\d.]+) \|", models, flags=re.MULTILINE)
    accuracy = {name: f"{float(mean):.1f} %" for name, mean in table}
    sentence = " ".join(text_of("README.md").split())
    assert f"averages {accuracy[pool.DEFAULT]} in cross-validation" in sentence
    assert f"a random forest {accuracy['random forest']}, a tuned SVM {accuracy[pool.SVM]}" in sentence
    assert f"logistic regression {accuracy[pool.LOGISTIC]}" in sentence
    page = " ".join(text_of("docs/which-model.md").split())
    rows = dict(re.findall(r"\| ([^|]+) \| (\d\d\.\d %) \|", page))
    assert sorted(rows.values()) == sorted(accuracy.values())
    assert rows["`LVQClassifier()`"] == accuracy[pool.DEFAULT]
    share, points = (dict(re.findall(rf"(\w+){words}", models)) for words in (r": (\d+)%", r" on every set: -([\d.]+)"))
    assert f"On {int(share['additive']) + int(share['linear'])} % of the folds the chosen form is additive or" in page
    costs = f'{points["additive"]} points with `form="additive"` and {points["linear"]} with `form="linear"`'
    assert f"for all sets costs {costs}" in page


def test_how_well_importances_and_evidence_repeat_is_as_in_the_results():
    """Rank correlations between halves, which docs/guide/read.md and explain.md name."""
    found = json.loads(text_of("experiments/results/relevance_stability.json"))

    def mean(kind, name):
        return f"{np.mean([one[kind][name]['rank_correlation'] for one in found]):.2f}"[1:]

    own, local, diagonal = (
        mean("importances", name)
        for name in ("feature_importances_ of LVQClassifier()", "feature_importances_", "diag(Lambda)")
    )
    sentence = f"averages {own} over five sets, and {local} with local matrices, against {diagonal} for the diagonal"
    assert sentence in " ".join(text_of("docs/guide/read.md").split())
    evidence = {mean("evidence", name) for name in found[0]["evidence"]}
    assert f"evidence averages {evidence.pop()}, for the default and for" in " ".join(
        text_of("docs/guide/explain.md").split()
    )
    assert not evidence


def test_numbers_of_embeddings_are_those_of_the_results():
    """Tables by numbers of rows in docs/guide/embeddings.md, and the sentence on tf-idf."""
    names = {
        "`LVQClassifier()`": "LVQClassifier", 'the same, `metric="cosine"`': "cosine",
        "nearest class mean": "class mean", "k nearest neighbours": "k-NN",
        'two prototypes per class, `form="plain"`': "LVQClassifier, 2 prototypes",
        '`measure="distance"`': "LVQClassifier: distance", '`measure="combined"`': "LVQClassifier: combined",
        "similarity to the nearest class mean": "class mean: similarity",
        "probability of logistic regression": "logistic regression: probability",
    }  # fmt: skip
    keys = {"accuracy, %": "accuracy", "log-loss": "log_loss", "foreign rows": "area under the ROC curve, foreign rows"}
    results, page = text_of("experiments/results/few_shots.md"), text_of("docs/guide/embeddings.md")
    tables = re.findall(r"^\| ([^,|]+), ([^|]+) \| 1 \| 2 \| 5 .*\n\|[-|]+\n((?:\|.*\n)+)", page, flags=re.MULTILINE)
    assert len(tables) == 5
    for data, measure, rows in tables:
        section = results[results.index(f"## {data.lower()}\n") :]
        key = keys.get(measure, measure)
        found = section[section.index(f"| {key} | 1 |") :].split("\n\n")[0]
        for row in rows.splitlines():
            name, numbers = row[2:].split(" | ", 1)
            assert "SetFit" in name or f"\n| {names.get(name, name)} | {numbers}" in found
    tfidf = text_of("experiments/results/tfidf.md")
    accuracy, seconds = zip(*re.findall(r"\| ([\d.]+) \| ([\d.]+) \|$", tfidf, flags=re.MULTILINE))
    plain, cosine, svm = zip(accuracy, seconds)
    sentence = " ".join(page.split())
    assert f'{cosine[0]} % with `metric="cosine"` in {cosine[1]} seconds' in sentence
    assert f"{plain[0]} % without it in {plain[1]}, and {svm[0]} % with a linear SVM in {svm[1]}." in sentence


def test_accuracies_with_missing_values_are_those_of_the_results():
    """Each row of the table in docs/guide/missing.md is a mean over sets and kinds of removal."""
    found = json.loads(text_of("experiments/results/missing_values.json"))
    for fraction in (0.1, 0.3, 0.5):
        rows = [row["accuracy"] for row in found if row["fraction"] == fraction]
        means = [f"{100 * np.mean([row[name] for row in rows]):.1f}" for name in rows[0]]
        assert f"| {fraction:.0%} | {' | '.join(means)} |".replace("%", " %") in text_of("docs/guide/missing.md")


def test_the_changelog_has_the_version():
    assert re.search(rf"^## \[{re.escape(lvq.__version__)}\]", text_of("CHANGELOG.md"), flags=re.MULTILINE)


# -- imports go one way, as in docs/design.md --------------------------------------------------------------------------


def layers():
    """The number of the layer of each package, from the table."""
    rows = re.findall(r"^\| (\d+) [^|]+\| ([^|]+) \|", text_of("docs/design.md"), flags=re.MULTILINE)
    return {package: int(number) for number, packages in rows for package in re.findall(r"`(\w+)`", packages)}


def package_of(module):
    """The top-level package or module of a module; `lvq` for the package itself."""
    parts = module.split(".")
    return "lvq" if len(parts) < 2 or parts[1] == "__init__" else parts[1].replace("__main__", "cli")


def imported(path):
    """Modules of this package that a file imports, anywhere in it, by a statement or by name."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            yield from re.findall(r"\'(lvq\.[\w.]+)", ast.unparse(node.args[0]))
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names if name.name.partition(".")[0] == "lvq")
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.partition(".")[0] == "lvq":
            names = [name.name for name in node.names] if node.module == "lvq" else []
            packages = {package.stem for package in (ROOT / "src/lvq").iterdir()}
            yield from (f"lvq.{name}" if name in packages else "lvq" for name in names) if names else [node.module]


def test_every_package_is_in_a_layer():
    packages = {
        path.stem for path in (ROOT / "src/lvq").iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    assert packages - {"__init__", "__main__"} | {"lvq"} == set(layers())
    assert sorted(set(layers().values())) == list(range(1, 11))


def test_imports_go_one_way():
    """From one layer to those before it, and never between two packages of the same one.

    The exception is a method that draws: docs/design.md names it.
    """
    layer, against = layers(), []
    for path in sorted((ROOT / "src/lvq").rglob("*.py")):
        here = package_of(".".join(path.relative_to(ROOT / "src").with_suffix("").parts))
        targets = {package_of(module) for module in imported(path)} - {here}
        against += [f"{path} -> {target}" for target in targets if layer[target] >= layer[here]]
    assert against == [f"{ROOT / 'src/lvq/inspection/explain.py'} -> plots"]
    source = text_of("src/lvq/inspection/explain.py")
    assert source.count("lvq.plots import") == source[source.index("def plot(") :].count("lvq.plots import") == 1
