"""A fitted model as plain arrays and a JSON header, and as a ``.npz`` file of these. Reading runs no code."""

import json
import zipfile
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from lvq._files import write_atomically
from lvq.model.links import KERNELS, Identity, Link
from lvq.model.local_metrics import LocalDiagonal, LocalMahalanobis
from lvq.model.metrics import Diagonal, Euclidean, Mahalanobis, Metric
from lvq.model.scores import DecisionRule
from lvq.typing import Argument, JSONValue

if TYPE_CHECKING:
    from lvq.model.prototype_model import PrototypeModel

FORMAT, VERSION = "lvq-prototype-model", 1
METRICS: dict[str, type[Metric]] = {
    "euclidean": Euclidean,
    "diagonal": Diagonal,
    "matrix": Mahalanobis,
    "local_matrix": LocalMahalanobis,
    "local_diagonal": LocalDiagonal,
}
LINKS: dict[str, type[Link]] = {"identity": Identity, **{name: type(kernel) for name, kernel in KERNELS.items()}}
OPTIONAL = ("relevance", "importances", "variances")
Model = TypeVar("Model", bound="PrototypeModel")
Part = TypeVar("Part")


def to_arrays(model: "PrototypeModel") -> dict[str, np.ndarray]:
    """Named arrays of numbers and strings, and "header", a JSON text as an array of bytes."""
    header: dict[str, JSONValue] = {
        "format": FORMAT,
        "version": VERSION,
        "metric": _describe(model.metric, METRICS, "metric"),
        "link": _describe(model.link, LINKS, "link"),
        "decision": asdict(model.decision),
        "feature_names": model.feature_names,
        "classes": None,
    }
    arrays = {"prototypes": model.prototypes, "labels": model.labels}
    arrays |= {name: getattr(model, name) for name in OPTIONAL if getattr(model, name) is not None}
    if model.classes.dtype == object:
        classes = [label.item() if isinstance(label, np.generic) else label for label in model.classes]
        if not all(isinstance(label, str | bool | int | float) for label in classes):
            raise ValueError("The classes of a model that is stored must be strings or numbers.")
        header["classes"] = classes
    else:
        arrays["classes"] = model.classes
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    return arrays


def from_arrays(cls: type[Model], arrays: Mapping[str, np.ndarray]) -> Model:
    """The model of `to_arrays`; a clear ValueError where the arrays are not those of one."""
    try:
        header = json.loads(bytes(np.asarray(arrays["header"], dtype=np.uint8)))
        if header["format"] != FORMAT:
            raise ValueError(f"the header's format is {header['format']!r}, not {FORMAT!r}")
        if header["version"] != VERSION:
            raise ValueError(f"the header's version is {header['version']!r}; this release reads version {VERSION}")
        classes = header["classes"]
        names = header["feature_names"]
        return cls(
            prototypes=np.asarray(arrays["prototypes"]),
            labels=np.asarray(arrays["labels"]),
            classes=np.asarray(arrays["classes"]) if classes is None else np.array(classes, dtype=object),
            metric=_build(header["metric"], METRICS),
            link=_build(header["link"], LINKS),
            decision=DecisionRule(**header["decision"]),
            feature_names=None if names is None else tuple(str(name) for name in names),
            **{name: np.asarray(arrays[name]) if name in arrays else None for name in OPTIONAL},
        )
    except KeyError as error:
        raise ValueError(f"These arrays are not a stored PrototypeModel: {error} is missing or unknown.") from error
    except (TypeError, ValueError, IndexError, RecursionError) as error:
        raise ValueError(f"These arrays are not a stored PrototypeModel: {error}") from error


def save(model: "PrototypeModel", path: str | Path) -> None:
    """Write ``to_arrays()`` to a file, all or nothing."""
    arrays: dict[str, Argument] = to_arrays(model)
    with write_atomically(path) as file:
        np.savez(file, **arrays)  # none of them holds objects


def load(cls: type[Model], path: str | Path) -> Model:
    """Read a file of `save`."""
    try:
        with zipfile.ZipFile(Path(path)):  # np.load would also read other kinds of files
            pass
        with np.load(Path(path), allow_pickle=False) as file:
            arrays = dict(file)
    except (FileNotFoundError, PermissionError, IsADirectoryError):
        raise
    except Exception as error:  # zipfile and NumPy raise many kinds on damaged files
        raise ValueError(f"{path} is not a file of PrototypeModel.save, or it is damaged: {error}") from error
    return from_arrays(cls, arrays)


def _describe(part: Metric | Link, kinds: Mapping[str, type], name: str) -> dict[str, JSONValue]:
    kind = next((kind for kind, known in kinds.items() if type(part) is known), None)
    if kind is None:
        raise ValueError(f"A model with the {name} {part!r} cannot be stored as arrays; known are {sorted(kinds)}.")
    return {"kind": kind, **{field.name: getattr(part, field.name) for field in fields(kinds[kind])}}


def _build(described: dict[str, JSONValue], kinds: Mapping[str, type[Part]]) -> Part:
    values = dict(described)
    kind: type = kinds[values.pop("kind")]
    known = {field.name for field in fields(kind)}
    if set(values) != known:
        raise ValueError(f"{kind.__name__} needs the values {sorted(known)}, got {sorted(values)}")
    return kind(**{name: tuple(value) if isinstance(value, list) else value for name, value in values.items()})
