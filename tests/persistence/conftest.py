"""Small fitted models, files of them, and a way to edit such a file and give it a valid checksum."""

import hashlib
import json

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lvq import GMLVQ, RejectClassifier
from lvq.model.relevance import Matrix
from lvq.persistence import save
from lvq.persistence.files import _arrays

METHODS = (
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
def data():
    """Three overlapping classes, four features of which the last is noise."""
    rng = np.random.default_rng(7)
    y = np.arange(90) % 3
    centres = np.array([[0.0, 0.0, 1.0, 0.0], [2.5, 0.0, 0.0, 0.0], [0.0, 2.5, -1.0, 0.0]])
    return centres[y] + rng.normal(size=(90, 4)), np.array(["ash", "birch", "cedar"])[y]


@pytest.fixture(scope="session")
def assert_same():
    """A function that compares everything that two fitted estimators predict, including types."""

    def compare(one, other, X):
        compared = 0
        for name in METHODS:
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
def fitted(data):
    """A RejectClassifier around a pipeline: nearly everything that a file can contain."""
    X, y = data
    inner = make_pipeline(
        StandardScaler(), GMLVQ(relevance=Matrix(rank=2), kernel="gaussian", n_prototypes=2, random_state=0)
    )
    return RejectClassifier(inner, measure="combined").fit(X, y)


@pytest.fixture(scope="session")
def saved(fitted, tmp_path_factory):
    """The bytes of a file of that model."""
    path = tmp_path_factory.mktemp("saved") / "model.lvq"
    save(fitted, path)
    return path.read_bytes()


@pytest.fixture
def file(saved, tmp_path):
    """That model in a file."""
    path = tmp_path / "model.lvq"
    path.write_bytes(saved)
    return path


class Editable:
    """The parts of a file, to change and to write with a valid checksum."""

    def __init__(self, path):
        self.path = path
        self.title, _, header, data = path.read_bytes().split(b"\n", 3)
        self.header = json.loads(header)
        self.arrays = _arrays(self.header["arrays"], data)

    def write(self, text=None):
        """Write the arrays and the header, or a text in the place of the header."""
        described = self.header["arrays"]
        for index, array in enumerate(self.arrays):
            if isinstance(array, np.ndarray):  # else bytes, whose description is the test's own
                order = "F" if np.isfortran(array) else "C"
                described[index : index + 1] = [[array.dtype.str, order, list(array.shape)]]
        if text is None:
            text = json.dumps(self.header, separators=(",", ":")).encode()
        values = [
            array.tobytes(described[index][1]) if isinstance(array, np.ndarray) else array
            for index, array in enumerate(self.arrays)
        ]
        body = b"".join([text, b"\n", *values])
        checksum = hashlib.sha256(body).hexdigest().encode()
        self.path.write_bytes(b"\n".join([self.title, checksum, body]))

    def objects(self, name):
        """The attributes of every object of a class, as a flat list of names and nodes."""
        return list(self._objects(self.header["model"], name))

    def _objects(self, node, name):
        if isinstance(node, list):
            if node[:1] == ["object"] and node[1] == name:
                yield node[2]
            for part in node:
                yield from self._objects(part, name)

    def attribute(self, name, attribute):
        """The node of an attribute of the first object of a class that has it."""
        attributes = next(attributes for attributes in self.objects(name) if attribute in attributes)
        return attributes[attributes.index(attribute) + 1]


@pytest.fixture(scope="session")
def edit():
    """A function that opens a file for changes."""
    return Editable
