"""A fitted model as plain arrays and a JSON header, and as a ``.npz`` file of these. Reading runs no code.

A model may be made from any arrays, also from a file: `check` says whether they fit together.
"""

import json
import sys
import zipfile
from collections.abc import Hashable, Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard, TypeVar

import numpy as np

from lvq._files import write_atomically
from lvq.model.links import KERNELS, Identity, Kernel, Link
from lvq.model.local_metrics import PARAMETER_AXES, LocalDiagonal, LocalMahalanobis
from lvq.model.metrics import Diagonal, Euclidean, LocalMetric, Mahalanobis, Metric
from lvq.model.rows import row_squares
from lvq.model.scores import DecisionRule
from lvq.typing import Argument, JSONValue

if TYPE_CHECKING:
    from lvq.model.prototype_model import PrototypeModel

FORMAT, VERSION = "lvq-prototype-model", 1
LARGEST = sys.float_info.max  # integers of Python can be larger
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


def check(model: "PrototypeModel") -> None:
    """Raise ValueError for arrays and parts that do not form a consistent model."""
    for problem_of in (_array_problem, _metric_problem, _link_problem, _decision_problem):
        if problem := problem_of(model):
            raise ValueError(f"PrototypeModel {problem}.")


def _array_problem(model: "PrototypeModel") -> str:
    W, labels, classes = model.prototypes, model.labels, model.classes
    if not _is_array(W, 2, "f") or not W.size or W.dtype.itemsize not in (4, 8):
        return "needs prototypes of shape (n_prototypes, n_features) in float32 or float64"
    if not np.isfinite(W).all():
        return "has prototypes that are not finite numbers"
    if not _is_array(classes, 1, "biufSUOMm") or not len(classes):
        return "needs a one-dimensional array of classes"
    values = classes.tolist()
    if any(not isinstance(value, Hashable) or value != value for value in values) or len(set(values)) < len(values):
        return f"has classes that are not distinct values: {values}"
    if not _is_array(labels, 1, "iu") or labels.shape != (len(W),) or (np.diff(labels.astype(np.int64)) < 0).any():
        return "needs an ascending class index for each prototype"
    if labels[0] < 0 or labels[-1] >= len(classes):
        return f"has labels outside of its {len(classes)} classes"
    n_features = W.shape[1]
    if model.unit_length and not np.allclose(row_squares(W), 1, rtol=0, atol=1e-3):
        return "has prototypes that are not of length one, as metric='cosine' needs them"
    if model.feature_names is not None and len(model.feature_names) != n_features:
        return f"has {len(model.feature_names)} feature names for {n_features} features"
    for name in ("importances", "variances"):
        array = getattr(model, name)
        if array is not None and not (
            _is_array(array, 1, "f") and len(array) == n_features and np.isfinite(array).all()
        ):
            return f"has {name} that do not fit its {n_features} features"
    variances = model.variances
    if variances is not None and ((variances < 0).any() or type(model.metric) not in PARAMETER_AXES):
        return "has variances that are negative, or a metric that cannot ignore missing values"
    return ""


def _metric_problem(model: "PrototypeModel") -> str:
    metric, R, (count, n_features) = model.metric, model.relevance, model.prototypes.shape
    if type(metric) not in PARAMETER_AXES:  # not quadratic, or of the user's own
        return "" if callable(getattr(metric, "prepare", None)) else "has no metric"
    axes = PARAMETER_AXES[type(metric)]
    if axes == 0:
        return "" if R is None else "has relevances that its metric does not use"
    if not _is_array(R, axes, "f") or not R.size or R.shape[-1] != n_features or not np.isfinite(R).all():
        return f"has relevances that do not fit its {n_features} features"
    if model.has_weights and (R < 0).any():
        return "has negative relevances"
    if isinstance(metric, LocalMetric):
        groups = metric.groups
        whole = isinstance(groups, tuple) and all(type(boundary) is int for boundary in groups) and len(groups) > 1
        if not whole or groups[0] != 0 or groups[-1] != count or (np.diff(groups) < 1).any():
            return "has metrics for other groups of prototypes"
        if len(R) != len(groups) - 1:
            return "has another number of metrics than groups"
    return ""


def _link_problem(model: "PrototypeModel") -> str:
    if not isinstance(model.link, Kernel):
        return "" if callable(getattr(model.link, "value", None)) else "has no link"
    values = [getattr(model.link, parameter.name) for parameter in fields(model.link)]
    numbers = all(isinstance(value, int | float) and 0 < value <= LARGEST for value in values)
    return "" if numbers else "has a kernel whose width or shape is not a positive number"


def _decision_problem(model: "PrototypeModel") -> str:
    rule = model.decision
    for name in ("xi", "sharpness", "temperature"):
        value = getattr(rule, name)
        if not (value is None and name == "xi") and not 0 < value <= LARGEST:
            return f"has a decision whose {name} is not a positive number: {value!r}"
    if ((rule.soft or rule.by_posterior) and rule.xi is None) or (rule.by_posterior and not rule.soft):
        return "has a decision by the posterior without soft=True and a steepness xi"
    if rule.log_probabilities and (rule.xi is None or rule.soft):
        return "has a decision with log_probabilities that needs a steepness xi, and soft=False"
    return ""


def _is_array(value: object, axes: int, kinds: str) -> TypeGuard[np.ndarray]:
    return isinstance(value, np.ndarray) and value.ndim == axes and value.dtype.kind in kinds


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
        "unit_length": model.unit_length,
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
    """The model of `to_arrays`; a clear ValueError if the arrays do not form one."""
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
            unit_length=bool(header.get("unit_length", False)),
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
        with zipfile.ZipFile(Path(path)) as archive:  # np.load would also read other kinds of files
            if any(item.compress_type != zipfile.ZIP_STORED for item in archive.infolist()):
                raise ValueError("its arrays are compressed, which can be a thousand times as large in memory")
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
