"""More than two hundred damaged files: each is refused with a sentence."""

import copy
import json
import zipfile

import numpy as np
import pytest

from lvq.persistence import LoadError, load, save

pytestmark = pytest.mark.usefixtures("skops")

# -- damage to bytes, by someone who knows nothing ---------------------------------------------------------------------


def flip_bit(content, rng):
    place = rng.integers(len(content))
    content[place] ^= 1 << rng.integers(8)


def flip_many(content, rng):
    for place in rng.integers(len(content), size=20):
        content[place] ^= 1 << rng.integers(8)


def cut(content, rng):
    del content[rng.integers(len(content)) :]


def cut_out(content, rng):
    start = rng.integers(len(content))
    del content[start : start + rng.integers(1, 200)]


def insert(content, rng):
    start = rng.integers(len(content))
    content[start:start] = rng.bytes(rng.integers(1, 50))


def blank(content, rng):
    start = rng.integers(len(content))
    end = min(len(content), start + rng.integers(1, 500))
    content[start:end] = bytes(end - start)


DAMAGES = {flip_bit: 60, flip_many: 10, cut: 20, cut_out: 20, insert: 20, blank: 10}


@pytest.mark.parametrize(
    ("damage", "seed"), [(damage, seed) for damage, count in DAMAGES.items() for seed in range(count)]
)
def test_damaged_bytes(damage, seed, file):
    before = file.read_bytes()
    content = bytearray(before)
    damage(content, np.random.default_rng(seed))
    if content == before:  # zeros in the place of zeros
        content[-1] ^= 1
    refused(file, content)


def refused(file, content):
    file.write_bytes(content)
    with pytest.raises(LoadError, match=r"^model\.skops .*\.$"):
        load(file)


def test_every_byte_of_the_table_of_contents_counts(file):
    """Dates, attributes and lengths stand there, which change nothing in the model."""
    content = file.read_bytes()
    for place in range(content.rfind(b"PK\x01\x02"), len(content)):
        for bit in (0, 6):
            changed = bytearray(content)
            changed[place] ^= 1 << bit
            refused(file, changed)


# -- damage to members, under checksums that no longer fit -------------------------------------------------------------


def rewrite(file, change):
    """The archive with changed members and the header it had."""
    with zipfile.ZipFile(file) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)


@pytest.mark.parametrize("seed", range(20))
def test_swapped_members(seed, file):
    rng = np.random.default_rng(seed)

    def swap(members):
        names = [name for name in members if name.endswith(".npy")]
        while True:
            one, other = rng.choice(names, 2, replace=False)
            if members[one] != members[other]:
                break
        members[one], members[other] = members[other], members[one]

    rewrite(file, swap)
    with pytest.raises(LoadError, match=r"model.skops is damaged: the checksum of its member \S+ is not that"):
        load(file)


@pytest.mark.parametrize("what", ["lost", "added", "renamed"])
def test_members_lost_or_found(what, file):
    def change(members):
        name = next(name for name in members if name.endswith(".npy"))
        if what == "added":
            members["999.npy"] = members[name]
        else:
            content = members.pop(name)
            if what == "renamed":
                members["999.npy"] = content

    rewrite(file, change)
    with pytest.raises(LoadError, match=r"its header and its members differ in"):
        load(file)


# -- damage to the meaning, under checksums that fit -------------------------------------------------------------------


def attributes(schema, *path):
    """The attributes of an object inside the schema, as skops has them."""
    node = schema
    for name in path:
        node = node["content"]["content"][name]
        if node["__loader__"] == "ListNode":  # a pipeline's steps: the last one's estimator
            node = node["content"][-1]["content"][1]
    return node["content"]["content"]


def array_file(schema, name):
    """The member that holds an array of the model."""
    return attributes(schema, "estimator_", "steps")[name]["file"]


def changed_array(name, change):
    def mutate(schema, arrays, npy):
        member = array_file(schema, name)
        values = np.load(__import__("io").BytesIO(arrays[member]))
        arrays[member] = npy(change(values))

    mutate.__name__ = f"{name} {change.__name__}"
    return mutate


def with_nan(values):
    values = values.astype(float)
    values.flat[0] = np.nan
    return values


def with_infinity(values):
    values = values.astype(float)
    values.flat[-1] = np.inf
    return values


def narrower(values):
    return np.ascontiguousarray(values[..., :-1])


def shorter(values):
    return values[:-1]


def flat(values):
    return values.ravel()


def empty(values):
    return values[:0]


def whole(values):
    return values.astype(np.int64)


def reversed_(values):
    return np.ascontiguousarray(values[::-1])


def shifted(values):
    return values + 7


ARRAYS = [
    changed_array(name, change)
    for name, changes in {
        "prototypes_": (with_nan, with_infinity, narrower, shorter, flat, empty, whole),
        "omega_": (with_nan, with_infinity, narrower, flat, empty),
        "_labels": (shorter, reversed_, shifted, empty),
        "classes_": (shorter, empty),
        "prototype_labels_": (shorter, reversed_),
    }.items()
    for change in changes
]


@pytest.mark.parametrize("mutate", ARRAYS, ids=lambda mutate: mutate.__name__)
def test_arrays_that_do_not_fit(mutate, file, members_of, sealed, npy):
    arrays = members_of(file)
    schema = json.loads(arrays.pop("schema.json"))
    mutate(schema, arrays, npy)
    sealed(file, schema, arrays)
    with pytest.raises(LoadError, match=r"model.skops holds a model that cannot be right: (GMLVQ|RejectClassifier) "):
        load(file)


MODEL_ATTRIBUTES = [
    "_params",
    "_labels",
    "_metric",
    "_link",
    "_units",
    "_memory",
    "classes_",
    "prototypes_",
    "prototype_labels_",
    "omega_",
]


@pytest.mark.parametrize("name", MODEL_ATTRIBUTES)
@pytest.mark.parametrize("how", ["lost", "null", "another"])
def test_attributes_lost_or_of_another_type(name, how, file, members_of, sealed):
    arrays = members_of(file)
    schema = json.loads(arrays.pop("schema.json"))
    nothing = {
        "__class__": "str",
        "__module__": "builtins",
        "__loader__": "JsonNode",
        "content": "null",
        "is_json": True,
    }
    for model in models_in(schema):
        names, kinds = model["content"]["content"], model["content"]["key_types"]
        if how == "null":
            names[name] = nothing | {"__id__": 10_001}
        elif how == "another":
            names[name] = copy.deepcopy(names["max_iter"])
        else:
            del kinds["content"][list(names).index(name)]
            kinds["__id__"] = 10_002 + names[name]["__id__"]
            del names[name]
    arrays = only_used(schema, arrays)
    sealed(file, schema, arrays)
    with pytest.raises(LoadError, match=r"model.skops holds a model that cannot be right: (GMLVQ|RejectClassifier) "):
        load(file)


def models_in(node):
    """The nodes of fitted GMLVQ models."""
    if isinstance(node, dict):
        if node.get("__class__") == "GMLVQ" and "prototypes_" in node["content"]["content"]:
            yield node
        for value in node.values():
            yield from models_in(value)
    elif isinstance(node, list):
        for value in node:
            yield from models_in(value)


def only_used(schema, arrays):
    text = json.dumps(schema)
    return {name: content for name, content in arrays.items() if f'"{name}"' in text}


EDITS = {
    "unknown class": ("GMLVQ", "GMLVQ2"),
    "unknown module": ("lvq.estimators.margin", "lvq.estimators.nowhere"),
    "another class": ("StandardScaler", "Normaliser"),
    "a module of another library": ("lvq.model.links", "os"),
    "a function for a class": ("RejectClassifier", "_checked_weight"),
    "an abstract class": ("GMLVQ", "RelativeLVQ"),
    "another loader": ("ObjectNode", "ListNode"),
    "an unknown loader": ("JsonNode", "YamlNode"),
    "dicts as lists": ("DictNode", "ListNode"),
    "arrays as lists": ("NdArrayNode", "ListNode"),
    "tuples as lists": ("TupleNode", "ListNode"),
    "lists as sets": ("ListNode", "SetNode"),
    "types as functions": ("TypeNode", "FunctionNode"),
    "str as int": ('"__class__": "str", "__module__": "builtins", "__loader__": "TypeNode"',
                   '"__class__": "int", "__module__": "builtins", "__loader__": "TypeNode"'),
    "another metric": ("Matrix", "LocalMatrix"),
    "another metric still": ('"Matrix"', '"Diagonal"'),
    "no kernel": ('"Gaussian"', '"Identity"'),
    "another measure": ('\\"combined\\"', '\\"radar\\"'),
}  # fmt: skip


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("resealed", [False, True])
def test_edited_schemas(edit, resealed, file, members_of, sealed):
    old, new = EDITS[edit]
    arrays = members_of(file)
    text = json.dumps(json.loads(arrays.pop("schema.json")))
    assert old in text
    text = text.replace(old, new)
    if resealed:
        sealed(file, json.loads(text), arrays)
    else:
        rewrite(file, lambda members: members.update({"schema.json": text.encode()}))
    with pytest.raises(LoadError, match=r"^model.skops (is|holds|cannot) "):
        load(file)


def test_there_are_two_hundred():
    count = sum(DAMAGES.values()) + 20 + 3 + len(ARRAYS) + 3 * len(MODEL_ATTRIBUTES) + 2 * len(EDITS)
    assert count >= 200


def test_kernels_must_be_the_saved_ones(fitted, file, members_of, sealed, data, same_answers):
    """A change that leaves a model which could be right is refused by the checksum alone, so that must be looked at."""
    save(fitted, file)
    rewrite(
        file, lambda members: members.update({"schema.json": members["schema.json"].replace(b"Gaussian", b"Cauchy")})
    )
    with pytest.raises(LoadError, match=r"the checksum of its member schema.json"):
        load(file)
