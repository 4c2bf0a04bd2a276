"""The model card: which data, which model, which versions, how good, and what not to conclude."""

from __future__ import annotations

import platform
from typing import Any

import numpy as np
import scipy
import sklearn
from numpy.typing import NDArray

import lvq
from lvq.model.metrics import Diagonal, LocalMatrix, Matrix
from lvq.rejection.binomial import error_upper_bound
from lvq.rejection.point import CertifiedPoint
from lvq.report.plain import plain
from lvq.report.words import percent
from lvq.robustness import Found

FEW = 20  # held-out samples of a class below which its share of right answers says little
TWO_SIDED = 0.975  # one-sided confidence of each end of a 95 % interval


def versions() -> dict[str, str]:
    """What the numbers were computed with."""
    return {
        "lvq": lvq.__version__,
        "Python": platform.python_version(),
        "NumPy": np.__version__,
        "SciPy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
    }


def interval(n_right: int, n_samples: int) -> list[float] | None:
    """95 % interval of a share (Clopper-Pearson).

    Examples
    --------
    >>> [round(end, 3) for end in interval(95, 100)], interval(0, 0)
    ([0.887, 0.984], None)
    """
    if not n_samples:
        return None
    low = 1 - float(error_upper_bound(n_samples - n_right, n_samples, TWO_SIDED))
    return [low, float(error_upper_bound(n_right, n_samples, TWO_SIDED))]


def scores(y: NDArray[Any], predicted: NDArray[Any], accepted: NDArray[np.bool_], rejects: bool) -> dict[str, Any]:
    """How good the answers are, with and without rejection; the last are None for a model that answers always."""
    right = predicted == y
    n_right, n_accepted = int(right.sum()), int(accepted.sum())
    n_kept = int((right & accepted).sum())
    counts = np.unique(y, return_counts=True)[1]
    return {
        "n_samples": len(y),
        "n_right": n_right,
        "accuracy": n_right / len(y),
        "interval": interval(n_right, len(y)),
        "balanced_accuracy": float(np.mean([right[y == label].mean() for label in np.unique(y)])),
        "largest_class": float(counts.max() / len(y)),
        "coverage": n_accepted / len(y) if rejects else None,
        "n_accepted": n_accepted if rejects else None,
        "accepted_accuracy": n_kept / n_accepted if rejects and n_accepted else None,
        "accepted_interval": interval(n_kept, n_accepted) if rejects else None,
    }


def metric_text(model: Any) -> str:
    """The kind of distance, in words."""
    metric, R = model._metric, model._params.relevance
    if isinstance(metric, LocalMatrix):
        return f"{R.shape[0]} matrices of rank {R.shape[1]}, for {R.shape[2]} features"
    if isinstance(metric, Matrix):
        return f"one matrix of rank {R.shape[0]}, for {R.shape[1]} features"
    if isinstance(metric, Diagonal):
        return f"a weight for each of {len(R)} features"
    return "Euclidean: every feature counts the same"


def model_part(found: Found, reject: Any) -> dict[str, Any]:
    """What the model is made of; parameters that are not at their defaults."""
    model = found.model
    usual = type(model)().get_params(deep=False)
    own = model.get_params(deep=False)
    changed = {name: _text(value) for name, value in own.items() if _text(value) != _text(usual[name])}
    return {
        "kind": type(model).__name__,
        "steps": [type(step).__name__ for step in found.steps],
        "parameters": changed,
        "metric": metric_text(model),
        "n_prototypes": len(model.prototypes_),
        "n_features": int(model.n_features_in_),
        "rejection": None if reject is None else _wish(reject),
    }


def _text(value: Any) -> Any:
    """A parameter as plain text or number; arrays and objects by what they print as, cut short."""
    if value is None or isinstance(value, bool | int | float | str):
        return plain(value)
    text = " ".join(repr(value).split())
    return text if len(text) <= 120 else text[:117] + "..."


def _wish(reject: Any) -> dict[str, Any]:
    """What was asked of the thresholds, and what a certificate rests on."""
    asked = {
        name: getattr(reject, name)
        for name in ("min_coverage", "min_accuracy", "cost_ratio", "max_error")
        if getattr(reject, name) is not None
    } or {"min_coverage": 0.9}
    promise = None
    if reject.max_error is not None:
        promise = {"max_error": reject.max_error, "confidence": reject.confidence, "per_class": reject.per_class}
        if isinstance(reject.point_, CertifiedPoint):
            promise |= {
                "n_testing": reject.point_.n_testing,
                "n_accepted": reject.point_.n_accepted,
                "n_errors": reject.point_.n_errors,
                "p_value": reject.point_.p_value,
            }
    return plain(
        {"asked": asked, "measure": _text(reject.measure), "thresholds": reject.thresholds, "promise": promise}
    )


def limits(summary: dict[str, Any]) -> list[str]:
    """What the numbers do not say, in sentences that fit them."""
    data, score, rejection = summary["data"], summary["scores"], summary["model"]["rejection"]
    low, high = score["interval"]
    sentences = [
        f"All figures come from {score['n_samples']} held-out samples. Chance alone allows a true accuracy anywhere "
        f"between {percent(low)} and {percent(high)} (95 % interval), for samples that come from the same source.",
        f"Always answering with the most frequent class would be right on {percent(score['largest_class'])} of them.",
    ]
    few = [name for name, count in zip(data["classes"], data["class_counts"]) if count < FEW]
    if few:
        named = ", ".join(few[:5]) + (f" and {len(few) - 5} more" if len(few) > 5 else "")
        sentences.append(f"Classes with fewer than {FEW} held-out samples: {named}. What is said of them is uncertain.")
    sentences += _on_rejection(rejection)
    explained = summary["map"].get("explained")
    if explained is not None and explained < 0.995:
        sentences.append(
            f"The map is flat and shows {percent(explained)} of the spread the model sees; samples that overlap on it "
            "may be far apart in other directions, and a sample may lie in a region of another class than its answer."
        )
    return [
        *sentences,
        "Explanations say how the model reached an answer, not what causes the classes to differ.",
        "Probabilities of the model are scores, not calibrated chances.",
    ]


def _on_rejection(rejection: dict[str, Any] | None) -> list[str]:
    if rejection is None:
        return ["The model answers always. The curve shows what holding back its least certain answers would bring; "
                "a threshold chosen by looking at these samples promises nothing for others."]  # fmt: skip
    promise = rejection["promise"]
    if promise is None:
        return ["The thresholds were fitted to calibration samples and are no guarantee for others."]
    whose = "of each predicted class" if promise["per_class"] else ""
    return [
        f"At the position as fitted, at most {percent(promise['max_error'])} of the accepted answers {whose} are "
        f"wrong in the long run, with confidence {percent(promise['confidence'])}. That promise is about "
        "samples from the same source as the calibration samples, about all accepted answers together, and about that "
        "position only: any other one leaves it.".replace("  ", " ")
    ]
