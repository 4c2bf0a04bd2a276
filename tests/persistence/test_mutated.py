"""Damaged files: each is refused with a clear message."""

import json

import numpy as np
import pytest

from lvq.persistence import LoadError, load


def refused(file, match=""):
    with pytest.raises(LoadError, match=rf"^model\.lvq .*{match}.*\.$"):
        load(file)


# -- damaged bytes -----------------------------------------------------------------------------------------------------


def flip_bit(content, rng):
    place = rng.integers(len(content))
    content[place] ^= 1 << rng.integers(8)


def cut(content, rng):
    del content[rng.integers(len(content)) :]


def insert(content, rng):
    start = rng.integers(len(content))
    content[start:start] = rng.bytes(rng.integers(1, 50))


DAMAGES = {flip_bit: 60, cut: 20, insert: 20}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_bytes(damage, saved, file):
    for seed in range(DAMAGES[damage]):
        content = bytearray(saved)
        damage(content, np.random.default_rng(seed))
        file.write_bytes(content)
        refused(file)


def test_every_byte_of_the_first_lines(saved, file):
    for place in range(saved.index(b"{")):
        for bit in (0, 6):
            content = bytearray(saved)
            content[place] ^= 1 << bit
            file.write_bytes(content)
            refused(file)


# -- a changed content with a valid checksum ---------------------------------------------------------------------------


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
    (name, change)
    for name, changes in {
        "prototypes": (with_nan, with_infinity, narrower, shorter, flat, empty, whole),
        "relevance": (with_nan, with_infinity, narrower, flat, empty),
        "labels": (shorter, reversed_, shifted, empty),
        "classes": (shorter, empty),
    }.items()
    for change in changes
]


@pytest.mark.parametrize(("name", "change"), ARRAYS, ids=lambda part: getattr(part, "__name__", part))
def test_arrays_that_do_not_fit(name, change, fitted, file, edit):
    editable = edit(file)
    original = getattr(fitted.estimator_[-1].model_, name)
    places = [index for index, array in enumerate(editable.arrays) if same(array, original)]
    assert places
    for index in places:
        editable.arrays[index] = change(original)
    editable.write()
    refused(file, r"contains a model that is not consistent")


def same(one, other):
    return one.dtype == other.dtype and np.array_equal(one, other)


@pytest.mark.parametrize("how", ["lost", "null", "number"])
def test_attributes_lost_or_of_another_type(how, fitted, saved, file, edit):
    """Every attribute that a fitted model consists of."""
    model = fitted.estimator_[-1]
    present = {"model_", "_state"} & set(vars(model)) or {"_params", "_labels", "_metric", "_link", "_memory"}
    for name in sorted(present | {"n_features_in_"}):
        file.write_bytes(saved)
        editable = edit(file)
        for attributes in editable.objects("lvq.GMLVQ"):
            if name in attributes:
                place = attributes.index(name)
                attributes[place : place + 2] = [] if how == "lost" else [name, None if how == "null" else -3]
        drop_unused(editable)
        editable.write()
        refused(file, r"contains a model that is not consistent")


def drop_unused(editable):
    """Renumber the arrays that are still referred to."""
    used = []

    def follow(node):
        if isinstance(node, list):
            if node[:1] in (["array"], ["random_state"]):
                if node[1] not in used:
                    used.append(node[1])
                node[1] = used.index(node[1])
            else:
                for part in node:
                    follow(part)

    follow(editable.header["model"])
    editable.arrays = [editable.arrays[index] for index in used]
    editable.header["arrays"] = [editable.header["arrays"][index] for index in used]


EDITS = {
    "unknown class": ("lvq.GMLVQ", "lvq.GMLVQ2"),
    "unknown module": ("lvq.rejection.path", "lvq.rejection.nowhere"),
    "another class": ("StandardScaler", "Normaliser"),
    "a module of another library": ("lvq.model.links", "os"),
    "a function for a class": ("lvq.RejectClassifier", "lvq.rejection.point.accept_mask"),
    "another kind of object": ('["object"', '["named_tuple"'),
    "an unknown kind": ('["object"', '["yaml"'),
    "dicts as lists": ('["dict"', '["list"'),
    "arrays as lists": ('["array"', '["list"'),
    "tuples as lists": ('["tuple"', '["list"'),
    "named tuples as tuples": ('["named_tuple"', '["tuple"'),
    "another metric": ("metrics.Mahalanobis", "local_metrics.LocalMahalanobis"),
    "a diagonal metric": ("metrics.Mahalanobis", "metrics.Diagonal"),
    "a metric without parameters": ("metrics.Mahalanobis", "metrics.Euclidean"),
    "no kernel": ("links.Gaussian", "links.Identity"),
    "another parameter": ('"max_iter",', '"max_iteration",'),
    "another number": ('"rank",2', '"rank",-2'),
}


@pytest.mark.parametrize("edit_name", EDITS)
def test_edited_headers(edit_name, saved, file, edit):
    old, new = EDITS[edit_name]
    editable = edit(file)
    text = json.dumps(editable.header, separators=(",", ":"))
    assert old in text
    editable.write(text.replace(old, new).encode())
    refused(file, "contains")
    file.write_bytes(saved.replace(old.encode(), new.encode()))
    refused(file, "is damaged: its checksum")


def test_a_change_that_gives_another_consistent_model(saved, file):
    """Only the checksum detects it."""
    file.write_bytes(saved.replace(b"links.Gaussian", b"links.Cauchy"))
    refused(file, "its checksum does not match its content")
