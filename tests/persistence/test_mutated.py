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


# -- a changed content with a valid checksum ---------------------------------------------------------------------------


CHANGES = {
    "nan": lambda values: np.where(np.arange(values.size).reshape(values.shape) == 0, np.nan, values),
    "narrower": lambda values: np.ascontiguousarray(values[..., :-1]),
    "shorter": lambda values: values[:-1],
    "flat": lambda values: values.ravel(),
    "empty": lambda values: values[:0],
    "reversed": lambda values: np.ascontiguousarray(values[::-1]),
    "shifted": lambda values: values + 7,
}
ARRAYS = [
    *(("prototypes", change) for change in ("nan", "narrower", "shorter", "flat", "empty")),
    *(("relevance", change) for change in ("nan", "narrower", "flat", "empty")),
    *(("labels", change) for change in ("shorter", "reversed", "shifted", "empty")),
    ("classes", "shorter"),
]


@pytest.mark.parametrize(("name", "change"), ARRAYS)
def test_arrays_that_do_not_fit(name, change, fitted, file, edit):
    editable = edit(file)
    original = getattr(fitted.estimator_[-1].model_, name)
    places = [index for index, array in enumerate(editable.arrays) if same(array, original)]
    assert places
    for index in places:
        editable.arrays[index] = CHANGES[change](original)
    editable.write()
    refused(file, r"contains a model that is not consistent")


def same(one, other):
    return one.dtype == other.dtype and np.array_equal(one, other)


EDITS = {
    "unknown class": ("lvq.GMLVQ", "lvq.GMLVQ2"),
    "another class": ("StandardScaler", "Normaliser"),
    "a function for a class": ("lvq.RejectClassifier", "lvq.rejection.point.accept_mask"),
    "another kind of object": ('["object"', '["named_tuple"'),
    "dicts as lists": ('["dict"', '["list"'),
    "named tuples as tuples": ('["named_tuple"', '["tuple"'),
    "another metric": ("metrics.Mahalanobis", "local_metrics.LocalMahalanobis"),
    "a metric without parameters": ("metrics.Mahalanobis", "metrics.Euclidean"),
    "no kernel": ("links.Gaussian", "links.Identity"),
    "another number of features": ('"n_features_in_",4', '"n_features_in_",3'),
    "another parameter": ('"max_iter",', '"max_iteration",'),
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
