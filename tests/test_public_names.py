"""The public interface: names, versions, the cost of importing, and whether every part is described."""

import inspect
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from sklearn.base import ClassifierMixin

import lvq
from lvq.estimators.registry import ESTIMATORS as REGISTRY
from lvq.estimators.registry import estimator_types
from lvq.versions import PACKAGES, versions

CLASSES = [part for name in lvq.__all__ if inspect.isclass(part := getattr(lvq, name))]
ESTIMATORS = list(estimator_types().values())  # RejectClassifier has tests of its own
OWN_METHODS = [
    pytest.param(method, id=f"{part.__name__}.{name}")
    for part in ESTIMATORS
    for name, method in inspect.getmembers(part, inspect.isfunction)
    if not name.startswith("_") and method.__module__.startswith("lvq.")
    if inspect.isfunction(inspect.getattr_static(part, name))  # not one that `available_if` hides
]


def test_all_is_the_public_namespace():
    visible = {name for name in dir(lvq) if not name.startswith("_") and not isinstance(getattr(lvq, name), ModuleType)}
    assert set(lvq.__all__) == visible


def test_names_are_where_type_checkers_find_them():
    """The imports that only type checkers see, and the table that Python uses, name the same modules."""
    text = Path(lvq.__file__).read_text(encoding="utf-8")
    shown = {
        name: module
        for module, names in re.findall(r"^    from lvq\.([\w.]+) import (.+)$", text, flags=re.MULTILINE)
        for name in names.split(", ")
    }
    assert shown == lvq._MODULES
    assert set(shown) == set(lvq.__all__)


def test_registry_has_every_estimator():
    """The table that stored files, ONNX and the command line read."""
    assert set(REGISTRY) <= set(lvq.__all__)
    for name, module in REGISTRY.items():
        assert getattr(lvq, name) is estimator_types()[name]
        assert getattr(lvq, name).__module__ == module
    found = {part for part in CLASSES if issubclass(part, ClassifierMixin)}
    assert {part.__name__ for part in found} == {*REGISTRY, "RejectClassifier"}


def test_packages_are_attributes_without_an_import():
    subprocess.run([sys.executable, "-c", "import lvq; lvq.plots.__doc__, lvq.rejection.__doc__"], check=True)
    with pytest.raises(AttributeError, match="module 'lvq' has no attribute 'nothing'"):
        lvq.nothing  # noqa: B018


def test_one_version_and_types():
    assert metadata.version("lvq") == lvq.__version__
    assert 'dynamic = ["version"]' in (Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8")
    assert (Path(lvq.__file__).parent / "py.typed").exists()


def loaded_by(code):
    """All modules that a program loads, in a fresh process."""
    command = [sys.executable, "-W", "ignore", "-c", f"import sys\n{code}\nprint(*sys.modules)"]
    return set(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split())


def test_import_is_light():
    heavy = {"sklearn", "numpy", "numba", "torch", "matplotlib", "onnx", "pandas", "typer"}
    assert not loaded_by("import lvq") & heavy
    assert "matplotlib" not in loaded_by("import lvq.plots")


def test_the_estimators_add_nothing_to_scikit_learn():
    """The only package that they load beyond those of a scikit-learn classifier is this one."""
    loaded, classifier = (
        {name.partition(".")[0] for name in loaded_by(f"import {modules}")}
        for modules in (", ".join(sorted(set(REGISTRY.values()))), "sklearn.linear_model")
    )
    assert loaded - classifier - sys.stdlib_module_names == {"lvq"}


def test_a_first_fit_loads_only_what_it_uses():
    """A first fit in a fresh process takes about as long as scikit-learn's import: nothing else may be loaded."""
    loaded = loaded_by(
        "import lvq\n"
        "for model in (lvq.GMLVQ(solver='adam', max_iter=1), lvq.LVQClassifier(max_iter=1, n_prototypes=1)):\n"
        "    model.fit([[0.0], [1.0], [0.1], [1.1]], [0, 1, 0, 1]).predict([[2.0]])"
    )
    assert "lvq.solvers.lbfgs" in loaded
    assert not loaded & {"sklearn.metrics", "sklearn.model_selection", "numba", "matplotlib"}


@pytest.mark.parametrize("part", CLASSES)
def test_class_is_described(part):
    text = inspect.getdoc(part)
    assert text
    assert part.__module__.startswith("lvq.")
    assert not re.search(r"\{parameters\}|\{attributes\}", text)
    assert len(text.splitlines()[0]) <= 120
    assert text.splitlines()[0].endswith(".")


@pytest.mark.parametrize("part", ESTIMATORS)
def test_every_parameter_is_described(part):
    """One entry `name : type, default=value` for each parameter of `__init__`, in the sections of numpydoc."""
    text = inspect.getdoc(part)
    sections = re.findall(r"^(\w+)\n-+$", text, flags=re.MULTILINE)
    assert [name for name in sections if name != "References"] == ["Parameters", "Attributes", "Examples"]
    section = text.partition("Parameters\n----------\n")[2].partition("\n\nAttributes\n")[0]
    entries = re.findall(r"^(\w+) : .+\n    \S", section, flags=re.MULTILINE)
    assert entries == list(inspect.signature(part).parameters)
    for name, parameter in inspect.signature(part).parameters.items():
        assert parameter.kind is inspect.Parameter.KEYWORD_ONLY
        if parameter.default is not None:
            assert re.search(rf"^{name} : .*default={re.escape(repr(parameter.default))}$", section, flags=re.MULTILINE)


@pytest.mark.parametrize("part", ESTIMATORS)
def test_described_values_are_accepted(part):
    """The strings in braces, such as {"nearest", "posterior"}, are those that the parameter takes."""
    text = inspect.getdoc(part)
    for name, words in re.findall(r"^(\w+) : \{(.+?)\}", text, flags=re.MULTILINE):
        options = [option for option in part._parameter_constraints[name] if hasattr(option, "options")]
        assert set(re.findall(r'"(\w+)"', words)) == set().union(*(option.options for option in options))


@pytest.mark.parametrize("method", OWN_METHODS)
def test_every_method_is_described(method):
    text = inspect.getdoc(method)
    assert text
    arguments = [name for name in inspect.signature(method).parameters if name not in ("self", "parameters")]
    if arguments:
        section = text.partition("Parameters\n----------\n")[2].partition("\n\nReturns\n")[0]
        assert re.findall(r"^\**(\w+) : ", section, flags=re.MULTILINE) == arguments
        assert re.search(r"Returns\n-------\n\w+ : .+\n    \S", text)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("part", ESTIMATORS)
def test_learned_attributes_are_described(part):
    """Everything a fitted estimator shows, and that ends in an underscore, has an entry."""
    text = inspect.getdoc(part)
    y = np.arange(40) % 2
    model = part().fit(np.random.default_rng(0).normal(size=(40, 2)) + y[:, None], y)
    for name in dir(model):
        if name.endswith("_") and not name.startswith("_"):
            assert re.search(rf"^(\w+, )*{name}(, \w+)* : ", text, flags=re.MULTILINE), name


def test_show_versions(capsys):
    """Python, the platform, this package and all that it uses, one line each."""
    lvq.show_versions()
    shown = dict(line.split(": ", 1) for line in capsys.readouterr().out.splitlines())
    assert list(shown) == ["python", "platform", *PACKAGES]
    assert shown == versions()
    assert (shown["lvq"], shown["numpy"]) == (metadata.version("lvq"), np.__version__)
