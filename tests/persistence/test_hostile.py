"""Files made by hand, to run something or to take all memory: each is refused with a sentence, and nothing runs."""

import io
import json
import os
import pickle
import stat
import struct
import sys
import zipfile

import joblib
import numpy as np
import pytest

from lvq import GLVQ
from lvq.persistence import LoadError, load, save

pytestmark = pytest.mark.usefixtures("skops")


@pytest.fixture
def trap(tmp_path, monkeypatch):
    """A module that leaves a mark when it is imported, and a command that leaves one when it is run."""
    mark = tmp_path / "mark"
    (tmp_path / "trap_of_a_stranger.py").write_text(
        f"open({str(mark)!r}, 'w').close()\n"
        "class Evil:\n"
        "    def __setstate__(self, state):\n"
        "        pass\n"
        "    def __init__(self, *arguments):\n"
        "        pass\n"
        "def evil(*arguments):\n"
        "    return 'evil'\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    yield f"touch {mark}"
    assert not mark.exists()
    assert "trap_of_a_stranger" not in sys.modules


@pytest.fixture
def plain(tmp_path, members_of):
    """A small fitted model's file, its schema and its arrays."""
    path = tmp_path / "model.skops"
    save(GLVQ(random_state=0).fit([[0.0, 1.0], [1.0, 0.0], [4.0, 4.5], [5.0, 4.0]], [0, 0, 1, 1]), path)
    arrays = members_of(path)
    return path, json.loads(arrays.pop("schema.json")), arrays


def node(loader, name, number=10_000, **more):
    module, _, kind = name.rpartition(".")
    return {"__class__": kind, "__module__": module, "__loader__": loader, "__id__": number, **more}


def value(content, number=20_000):
    return node("JsonNode", "builtins.str", number + len(content), content=json.dumps(content), is_json=True)


def list_of(*items, number=30_000):
    return node("ListNode", "builtins.list", number, content=list(items))


def tuple_of(*items, number=40_000):
    return node("TupleNode", "builtins.tuple", number, content=list(items))


def nothing(number=50_000):
    return node("JsonNode", "builtins.str", number, content="null", is_json=True)


def empty_dict(number=60_000):
    return node("DictNode", "builtins.dict", number, content={}, key_types=list_of(number=number + 1))


def with_attribute(schema, **attributes):
    """The model with one attribute more, or another one."""
    content = schema["content"]
    for name, state in attributes.items():
        if name not in content["content"]:
            content["key_types"]["content"].append(content["key_types"]["content"][0])
        content["content"][name] = state
    return schema


# -- code in the schema ------------------------------------------------------------------------------------------------

CODE = {
    "os.system": lambda command: node("FunctionNode", "os.system"),
    "posix.system as a type": lambda command: node("TypeNode", "posix.system"),
    "builtins.eval": lambda command: node("FunctionNode", "builtins.eval"),
    "builtins.exec as a type": lambda command: node("TypeNode", "builtins.exec"),
    "a function of a stranger": lambda command: node("FunctionNode", "trap_of_a_stranger.evil"),
    "a class of a stranger": lambda command: node("ObjectNode", "trap_of_a_stranger.Evil", content=empty_dict()),
    "a bare class of a stranger": lambda command: node("ObjectNode", "trap_of_a_stranger.Evil"),
    "a class under a dotted name": lambda command: node("ObjectNode", "sklearn.utils.os.PathLike"),
    "a method": lambda command: node(
        "MethodNode", "lvq.estimators.margin.GLVQ",
        content={"func": "fit", "obj": node("ObjectNode", "lvq.estimators.margin.GLVQ", 10_001)},
    ),
    "functools.partial": lambda command: node(
        "PartialNode", "functools.partial",
        content={
            "func": node("FunctionNode", "os.system", 10_001), "args": tuple_of(value(command)),
            "kwds": empty_dict(), "namespace": nothing(),
        },
    ),
    "operator.methodcaller": lambda command: node(
        "OperatorFuncNode", "operator.methodcaller", attrs=tuple_of(value("system"), value(command))
    ),
    "operator.call": lambda command: node(
        "OperatorFuncNode", "operator.call", attrs=tuple_of(node("FunctionNode", "os.system", 10_001), value(command))
    ),
    "subprocess.Popen": lambda command: node(
        "ConstructorFromReduceNode", "subprocess.Popen", content=tuple_of(list_of(value("sh"), value("-c")))
    ),
    "a call of a trusted class": lambda command: node(
        "ConstructorFromReduceNode", "lvq.estimators.margin.GLVQ", content=tuple_of()
    ),
    "a list that is called": lambda command: node("ListNode", "trap_of_a_stranger.Evil", content=[value(command)]),
    "a list of a trusted class": lambda command: node("ListNode", "lvq.rejection.measures.Combination", content=[]),
    "a tuple of a stranger": lambda command: node("TupleNode", "trap_of_a_stranger.Evil", content=[value(command)]),
    "a key that is called": lambda command: node(
        "DictNode", "builtins.dict", content={command: nothing()},
        key_types=list_of(node("FunctionNode", "os.system", 10_001)),
    ),
    "a key of a trusted class": lambda command: node(
        "DictNode", "builtins.dict", content={command: nothing()},
        key_types=list_of(node("TypeNode", "lvq.rejection.measures.Combination", 10_001)),
    ),
    "a key by a function of numpy": lambda command: node(
        "DictNode", "builtins.dict", content={command: nothing()},
        key_types=list_of(node("FunctionNode", "numpy.absolute", 10_001)),
    ),
    "a default that is called": lambda command: node(
        "DefaultDictNode", "collections.defaultdict",
        content={"main": empty_dict(), "default_factory": node("FunctionNode", "os.system", 10_001)},
    ),
    "a random generator": lambda command: node(
        "RandomGeneratorNode", "numpy.random._generator.Generator",
        content={
            "bit_generator": node(
                "DictNode", "builtins.dict", 10_001, content={"bit_generator": value("set_bit_generator")},
                key_types=list_of(node("TypeNode", "builtins.str", 10_002)),
            ),
            "seed_seq": empty_dict(),
        },
    ),
    "a cached node": lambda command: node("CachedNode", "lvq.estimators.margin.GLVQ", 1),
    "a node for trees": lambda command: node(
        "TreeNode", "os.system", content=empty_dict(), __reduce__={"args": tuple_of(value(command))}
    ),
    "a loss": lambda command: node(
        "LossNode", "sklearn.utils.os.system", content=empty_dict(), __reduce__={"args": tuple_of(value(command))}
    ),
    "bytes": lambda command: node("BytesNode", "builtins.bytes", file="1.npy"),
    "a sparse matrix": lambda command: node(
        "SparseMatrixNode", "scipy.sparse._base.spmatrix", type="scipy", file="1.npy"
    ),
}  # fmt: skip


@pytest.mark.parametrize("protocol", [2, 0])
@pytest.mark.parametrize("attack", CODE)
def test_code_is_not_run(attack, protocol, trap, plain, sealed):
    path, schema, arrays = plain
    schema["protocol"] = protocol
    sealed(path, with_attribute(schema, init=CODE[attack](trap)), arrays)
    with pytest.raises(LoadError, match=r"model.skops (is not loaded, as .* holds |cannot be built)"):
        load(path)


@pytest.mark.parametrize("attack", CODE)
def test_code_in_the_place_of_the_model(attack, trap, plain, sealed):
    path, _, _ = plain
    sealed(path, CODE[attack](trap) | {"protocol": 2, "_skops_version": "0.16.0"}, {})
    with pytest.raises(LoadError, match=r"^model.skops "):
        load(path)


def test_two_objects_under_one_id(trap, plain, sealed):
    """skops looks at the first; the second is what a careless check would see."""
    path, schema, arrays = plain
    strange = node("FunctionNode", "numpy.absolute", 77_777)
    key = node("TypeNode", "builtins.str", 77_777)
    keys = node("DictNode", "builtins.dict", content={"-1": nothing()}, key_types=list_of(key))
    sealed(path, with_attribute(schema, init=strange, class_weight=keys), arrays)
    with pytest.raises(LoadError, match=r"holds two objects under one id"):
        load(path)


@pytest.mark.parametrize("name", ["predict", "_distances", "fit", "__class__", "__dict__", "_parts"])
def test_attributes_in_the_place_of_methods(name, plain, sealed):
    path, schema, arrays = plain
    sealed(path, with_attribute(schema, **{name: node("FunctionNode", "numpy.absolute")}), arrays)
    with pytest.raises(LoadError, match=rf"holds an attribute '{name}' in the place of a method"):
        load(path)


def test_trusting_a_name_opens_no_other_door(trap, plain, sealed, monkeypatch):
    """A trusted function is held, never called."""
    path, schema, arrays = plain
    keys = CODE["a key that is called"](trap)
    sealed(path, with_attribute(schema, class_weight=keys), arrays)
    with pytest.raises(LoadError, match=r"os.system in the place of a key's type"):
        load(path, trusted=["os.system"])


# -- arrays ------------------------------------------------------------------------------------------------------------


class Payload:
    """What a pickle would run."""

    def __init__(self, command):
        self.command = command

    def __reduce__(self):
        return os.system, (self.command,)


def replaced(arrays, content):
    """Another content for the first array."""
    return arrays | {next(iter(arrays)): content}


def header(shape, descr="<f8"):
    text = repr({"descr": descr, "fortran_order": False, "shape": shape}).encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text


def test_a_pickle_in_an_array(trap, plain, sealed, npy):
    path, schema, arrays = plain
    sealed(path, schema, replaced(arrays, npy(np.array([Payload(trap)], dtype=object), allow_pickle=True)))
    with pytest.raises(LoadError, match=r"holds an array of object"):
        load(path)


def test_a_pickle_in_the_place_of_an_array(trap, plain, sealed):
    path, schema, arrays = plain
    sealed(path, schema, replaced(arrays, pickle.dumps(Payload(trap))))
    with pytest.raises(LoadError, match=r"holds an array whose header cannot be read"):
        load(path)


def test_an_archive_in_the_place_of_an_array(plain, sealed):
    path, schema, arrays = plain
    buffer = io.BytesIO()
    np.savez_compressed(buffer, a=np.zeros(10**6))
    sealed(path, schema, replaced(arrays, buffer.getvalue()))
    with pytest.raises(LoadError, match=r"holds an array whose header cannot be read"):
        load(path)


SHAPES = [(10**12,), (2**40, 2**40), (2**63,), (-1,), (2**62, 4, 2), (10**12, 0, 10**12, 3)]


@pytest.mark.parametrize("shape", SHAPES)
def test_absurd_shapes(shape, plain, sealed):
    path, schema, arrays = plain
    sealed(path, schema, replaced(arrays, header(shape) + bytes(16)))
    with pytest.raises(LoadError, match=r"^model.skops "):
        load(path)


@pytest.mark.parametrize("descr", ["|V8", "|O", "<c16", [("a", "|O")], "eval('1')", "(" * 3000])
def test_absurd_types(descr, plain, sealed):
    path, schema, arrays = plain
    sealed(path, schema, replaced(arrays, header((2,), descr) + bytes(16)))
    with pytest.raises(LoadError, match=r"holds an array (of|whose header cannot be read)"):
        load(path)


def test_a_random_state_beyond_its_end(plain, sealed, tmp_path, members_of):
    """NumPy reads on from the position it is told, wherever that is."""
    path = tmp_path / "model.skops"
    save(GLVQ(random_state=np.random.RandomState(0)), path)
    arrays = members_of(path)
    schema = json.loads(arrays.pop("schema.json"))
    state = schema["content"]["content"]["random_state"]["content"]["content"]["state"]["content"]
    state["pos"]["content"] = "1000000"
    sealed(path, schema, arrays)
    with pytest.raises(LoadError, match=r"holds a random state that is none"):
        load(path)


# -- models that would answer wrongly or let compiled code run wild ----------------------------------------------------


def test_statistics_of_another_shape(tmp_path, members_of, sealed, npy):
    """The compiled solver checks no bounds."""
    from lvq import OLVQ1

    path = tmp_path / "model.skops"
    save(OLVQ1(random_state=0).fit([[0.0, 1.0], [4.0, 4.5]], [0, 1]), path)
    arrays = members_of(path)
    schema = json.loads(arrays.pop("schema.json"))
    memory = schema["content"]["content"]["_memory"]["content"]["content"]["statistics"]["content"]
    arrays[memory[-1]["file"]] = npy(np.zeros(1))
    sealed(path, schema, arrays)
    with pytest.raises(LoadError, match=r"OLVQ1 has statistics \(rates\) that do not fit its prototypes"):
        load(path)


def test_a_scaler_of_another_width(fitted, file, members_of, sealed, npy):
    arrays = members_of(file)
    schema = json.loads(arrays.pop("schema.json"))
    steps = schema["content"]["content"]["estimator_"]["content"]["content"]["steps"]["content"]
    scaler = steps[0]["content"][1]["content"]["content"]
    arrays[scaler["mean_"]["file"]] = npy(np.zeros(2))
    sealed(file, schema, arrays)
    with pytest.raises(LoadError, match=r"StandardScaler has mean_ of shape \(2,\) for 4 features"):
        load(file)


def test_a_thing_that_is_no_estimator(plain, sealed):
    path, _, _ = plain
    sealed(path, list_of(value("a")) | {"protocol": 2, "_skops_version": "0.16.0"}, {})
    with pytest.raises(LoadError, match=r"it holds no estimator but list"):
        load(path)


# -- archives ----------------------------------------------------------------------------------------------------------


def archive_of(path, entries, **options):
    with zipfile.ZipFile(path, "w", **options) as archive:
        for name, content in entries:
            archive.writestr(name, content)


@pytest.mark.parametrize(
    "name", ["../../evil.npy", "/etc/evil.npy", "C:\\evil.npy", "a/1.npy", "1.npy/", "schema.json\n", "x.pkl"]
)
def test_strange_members(name, file):
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr(name, b"evil")
    with pytest.raises(LoadError, match=r"it has a strange member"):
        load(file)
    assert not (file.parent / "evil.npy").exists()


def test_links(file):
    with zipfile.ZipFile(file, "a") as archive:
        info = zipfile.ZipInfo("99.npy")
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(info, "/etc/passwd")
    with pytest.raises(LoadError, match=r"its member 99.npy is a link"):
        load(file)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_doubles(file):
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr("schema.json", b"{}")
    with pytest.raises(LoadError, match=r"its member 'schema.json' stands in it 2 times"):
        load(file)


def test_a_bomb(file):
    with zipfile.ZipFile(file, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("99.npy", bytes(30_000_000))
    assert file.stat().st_size < 100_000
    with pytest.raises(LoadError, match=r"would take 30\d+ bytes of memory, more than max_bytes=1000000"):
        load(file, max_bytes=1_000_000)


def test_a_file_that_is_too_large(file):
    with pytest.raises(LoadError, match=r"has \d+ bytes, more than max_bytes=1000. If you expect"):
        load(file, max_bytes=1000)


@pytest.mark.parametrize("size", [10, 2**31])
def test_sizes_that_are_not_true(size, file):
    """The directory of an archive says how long a member is; it may lie."""
    content = bytearray(file.read_bytes())
    place = content.rindex(b"schema.json") - 46  # its entry in the directory
    assert content[place : place + 4] == b"PK\x01\x02"
    content[place + 24 : place + 28] = struct.pack("<I", size)
    file.write_bytes(content)
    with pytest.raises(LoadError, match=r"^model.skops (is damaged|would take)"):
        load(file)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_ways_of_packing(method, file, members_of):
    with zipfile.ZipFile(file) as archive:
        entries = [(name, archive.read(name)) for name in archive.namelist()]
    archive_of(file, entries, compression=method)
    with pytest.raises(LoadError, match=r"is packed in another way"):
        load(file)


def test_encrypted(file):
    content = bytearray(file.read_bytes())
    for start, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = content.index(start)
        content[place + offset] |= 1
    file.write_bytes(content)
    with pytest.raises(LoadError, match=r"is packed in another way"):
        load(file)


@pytest.mark.parametrize("depth", [500, 200_000])
def test_deep_schemas(depth, plain, members_of):
    from lvq.persistence.container import pack

    path, _, arrays = plain
    deep = b'{"__class__":' + b"[" * depth + b"]" * depth + b"}"
    path.write_bytes(pack({"schema.json": deep, **arrays}, {"version": "0", "scikit-learn": "0", "skops": "0"}))
    with pytest.raises(LoadError, match=r"^model.skops "):
        load(path)


def test_names_that_stand_twice(plain):
    """Two readers of JSON can see two different things in it."""
    from lvq.persistence.container import pack

    path, schema, arrays = plain
    double = json.dumps(schema).replace('"__class__": "GLVQ"', '"__class__": "os", "__class__": "GLVQ"').encode()
    path.write_bytes(pack({"schema.json": double, **arrays}, {"version": "0", "scikit-learn": "0", "skops": "0"}))
    with pytest.raises(LoadError, match=r"a name stands twice in one object"):
        load(path)


def test_members_that_nothing_refers_to(plain, sealed, npy):
    path, schema, arrays = plain
    sealed(path, schema, arrays | {"99.npy": npy(np.zeros(3))})
    with pytest.raises(LoadError, match=r"a member that nothing refers to, 99.npy"):
        load(path)


# -- other files -------------------------------------------------------------------------------------------------------


def write_pickle(path, command):
    path.write_bytes(pickle.dumps(Payload(command)))


def write_joblib(path, command):
    joblib.dump(Payload(command), path)


def write_packed_joblib(path, command):
    joblib.dump(Payload(command), path, compress=("zlib", 3))


def write_old_pickle(path, command):
    path.write_bytes(pickle.dumps(Payload(command), protocol=0))


def write_skops(path, command):
    import skops.io

    skops.io.dump(GLVQ(), path)


def write_torch_like(path, command):
    archive_of(path, [("archive/data.pkl", pickle.dumps(Payload(command)))])


FILES = {
    "empty": (lambda path, _: path.write_bytes(b""), "is empty"),
    "text": (lambda path, _: path.write_text("a,b\n1,2\n"), "it is no zip archive"),
    "half a zip": (lambda path, _: path.write_bytes(b"PK\x03\x04" + bytes(50)), "is damaged or cut short"),
    "pickle": (write_pickle, "looks like a pickle or joblib file"),
    "old pickle": (write_old_pickle, "it is no zip archive"),
    "joblib": (write_joblib, "looks like a pickle or joblib file"),
    "packed joblib": (write_packed_joblib, "looks like a pickle or joblib file"),
    "another zip": (lambda path, _: archive_of(path, [("a.txt", "hello")]), "it has no member lvq.json"),
    "skops": (write_skops, "it has no member lvq.json"),
    "a zip with a pickle": (write_torch_like, "it has no member lvq.json"),
    "folder": (lambda path, _: path.mkdir(), "is not a file but a folder"),
    "pipe": (lambda path, _: os.mkfifo(path), "is not a file"),
}


@pytest.mark.parametrize("kind", FILES)
def test_other_files(kind, trap, tmp_path):
    write, words = FILES[kind]
    path = tmp_path / "other.skops"
    write(path, trap)
    with pytest.raises(LoadError, match=rf"^other.skops .*{words}"):
        load(path)


def test_no_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "nothing.skops")


HEADERS = {
    "newer": ({"format": 2, "version": "9.0"}, "is of format 2, written by lvq 9.0; this lvq reads formats up to 1"),
    "older": ({"format": 0}, "is of format 0, which no release of lvq has written"),
    "another library": ({"library": "cart"}, "it speaks of 'cart'"),
    "no format": ({"format": "one"}, "it has no number of its format"),
    "no sums": ({"members": {"1.npy": 3}}, "it has no checksums"),
    "no members": ({"members": {}}, "its header and its members differ in"),
}


@pytest.mark.parametrize("kind", HEADERS)
def test_headers(kind, file):
    change, words = HEADERS[kind]
    with zipfile.ZipFile(file) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members["lvq.json"] = json.dumps(json.loads(members["lvq.json"]) | change).encode()
    archive_of(file, members.items())
    with pytest.raises(LoadError, match=f"^model.skops .*{words}"):
        load(file)


def test_a_newer_skops(plain, sealed):
    path, schema, arrays = plain
    sealed(path, schema | {"protocol": 99}, arrays)
    with pytest.raises(LoadError, match=r"cannot be built .*protocol 99"):
        load(path)


def test_parameters_that_fit_would_refuse(plain, sealed):
    path, schema, arrays = plain
    schema["content"]["content"]["max_iter"]["content"] = "-3"
    sealed(path, schema, arrays)
    with pytest.raises(LoadError, match=r"does not hold together \(InvalidParameterError: The 'max_iter' parameter"):
        load(path)


def test_a_pipeline_without_its_end(file, members_of, sealed):
    arrays = members_of(file)
    schema = json.loads(arrays.pop("schema.json"))
    steps = schema["content"]["content"]["estimator_"]["content"]["content"]["steps"]["content"]
    steps.pop()
    used = json.dumps(schema)
    sealed(file, schema, {name: content for name, content in arrays.items() if f'"{name}"' in used})
    with pytest.raises(LoadError, match=r"RejectClassifier has no estimator that answers"):
        load(file)
