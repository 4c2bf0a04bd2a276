"""Files made by hand, to run code or to use all memory: each is refused with a clear message, and nothing runs."""

import io
import json
import os
import pickle
import sys
import zipfile

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from lvq import GLVQ
from lvq.persistence import LoadError, load, save
from lvq.persistence.files import to_bytes


@pytest.fixture
def command(tmp_path, monkeypatch):
    """A command that leaves a mark when it is run, beside a module that leaves one when it is imported."""
    mark = tmp_path / "mark"
    (tmp_path / "module_of_a_stranger.py").write_text(
        f"open({str(mark)!r}, 'w').close()\n"
        "class Evil:\n"
        "    def __setstate__(self, state):\n"
        "        pass\n"
        "def evil(*arguments):\n"
        "    return 'evil'\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    yield f"touch {mark}"
    assert not mark.exists()
    assert "module_of_a_stranger" not in sys.modules


@pytest.fixture
def plain(tmp_path, edit):
    """A file of a small fitted model, open for changes."""
    path = tmp_path / "model.lvq"
    save(GLVQ(random_state=0).fit([[0.0, 1.0], [1.0, 0.0], [4.0, 4.5], [5.0, 4.0]], [0, 0, 1, 1]), path)
    return edit(path)


def refused(editable, match, **options):
    editable.write()
    with pytest.raises(LoadError, match=rf"^model.lvq .*{match}"):
        load(editable.path, **options)


# -- code in the header ------------------------------------------------------------------------------------------------

EMPTY = ["dict"]
CODE = {
    "a function": lambda command: ["name", "os.system"],
    "a built-in function": lambda command: ["name", "builtins.eval"],
    "a function of a stranger": lambda command: ["name", "module_of_a_stranger.evil"],
    "a class of a stranger": lambda command: ["object", "module_of_a_stranger.Evil", EMPTY],
    "a function inside a module": lambda command: ["name", "sklearn.metrics.os.system"],
    "an import of another module": lambda command: ["name", "sklearn.metrics._scorer.partial"],
    "a function of numpy": lambda command: ["name", "numpy.load"],
    "a process": lambda command: ["compiled", "subprocess.Popen", ["tuple", command], None],
    "a function as a class": lambda command: ["object", "lvq.rejection.point.accept_mask", EMPTY],
    "no module": lambda command: ["name", "system"],
    "a key that cannot be one": lambda command: ["dict", ["list"], 1],
    "an array without a number": lambda command: ["array", True],
    "an array that is not there": lambda command: ["array", 10**6],
    "objects of another shape": lambda command: ["objects", ["tuple", 10**9], 1],
    "a mask of another shape": lambda command: ["masked", ["array", 0], ["array", 1]],
    "fields of another class": lambda command: ["object", "lvq.model.links.Gaussian", ["dict", "height", 1.0]],
    "a kernel without a width": lambda command: [
        "object",
        "lvq.model.prototype_model.DecisionRule",
        ["dict", "xi", -1.0, "sharpness", 5.0, "soft", False, "by_posterior", False],
    ],
}


@pytest.mark.parametrize("attack", CODE)
def test_code_is_not_run(attack, command, plain):
    attributes = plain.objects("lvq.GLVQ")[0]
    attributes[attributes.index("init") + 1] = CODE[attack](command)
    refused(plain, "contains ")
    plain.header["model"], plain.arrays, plain.header["arrays"] = CODE[attack](command), [], []
    refused(plain, "contains ")


def test_a_trusted_function_is_not_called(command, plain):
    for node in (["named_tuple", "os.system", command], ["object", "os.system", ["dict", command, 1]]):
        attributes = plain.objects("lvq.GLVQ")[0]
        attributes[attributes.index("init") + 1] = node
        refused(plain, "contains ")


@pytest.mark.parametrize("name", ["predict", "__class__"])
def test_attributes_in_the_place_of_methods(name, plain):
    plain.objects("lvq.GLVQ")[0] += [name, ["name", "numpy.absolute"]]
    refused(plain, rf"an attribute '{name}' in the place of a method of GLVQ")


def test_attributes_that_occur_twice(plain):
    plain.objects("lvq.GLVQ")[0] += ["max_iter", 3]
    refused(plain, "a key that occurs twice")


# -- arrays ------------------------------------------------------------------------------------------------------------


class Payload:
    """What a pickle would run."""

    def __init__(self, command):
        self.command = command

    def __reduce__(self):
        return os.system, (self.command,)


SHAPES = [[10**12], [2**40, 2**40], [2**63], [-1], [10**12, 0, 10**12, 3], [1] * 100, [2.0]]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_absurd_shapes(shape, plain):
    plain.header["arrays"][0], plain.arrays[0] = ["<f8", "C", shape], bytes(16)
    refused(plain, "contains a model that is not consistent")


TYPES = ["|V8", "|O", "<c16", "<U0", [["a", "|O"]], [["a", "<U0"]], "(2,)<f8", "eval('1')", "(" * 3000, 8, None]


@pytest.mark.parametrize("text", TYPES, ids=lambda text: str(text)[:20])
def test_absurd_types(text, command, plain):
    plain.header["arrays"][0], plain.arrays[0] = [text, "C", [2]], pickle.dumps(Payload(command))[:16]
    refused(plain, "contains a model that is not consistent")


@pytest.mark.parametrize(("text", "content"), [("|b1", b"\x02\x01"), ("<U1", b"\xff" * 8)])
def test_values_that_the_type_does_not_have(text, content, plain):
    plain.header["arrays"][0], plain.arrays[0] = [text, "C", [2]], content
    refused(plain, "contains a model that is not consistent")


def test_arrays_and_bytes_that_nothing_refers_to(plain):
    plain.arrays.append(np.zeros(3))
    refused(plain, "an array that nothing refers to")
    plain.arrays[-1] = b"12345678"
    plain.header["arrays"].pop()
    refused(plain, "bytes that belong to no array")


def test_a_random_state_beyond_its_end(tmp_path, edit):
    """NumPy reads from the position it is given."""
    path = tmp_path / "model.lvq"
    save(GLVQ(random_state=np.random.RandomState(0)), path)
    editable = edit(path)
    for values in (np.append(editable.arrays[0][:624], [1e6, 0, 0]), editable.arrays[0][:300]):
        editable.arrays[0] = values
        refused(editable, "a random state that is not valid")


# -- models that would predict wrongly, or let compiled code read beyond its arrays ------------------------------------


def test_a_scaler_of_another_width(file, edit):
    editable = edit(file)
    editable.arrays[editable.attribute("sklearn.preprocessing._data.StandardScaler", "mean_")[1]] = np.zeros(2)
    refused(editable, r"StandardScaler has mean_ of shape \(2,\) for 4 features")


WORDS = ["red apple", "blue sky", "red car", "blue sea"] * 10
COLOURS = np.array([["red"]] * 16 + [["blue"]] * 16 + [["pink"]] * 4 + [["grey"]] * 4, dtype=object)
WITHOUT_A_COLUMN = {
    "word": (CountVectorizer(), WORDS, lambda step: {"vocabulary_": dict.fromkeys(step.vocabulary_, 10**8)}),
    "category": (OneHotEncoder(), COLOURS, lambda step: {"_n_features_outs": [3]}),
    "rare": (
        OneHotEncoder(min_frequency=5),
        COLOURS,
        lambda step: {"_default_to_infrequent_mappings": [np.full(4, 10**8)]},
    ),
    "unknown": (
        OneHotEncoder(min_frequency=2, handle_unknown="infrequent_if_exist"),
        COLOURS,
        lambda step: {"_infrequent_indices": [np.array([10**8])]},
    ),
}


@pytest.mark.parametrize("kind", WITHOUT_A_COLUMN)
def test_sparse_rows_beyond_the_last_column(kind, tmp_path):
    """scikit-learn's product of a sparse row reads what its indices say; the process ended."""
    step, X, change = WITHOUT_A_COLUMN[kind]
    model = make_pipeline(clone(step), TruncatedSVD(2), GLVQ(random_state=0)).fit(X, np.arange(40) % 2)
    save(model, tmp_path / "model.lvq")
    assert load(tmp_path / "model.lvq").predict(X).tolist() == model.predict(X).tolist()
    vars(model[0]).update(change(model[0]))
    with pytest.raises(ValueError, match="without a column"):
        save(model, tmp_path / "model.lvq")
    (tmp_path / "model.lvq").write_bytes(to_bytes(model))
    with pytest.raises(LoadError, match="without a column"):
        load(tmp_path / "model.lvq")


def test_another_thing_than_an_estimator(plain):
    plain.header["model"], plain.arrays, plain.header["arrays"] = ["list", 1], [], []
    refused(plain, "list in the place of an estimator")


def test_parameters_that_fit_would_refuse(plain):
    attributes = plain.objects("lvq.GLVQ")[0]
    attributes[attributes.index("max_iter") + 1] = -3
    refused(plain, r"\(InvalidParameterError: The 'max_iter' parameter")


# -- limits ------------------------------------------------------------------------------------------------------------


def test_a_file_that_is_too_large(file):
    with pytest.raises(LoadError, match=r"has \d+ bytes, more than max_bytes=1000. Increase"):
        load(file, max_bytes=1000)


def test_a_header_that_needs_too_much_memory(plain):
    plain.write(b"[" + b"[]," * 10**6 + b"1]")
    with pytest.raises(LoadError, match=r"has a header of 300\d+ bytes, too long for max_bytes=50000000"):
        load(plain.path, max_bytes=50_000_000)


@pytest.mark.parametrize("depth", [500, 200_000])
def test_deep_headers(depth, plain):
    plain.write(b'{"arrays":[],"model":' + b'["list",' * depth + b"1" + b"]" * depth + b',"versions":{}}')
    with pytest.raises(LoadError, match=r"^model.lvq contains a model that is not consistent"):
        load(plain.path)


@pytest.mark.parametrize("change", ["twice", "space", "less"])
def test_headers_in_another_form(change, plain):
    """Two readers of JSON could read two different things."""
    text = json.dumps(plain.header, separators=(",", ":"))
    changed = {
        "twice": text.replace('{"arrays"', '{"model":1,"arrays"', 1),
        "space": text + " ",
        "less": "{}",
    }
    plain.write(changed[change].encode())
    with pytest.raises(LoadError, match=r"^model.lvq contains a model that is not consistent"):
        load(plain.path)


# -- other files -------------------------------------------------------------------------------------------------------


def archive(entries):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in entries.items():
            file.writestr(name, content)
    return buffer.getvalue()


def joblib_bytes(thing, **options):
    buffer = io.BytesIO()
    joblib.dump(thing, buffer, **options)
    return buffer.getvalue()


FILES = {
    "empty": (lambda thing: b"", "is empty"),
    "text": (lambda thing: b"a,b\n1,2\n", "is not a model file"),
    "pickle": (pickle.dumps, "looks like a pickle or joblib file"),
    "old pickle": (lambda thing: pickle.dumps(thing, protocol=0), "is not a model file"),
    "joblib": (joblib_bytes, "looks like a pickle or joblib file"),
    "packed joblib": (lambda thing: joblib_bytes(thing, compress=("zlib", 3)), "looks like a pickle or joblib file"),
    "zip bomb": (lambda thing: archive({"../1.npy": bytes(30_000_000)}), "is not a model file"),
    "title only": (lambda thing: b"lvq model 1", "is damaged"),
    "newer format": (lambda thing: b"lvq model 2\n", "has another format than 1, which this version reads. Upgrade"),
}


@pytest.mark.parametrize("kind", FILES)
def test_other_files(kind, command, tmp_path):
    make, message = FILES[kind]
    path = tmp_path / "other.lvq"
    path.write_bytes(make(Payload(command)))
    with pytest.raises(LoadError, match=rf"^other.lvq .*{message}"):
        load(path)


def test_folders_and_pipes(tmp_path):
    with pytest.raises(LoadError, match=r"is a folder"):
        load(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(LoadError, match=r"pipe is a device, pipe or socket, not a file"):
        load(tmp_path / "pipe")
    with pytest.raises(FileNotFoundError, match=r"nothing.lvq"):
        load(tmp_path / "nothing.lvq")
