"""Models as arrays and as files: every bit comes back, and what is not a model is refused with a clear message."""

import io
import json
import struct
import zipfile
from dataclasses import dataclass, replace

import numpy as np
import pytest

from lvq.model.links import KERNELS, Gaussian, Identity, RationalQuadratic
from lvq.model.metrics import Euclidean
from lvq.model.prototype_model import PrototypeModel
from lvq.model.relevance import RELEVANCES, Relevance
from lvq.model.samples import ArraySamples
from lvq.model.storage import LINKS, METRICS
from tests.model.test_prototype_model import DECISIONS

CLASSES = {
    "int": np.array([-3, 7]),
    "unsigned": np.array([0, 2**63], dtype=np.uint64),
    "str": np.array(["no", "größer"]),
    "bytes": np.array([b"no", b"yes"]),
    "bool": np.array([False, True]),
    "float": np.array([0.1, 1 / 3]),
    "date": np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[D]"),
    "object of str": np.array(["no", "größer"], dtype=object),
    "object of int": np.array([1, 2**70], dtype=object),
    "object of float": np.array([0.1, 1 / 3], dtype=object),
}
RULES = [Relevance(), *RELEVANCES.values()]


def make_model(**changes):
    values = {
        "prototypes": np.array([[0.1, 1 / 3, -0.0], [1e300, 5e-324, 2.0]]),
        "labels": np.array([0, 1]),
        "classes": CLASSES["int"],
    }
    return PrototypeModel(**(values | changes))


def assert_identical(model, other):
    for name in ("prototypes", "labels", "classes", "relevance", "importances"):
        ours, theirs = getattr(model, name), getattr(other, name)
        assert (ours is None) == (theirs is None), name
        if ours is not None:
            assert ours.dtype == theirs.dtype, name
            assert ours.shape == theirs.shape, name
            if ours.dtype == object:
                assert [(type(label), label) for label in ours] == [(type(label), label) for label in theirs]
            else:
                assert ours.tobytes() == theirs.tobytes(), name
            assert not theirs.flags.writeable
    assert (other.metric, other.link, other.decision) == (model.metric, model.link, model.decision)
    assert other.feature_names == model.feature_names


def assert_round_trip(model, folder):
    assert_identical(model, PrototypeModel.from_arrays(model.to_arrays()))
    path = folder / "model.npz"
    model.save(path)
    assert [file.name for file in folder.iterdir()] == ["model.npz"]
    assert_identical(model, PrototypeModel.load(str(path)))


@pytest.mark.parametrize("name", CLASSES)
def test_all_kinds_of_classes(name, tmp_path):
    assert_round_trip(make_model(classes=CLASSES[name]), tmp_path)


@pytest.mark.parametrize(("name", "dtype"), list(zip(METRICS, [np.float32, np.float64] * len(METRICS))))
def test_all_metrics(name, dtype, tmp_path):
    """Each as a relevance rule makes it, with any parameters."""
    labels, rng = np.array([0, 1]), np.random.default_rng(0)
    rule = next(rule for rule in RULES if type(rule.metric(labels)) is METRICS[name])
    samples = ArraySamples(rng.normal(size=(9, 3)), np.arange(9) % 2, np.ones(9))
    metric, relevance = rule.metric(labels), rule.start(samples, labels)
    W = np.array([[0.1, 1 / 3, -0.0], [1e30, 1e-40, 2.0]], dtype=dtype)
    relevance = None if relevance is None else rng.uniform(0, 1, relevance.shape).astype(dtype)
    assert_round_trip(make_model(prototypes=W, metric=metric, relevance=relevance), tmp_path)


def test_all_links_and_decision_rules(tmp_path):
    for name in LINKS:
        link = Identity() if name == "identity" else KERNELS[name].with_width(1 / 3)
        link = replace(link, shape=0.1) if isinstance(link, RationalQuadratic) else link
        assert_round_trip(make_model(link=link), tmp_path)
    for decision in DECISIONS.values():
        assert_round_trip(make_model(decision=decision), tmp_path)
    assert_round_trip(make_model(importances=np.array([0.1, 0.2, 0.7]), feature_names=("x", "größe", "")), tmp_path)


def test_a_file_holds_arrays_without_objects_and_nothing_else(tmp_path):
    """Under the name that was given."""
    model = make_model(classes=CLASSES["object of str"], feature_names=("a", "b", "c"))
    arrays = model.to_arrays()
    assert all(array.dtype != object for array in arrays.values())
    assert set(arrays) == {"prototypes", "labels", "header"}
    model.save(tmp_path / "no suffix")
    assert [path.name for path in tmp_path.iterdir()] == ["no suffix"]
    with zipfile.ZipFile(tmp_path / "no suffix") as file:
        assert {name.removesuffix(".npy") for name in file.namelist()} == set(arrays)
    assert_identical(model, PrototypeModel.load(tmp_path / "no suffix"))


# -- what cannot be stored ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class UsersLink(Gaussian):
    """A user's own link."""


@dataclass(frozen=True)
class UsersMetric(Euclidean):
    """A user's own metric."""


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"link": UsersLink(1.0)},
            r"A model with the link UsersLink\(width=1.0\) cannot be stored as arrays; known are",
        ),
        ({"metric": UsersMetric()}, r"A model with the metric UsersMetric\(\) cannot be stored as arrays; known are"),
        ({"classes": np.array([(1, 2), None], dtype=object)}, "classes of a model that is stored must be strings or"),
    ],
    ids=["link", "metric", "classes"],
)
def test_what_cannot_be_stored_is_refused_and_no_file_is_left(changes, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        make_model(**changes).save(tmp_path / "model.npz")
    assert list(tmp_path.iterdir()) == []


# -- wrong headers and arrays ------------------------------------------------------------------------------------------

REFUSED = "These arrays are not a stored PrototypeModel: "


def arrays_with_header(**changes):
    arrays = make_model(link=Gaussian(2.0)).to_arrays()
    header = json.loads(bytes(arrays["header"])) | changes
    header = {name: value for name, value in header.items() if value is not ...}
    return arrays | {"header": np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": "other"}, "format is 'other', not 'lvq-prototype-model'"),
        ({"version": 2}, "version is 2; this release reads version 1"),
        ({"version": 0}, "version is 0; this release reads version 1"),
        *[({name: ...}, f"'{name}' is missing") for name in ("format", "version", "metric", "decision", "classes")],
        ({"metric": {"kind": "other"}}, "'other' is missing or unknown"),
        ({"metric": {}}, "'kind' is missing or unknown"),
        ({"metric": 5}, ""),
        ({"metric": {"kind": ["matrix"]}}, "unhashable"),
        ({"metric": {"kind": "matrix"}}, "relevances that do not fit its 3 features"),
        ({"metric": {"kind": "local_matrix"}}, r"LocalMahalanobis needs the values \['groups'\], got \[\]"),
        ({"link": {"kind": "gaussian", "width": "1"}}, "not a positive number"),
        ({"link": {"kind": "identity", "width": 1.0}}, r"Identity needs the values \[\], got \['width'\]"),
        ({"decision": {"xi": -1.0}}, "xi is not a positive number"),
        ({"decision": {"other": 1}}, "unexpected keyword argument 'other'"),
        ({"decision": {"xi": "1"}}, ""),
        ({"feature_names": ["a"]}, "1 feature names for 3 features"),
        ({"feature_names": 3}, ""),
        ({"classes": 3}, "one-dimensional array of classes"),
        ({"classes": ["a"]}, "labels outside of its 1 classes"),
    ],
)
def test_wrong_headers_are_refused(changes, message):
    with pytest.raises(ValueError, match=f"{REFUSED}.*{message}"):
        PrototypeModel.from_arrays(arrays_with_header(**changes))


@pytest.mark.parametrize("text", [b"", b"{", b"\xff\xfe", b"[]", b"5", b"[" * 100_000])
def test_what_has_no_valid_header_is_refused(text):
    for changes in ({"header": np.frombuffer(text, dtype=np.uint8)}, {"prototypes": np.array([["a"]])}):
        with pytest.raises(ValueError, match=REFUSED):
            PrototypeModel.from_arrays(make_model().to_arrays() | changes)
    for arrays in (None, 5, [], np.zeros(3)):
        with pytest.raises(ValueError, match=REFUSED):
            PrototypeModel.from_arrays(arrays)


def test_a_missing_array_is_named():
    for name in ("header", "prototypes", "labels", "classes"):
        arrays = make_model().to_arrays()
        del arrays[name]
        with pytest.raises(ValueError, match=f"{REFUSED}'{name}' is missing or unknown"):
            PrototypeModel.from_arrays(arrays)


# -- damaged and foreign files -----------------------------------------------------------------------------------------


@pytest.fixture
def stored(tmp_path):
    """Path and content of a stored model."""
    path = tmp_path / "model.npz"
    make_model(link=Gaussian(2.0), feature_names=("a", "b", "c")).save(path)
    return path, path.read_bytes()


def test_a_changed_byte_under_a_valid_checksum_is_refused_or_a_model(stored):
    """A file made by hand: NumPy's reader of array headers raises errors of many kinds."""
    path, content = stored
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        entries = {name: file.read(name) for name in file.namelist()}
    refused = 0
    for place in range(0, 128, 3):
        with zipfile.ZipFile(path, "w") as file:
            for name, data in entries.items():
                changed = data[:place] + bytes([data[place] ^ 0x55]) + data[place + 1 :]
                file.writestr(name, changed if name == "header.npy" else data)
        try:
            PrototypeModel.load(path)
        except ValueError as error:
            assert "not a file of PrototypeModel.save" in str(error) or REFUSED in str(error)  # noqa: PT017
            refused += 1
    assert refused > 20


class Trap:
    """An object whose unpickling is noticed."""

    sprung = False

    def __reduce__(self):
        return setattr, (Trap, "sprung", True)


def packed(save=np.savez, **arrays):
    file = io.BytesIO()
    save(file, **arrays)
    return file.getvalue()


def exabyte():
    """A file whose only array is a header that promises an exabyte."""
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (%d,), }" % 2**57
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as file:
        file.writestr("header.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header)
    return content.getvalue()


FOREIGN = {
    "text": b"prototypes, labels\n1, 2\n",
    "random": np.random.default_rng(0).bytes(1000),
    "pickle": b"\x80\x04\x95\x0b\x00\x00\x00\x00\x00\x00\x00]\x94(K\x01K\x02e.",
    "zip": b"PK\x05\x06" + bytes(18),
    "object": packed(header=np.array([Trap()], dtype=object)),
    "compressed": packed(np.savez_compressed, **make_model().to_arrays()),  # a megabyte could hold a gigabyte of zeros
    "exabyte": exabyte(),
}


def test_other_files_and_truncated_ones_are_refused(stored):
    """Without unpickling anything."""
    path, content = stored
    for found in (*FOREIGN.values(), *(content[:length] for length in range(0, len(content), 297))):
        path.write_bytes(found)
        with pytest.raises(ValueError, match=rf"is not a file of PrototypeModel.save|{REFUSED}'header' is missing"):
            PrototypeModel.load(path)
    assert not Trap.sprung


def test_a_missing_file_and_a_folder_have_their_usual_errors(tmp_path):
    with pytest.raises(FileNotFoundError, match="missing"):
        PrototypeModel.load(tmp_path / "missing")
    with pytest.raises(IsADirectoryError, match=str(tmp_path)):
        PrototypeModel.load(tmp_path)
