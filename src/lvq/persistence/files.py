"""`save` and `load`: estimators in files that contain arrays and names, and no code. A file has these parts:

    lvq model 1
    <SHA-256 of everything below>
    {"arrays": [[type, order, shape], ...], "model": ..., "versions": {...}}
    <bytes of the arrays, one after another>

There is no compression and there are no offsets: a file takes as much memory as it has bytes, and every byte belongs
to one array. The same model gives the same bytes. `encoding.py` describes the model in the header.
"""

import hashlib
import json
import math
import os
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.lib.format import descr_to_dtype, dtype_to_descr
from sklearn.base import BaseEstimator

from lvq._files import write_atomically
from lvq._warnings import warn
from lvq.persistence.consistency import require
from lvq.persistence.encoding import Decoder, Encoder
from lvq.persistence.trusted import Trusted, UntrustedError, trusted_names
from lvq.typing import JSONValue

TITLE, FORMAT = b"lvq model ", b"1"
MAX_BYTES = 2**30
HEADER_MEMORY = 32  # bytes of memory that a byte of the header may take
PICKLES = (b"\x80", b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda", b"\x1f\x8b")  # first bytes, packed or not


class LoadError(ValueError):
    """A model file that is not loaded, and why."""


def save(model: BaseEstimator, path: str | os.PathLike[str], *, trusted: Iterable[Trusted] = ()) -> None:
    """Write an estimator to a file that `load` reads.

    The file contains no code. It appears complete or not at all; an interrupted write leaves the previous file. An
    existing file is replaced, as by `joblib.dump`.

    Parameters
    ----------
    model : estimator
        A model of this library, a `RejectClassifier`, a Pipeline or search with such a model; or any estimator of
        scikit-learn that consists of attributes, as trees do not. Fitted or not.
    path : str or path
        Where to write: a new path or a regular file. Usually the name ends in ``.lvq``.
    trusted : list of classes, functions or their full names, default=()
        Classes and functions of your own that the model contains, such as a cost, a kernel or a measure. They must be
        importable where the file is loaded, and `load` must be given them too.

    Examples
    --------
    >>> import tempfile
    >>> from lvq import GLVQ, load, save
    >>> model = GLVQ(init=[[0.0], [4.0]]).fit([[0], [4]], ["left", "right"])
    >>> file = tempfile.mkdtemp() + "/model.lvq"
    >>> save(model, file)
    >>> load(file).predict([[1.0]])
    array(['left'], dtype='<U5')
    """
    if not isinstance(model, BaseEstimator) or isinstance(model, type):
        raise TypeError(f"lvq.save takes an estimator, got {model!r}.")
    names = trusted_names(trusted)
    data = to_bytes(model, names)
    try:
        same = to_bytes(from_bytes(data, names, math.inf)[0], names) == data
    except LoadError as error:
        raise ValueError(f"lvq.save cannot store this {type(model).__name__}: a file of it {error}") from error
    if not same:
        fitted = hasattr(model, "best_estimator_")
        remedy = "Save its best_estimator_, the fitted model" if fitted else "Use joblib.dump"
        raise ValueError(f"lvq.save cannot store this {type(model).__name__} exactly. {remedy}.")
    with write_atomically(path) as file:
        file.write(data)


def load(path: str | os.PathLike[str], *, trusted: Iterable[Trusted] = (), max_bytes: int = MAX_BYTES) -> BaseEstimator:
    """Read an estimator from a file that `save` has written.

    No code of the file is run. Only trusted classes are built: the estimators of this library and of scikit-learn.

    Parameters
    ----------
    path : str or path
        The file.
    trusted : list of classes, functions or their full names, default=()
        Further classes and functions that the file may contain, such as a cost of your own. Their modules are imported.
    max_bytes : int, default=2**30
        Refuse a file that needs more memory than this.

    Returns
    -------
    model : estimator
        It predicts as the saved one did.

    Raises
    ------
    LoadError
        For a file that is not a model file, is damaged, has a newer format, or contains what is not trusted.
    """
    names, place = trusted_names(trusted), Path(path)
    try:
        if place.exists() and not place.is_file():
            raise LoadError("is a folder." if place.is_dir() else "is a device, pipe or socket, not a file.")
        if (size := place.stat().st_size) > max_bytes:
            raise LoadError(f"has {size} bytes, more than max_bytes={max_bytes}. Increase max_bytes.")
        model, saved = from_bytes(place.read_bytes(), names, max_bytes)
    except LoadError as error:
        raise LoadError(f"{place.name} {error}") from error.__cause__
    installed = metadata.version("scikit-learn")
    if saved not in (None, installed):
        warn(
            f"{place.name} was saved with scikit-learn {saved} and is loaded with {installed}; it may predict "
            "differently. Fit and save it again."
        )
    return model


def to_bytes(model: BaseEstimator, names: frozenset[str] = frozenset()) -> bytes:
    """The content of a model's file; `names` are of trusted classes."""
    encoder = Encoder(names)
    try:
        node = encoder.node(model)
        orders: list[Literal["C", "F"]] = ["F" if np.isfortran(array) else "C" for array in encoder.arrays]
        described = [[dtype_to_descr(a.dtype), order, a.shape] for a, order in zip(encoder.arrays, orders)]
        versions = {library: metadata.version(library) for library in ("lvq", "numpy", "scikit-learn")}
        header = _text({"arrays": described, "model": node, "versions": versions})
    except (UntrustedError, TypeError, ValueError, RecursionError) as error:
        inside = [type(part).__name__ for part in encoder.path if isinstance(part, BaseEstimator)] or ["this model"]
        raise ValueError(f"lvq.save cannot store {' in '.join(inside[:-4:-1])}: {error}") from error
    body = b"".join([header, b"\n", *(array.tobytes(order) for order, array in zip(orders, encoder.arrays))])
    return TITLE + FORMAT + b"\n" + hashlib.sha256(body).hexdigest().encode() + b"\n" + body


def from_bytes(
    data: bytes, names: frozenset[str] = frozenset(), max_bytes: float = math.inf
) -> tuple[BaseEstimator, str | None]:
    """The model, and the version of scikit-learn that wrote its parts; None where it has none of them."""
    title, checksum, body, *_ = *data.split(b"\n", 2), b"", b""
    if title.startswith(PICKLES):
        raise LoadError(
            "looks like a pickle or joblib file, which can run any code when it is loaded. If you trust its source, "
            "load it with joblib.load and save the model with lvq.save."
        )
    if not title.startswith(TITLE):
        raise LoadError("is not a model file. Use a file that lvq.save has written." if data else "is empty.")
    if title != TITLE + FORMAT:
        raise LoadError(f"has another format than {FORMAT.decode()}, which this version reads. Upgrade lvq.")
    if hashlib.sha256(body).hexdigest().encode() != checksum:
        raise LoadError("is damaged: its checksum does not match its content. Copy the file again.")
    text, _, values = body.partition(b"\n")
    if len(text) * HEADER_MEMORY > max_bytes:
        raise LoadError(f"has a header of {len(text)} bytes, too long for max_bytes={max_bytes}. Increase max_bytes.")
    try:
        header = json.loads(text)
        require(set(header) == {"arrays", "model", "versions"} and _text(header) == text, "a header in another form")
        decoder = Decoder(_arrays(header["arrays"], values), names)
        model = decoder.build(header["model"])
        require(isinstance(model, BaseEstimator), f"{type(model).__name__} in the place of an estimator")
        require(len(decoder.used) == len(decoder.arrays), "an array that nothing refers to")
        return model, str(header["versions"]["scikit-learn"]) if decoder.uses_sklearn else None
    except UntrustedError as error:
        raise LoadError(f"contains {error}") from None
    except Exception as error:  # damaged or hostile content can raise any exception
        raise LoadError(f"contains a model that is not consistent ({type(error).__name__}: {error}).") from error


def _text(header: dict[str, JSONValue]) -> bytes:
    return json.dumps(header, separators=(",", ":")).encode()


def _arrays(described: list[JSONValue], data: bytes) -> list[np.ndarray]:
    arrays, start = [], 0
    for text, order, shape in described:
        dtype = descr_to_dtype(text)
        require(dtype.kind in "biufSUmM" and dtype.itemsize, f"an array of type {dtype}")
        require(all(type(length) is int and length >= 0 for length in shape), f"an array of shape {shape}")
        end = start + dtype.itemsize * math.prod(shape)
        require(end <= len(data), f"an array of shape {shape}, longer than the file")
        array = np.ndarray(shape, dtype, data, start, order=order).copy(order)
        if dtype.kind == "U":
            array.tolist()  # raises an error for what is not text
        require(dtype.kind != "b" or array.view(np.uint8).max(initial=0) <= 1, "booleans with other values")
        arrays.append(array)
        start = end
    require(start == len(data), "bytes that belong to no array")
    return arrays
