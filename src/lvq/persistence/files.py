"""Models on disk: `save` writes what `load` reads, and `load` runs nothing that a file may hold.

The way of a file: unpack and check sums (`container.py`), compare every node with what is allowed (`schema.py`), let
skops look for types it does not trust, look for attributes that would hide methods, build by skops, and ask whether the
model holds together (`consistency.py`). `save` goes the same way before it writes, so that what it writes can be read.
"""

import contextlib
import importlib
import inspect
import io
import json
import os
import secrets
import stat
import warnings
import zipfile
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.exceptions import InconsistentVersionWarning

from lvq.persistence import schema
from lvq.persistence.consistency import parts_of, problem
from lvq.persistence.container import SCHEMA, LoadError, pack, plain_archive, unpack
from lvq.persistence.equality import difference
from lvq.persistence.numbering import renumbered
from lvq.persistence.trusted import TRUSTED, type_names

MAX_BYTES = 2**30


class OtherVersionWarning(InconsistentVersionWarning):
    """A file holds parts of another version of scikit-learn than the installed one."""

    def __init__(self, name: str, saved: str, installed: str) -> None:
        super().__init__(estimator_name=name, current_sklearn_version=installed, original_sklearn_version=saved)

    def __str__(self) -> str:
        return (
            f"{self.estimator_name} was saved with scikit-learn {self.original_sklearn_version} and is loaded with "
            f"{self.current_sklearn_version}; its scikit-learn parts may answer differently or fail. Install the "
            "former version, or fit and save anew."
        )


def save(model: Any, path: str | os.PathLike[str], *, trusted: Iterable[Any] = ()) -> None:
    """Write an estimator to a file that `load` reads.

    The file is a zip archive in the format of skops, under a header with checksums. It holds no code. It is written
    beside its place first and then moved there, so that an interrupted write leaves the file that was there before.

    Parameters
    ----------
    model : estimator
        A model of this library, a `RejectClassifier`, a Pipeline or search with such a model; or any estimator of
        scikit-learn. Fitted or not.
    path : str or path
        Where to write; by custom the name ends in ``.skops``.
    trusted : list of types or of their full names, default=()
        Types and functions of your own that the model holds, such as a cost, a kernel or a measure; they must be
        importable where the file is loaded, and `load` must be given them too.

    Examples
    --------
    >>> import tempfile
    >>> from lvq import GLVQ
    >>> from lvq.persistence import load, save
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GLVQ(random_state=0).fit(X, y)
    >>> file = tempfile.mkdtemp() + "/iris.skops"
    >>> save(model, file)
    >>> bool((load(file).predict(X) == model.predict(X)).all())
    True
    """
    if not isinstance(model, BaseEstimator) or isinstance(model, type):
        raise TypeError(f"lvq.save takes an estimator, got {model!r}.")
    names = type_names(trusted)
    data = pack(_members(model), _versions())
    try:
        back = _built(data, names, len(data) * 100 + MAX_BYTES)
    except schema.Refused as refused:
        raise ValueError(f"lvq.save cannot keep {refused.where}: {_refusal(refused, saving=True)}") from None
    except LoadError as error:
        raise ValueError(f"lvq.save cannot keep this {type(model).__name__}: a file of it {error}") from error
    changed = difference(model, back)
    if changed:
        raise ValueError(f"lvq.save cannot keep this {type(model).__name__} as it is: {changed}. Use joblib.dump.")
    _write(Path(path), data)


def load(path: str | os.PathLike[str], *, trusted: Iterable[Any] = (), max_bytes: int = MAX_BYTES) -> Any:
    """Read an estimator from a file that `save` has written.

    Nothing in the file is run, and nothing is built before all of it is known to be of trusted types: the estimators
    of this library and their parts, and the estimators of scikit-learn that skops trusts.

    Parameters
    ----------
    path : str or path
        The file.
    trusted : list of types or of their full names, default=()
        Further types and functions that the file may hold, such as a cost of your own. Their modules are imported.
    max_bytes : int, default=2**30
        Refuse a file that would take more memory than this.

    Returns
    -------
    model : estimator
        It answers as the saved one did.

    Raises
    ------
    LoadError
        For a file that is no such file, is damaged, is of a newer format, or holds what is not trusted; the message
        says which.

    Examples
    --------
    >>> import tempfile
    >>> from lvq import GLVQ
    >>> from lvq.persistence import load, save
    >>> model = GLVQ(init=[[0.0], [4.0]], learning_rate=0).fit([[0], [4]], ["left", "right"])
    >>> file = tempfile.mkdtemp() + "/model.skops"
    >>> save(model, file)
    >>> load(file).predict([[1.0]])
    array(['left'], dtype='<U5')
    """
    names = type_names(trusted)
    place = Path(path)
    try:
        return _built(_read(place, max_bytes), names, max_bytes, place.name)
    except schema.Refused as refused:
        raise LoadError(f"{place.name} is not loaded, as {refused.where} holds {_refusal(refused)}") from None
    except LoadError as error:
        raise LoadError(f"{place.name} {error}") from error.__cause__


# -- from bytes to models and back -------------------------------------------------------------------------------------


def _members(model: Any) -> dict[str, bytes]:
    """What skops writes, without memory addresses."""
    skops = _skops()
    try:
        with zipfile.ZipFile(io.BytesIO(skops.dumps(model))) as archive:
            content = {name: archive.read(name) for name in archive.namelist()}
        tree, arrays = renumbered(schema.parse(content.pop(SCHEMA)), content)
    except schema.Refused as refused:
        raise ValueError(f"lvq.save cannot keep this {type(model).__name__}: it needs {refused.what}.") from None
    except RecursionError:
        raise ValueError(f"lvq.save cannot keep this {type(model).__name__}: it holds itself.") from None
    except Exception as error:  # skops has many ways to say that it cannot store a thing
        raise ValueError(f"lvq.save cannot keep this {type(model).__name__}: {error} Use joblib.dump.") from error
    return {SCHEMA: json.dumps(tree, separators=(",", ":")).encode(), **arrays}


def _built(data: bytes, names: frozenset[str], max_bytes: int, shown: str = "the model") -> Any:
    header, members = unpack(data, max_bytes)
    tree = schema.parse(members[SCHEMA])
    objects = schema.check(tree, members, names)
    plain = plain_archive({**members, SCHEMA: json.dumps(tree).encode()})  # skops reads what was checked
    allowed = sorted(TRUSTED | names)
    installed = metadata.version("scikit-learn")
    other = header.sklearn != installed and any(item.type_name.startswith("sklearn.") for item in objects)
    skops = _skops()
    try:
        unknown = sorted(set(skops.get_untrusted_types(data=plain)) - set(allowed))
        if unknown:
            raise schema.Refused(unknown[0], "the file", trustable=True)
        _check_attributes(item for item in objects if item.type_name not in names)
        model = _quietly(skops.loads, plain, allowed) if other else skops.loads(plain, trusted=allowed)
    except (schema.Refused, LoadError):
        raise
    except Exception as error:
        raise LoadError(
            f"cannot be built ({type(error).__name__}: {error}); it was written by lvq {header.version} with skops "
            f"{header.skops}, here are lvq {_versions()['version']} and skops {_versions()['skops']}."
        ) from error
    _complete(model)
    found = problem(model)
    if found:
        raise LoadError(f"holds a model that cannot be right: {found}. Save it anew.")
    if other:
        warnings.warn(OtherVersionWarning(shown, header.sklearn, installed), stacklevel=3)
    return model


def _quietly(loads: Any, plain: bytes, allowed: list[str]) -> Any:
    """Without scikit-learn's warnings about every part; one sentence of ours stands for them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InconsistentVersionWarning)
        return loads(plain, trusted=allowed)


def _check_attributes(objects: Iterable[schema.Attributes]) -> None:
    """Refuse attributes that would stand in the place of a method. The types are trusted by now, so may be imported."""
    for item in objects:
        module, _, name = item.type_name.rpartition(".")
        kind = getattr(importlib.import_module(module), name)
        for attribute in item.names:
            there = getattr(kind, attribute, None)
            if callable(there) or isinstance(there, property) or attribute.startswith("__"):
                raise schema.Refused(f"an attribute {attribute!r} in the place of a method", name)


def _complete(model: Any) -> None:
    """Parameters that a later version has added get their defaults."""
    for part in parts_of(model):
        if isinstance(part, BaseEstimator) and type(part).__module__.startswith("lvq."):
            for name, parameter in inspect.signature(type(part)).parameters.items():
                if not hasattr(part, name) and parameter.default is not parameter.empty:
                    setattr(part, name, parameter.default)


def _refusal(refused: schema.Refused, *, saving: bool = False) -> str:
    if refused.trustable:
        return (
            f"{refused.what}, a type that lvq.load does not trust by itself. If you do, pass trusted="
            f"[{refused.what!r}]{' to lvq.save and lvq.load' if saving else ''}."
        )
    return f"{refused.what}, which no model file may hold."


def _versions() -> dict[str, str]:
    return {"version": metadata.version("lvq"), "scikit-learn": metadata.version("scikit-learn")} | {
        "skops": metadata.version("skops")
    }


def _skops() -> Any:
    try:
        import skops.io
    except ImportError:
        raise ImportError('lvq.save and lvq.load need skops. Install it with: pip install "lvq[save]"') from None
    return skops.io


# -- the disk ----------------------------------------------------------------------------------------------------------


def _read(path: Path, max_bytes: int) -> bytes:
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise LoadError("is not a file" + (" but a folder." if path.is_dir() else "."))
    if status.st_size > max_bytes:
        raise LoadError(
            f"has {status.st_size} bytes, more than max_bytes={max_bytes}. If you expect so large a model, raise "
            "max_bytes."
        )
    return path.read_bytes()


def _write(path: Path, data: bytes) -> None:
    """All of it or nothing: into a file beside the target, then in its place."""
    target = Path(os.path.realpath(path))  # a link stays a link
    beside = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        with open(beside, "xb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        if target.exists():
            beside.chmod(stat.S_IMODE(target.stat().st_mode))
        os.replace(beside, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            beside.unlink()
        raise
