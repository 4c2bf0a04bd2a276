"""Small fitted models, files of them, and a way to change such a file as someone would who knows the format."""

import io
import json
import zipfile

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lvq import GMLVQ, RejectClassifier
from lvq.persistence.container import SCHEMA, pack

ANSWERS = (
    "predict",
    "predict_proba",
    "decision_function",
    "transform",
    "certainty",
    "cell",
    "reason",
    "accept",
    "predict_or_reject",
)


@pytest.fixture(scope="session")
def skops():
    """These tests need the extra."""
    return pytest.importorskip("skops.io")


@pytest.fixture(scope="session")
def data():
    """Three overlapping classes, four features of which the last is noise."""
    rng = np.random.default_rng(7)
    y = np.arange(90) % 3
    centres = np.array([[0.0, 0.0, 1.0, 0.0], [2.5, 0.0, 0.0, 0.0], [0.0, 2.5, -1.0, 0.0]])
    return centres[y] + rng.normal(size=(90, 4)), np.array(["ash", "birch", "cedar"])[y]


@pytest.fixture(scope="session")
def same_answers():
    """A function that compares all that two fitted estimators say about samples, down to the types."""

    def compare(one, other, X):
        compared = 0
        for name in ANSWERS:
            if hasattr(one, name):
                first, second = getattr(one, name)(X), getattr(other, name)(X)
                assert first.dtype == second.dtype, name
                np.testing.assert_array_equal(first, second, err_msg=name)
                compared += 1
        if hasattr(one, "explain"):
            for first, second in zip(one.explain(X), other.explain(X)):
                assert first.dtype == second.dtype
                np.testing.assert_array_equal(first, second)
        assert compared > 1

    return compare


@pytest.fixture(scope="session")
def fitted(skops, data):
    """A RejectClassifier around a pipeline: nearly all that a file can hold."""
    X, y = data
    inner = make_pipeline(StandardScaler(), GMLVQ(rank=2, kernel="gaussian", n_prototypes=2, random_state=0))
    return RejectClassifier(inner, measure="combined", min_coverage=0.8, min_cell_size=3).fit(X, y)


@pytest.fixture
def file(fitted, tmp_path):
    """That model in a file."""
    from lvq.persistence import save

    path = tmp_path / "model.skops"
    save(fitted, path)
    return path


@pytest.fixture(scope="session")
def members_of():
    """A function that gives the members of a file, without its header."""

    def read(path):
        with zipfile.ZipFile(path) as archive:
            return {name: archive.read(name) for name in archive.namelist() if name != "lvq.json"}

    return read


@pytest.fixture(scope="session")
def sealed():
    """A function that writes a file with right checksums: of a schema and of arrays."""

    def write(path, schema, arrays, **versions):
        known = {"version": "0.1.0", "scikit-learn": "0", "skops": "0"} | versions
        known["scikit-learn"] = versions.get("scikit-learn", __import__("sklearn").__version__)
        members = {SCHEMA: json.dumps(schema).encode(), **arrays}
        path.write_bytes(pack(members, known))

    return write


@pytest.fixture(scope="session")
def npy():
    """A function that gives an array in NumPy's format."""

    def encode(array, **options):
        buffer = io.BytesIO()
        np.save(buffer, array, **options)
        return buffer.getvalue()

    return encode
