"""The model card: data, model, versions, scores, and the limits of what the numbers show."""

from __future__ import annotations

import platform

import numpy as np
import scipy
import sklearn
from numpy.typing import NDArray

import lvq
from lvq.model.local_diagonal import LocalDiagonal
from lvq.model.prototype_model import PrototypeModel
from lvq.rejection.classifier import RejectClassifier
from lvq.rejection.guarantee import CertifiedPoint
from lvq.report.features import Features
from lvq.report.formatting import percent, to_json
from lvq.report.metrics import confidence_interval
from lvq.report.probabilities import probability_limit
from lvq.typing import JSONValue

MIN_CLASS_SAMPLES = 20  # held-out samples of a class below which its accuracy is uncertain


def versions() -> dict[str, str]:
    """Versions of the packages that computed the numbers."""
    return {
        "lvq": lvq.__version__,
        "Python": platform.python_version(),
        "NumPy": np.__version__,
        "SciPy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
    }


def score_section(
    y: NDArray[np.intp], predicted: NDArray[np.intp], accepted: NDArray[np.bool_], rejects: bool
) -> dict[str, JSONValue]:
    """Scores of all predictions and of the accepted ones; the latter are None for a model without rejection."""
    correct = predicted == y
    n_correct, n_accepted = int(correct.sum()), int(accepted.sum())
    n_accepted_correct = int((correct & accepted).sum())
    labels, counts = np.unique(y, return_counts=True)
    return {
        "n_samples": len(y),
        "n_correct": n_correct,
        "accuracy": n_correct / len(y),
        "interval": confidence_interval(n_correct, len(y)),
        "balanced_accuracy": float(np.mean([correct[y == label].mean() for label in labels])),
        "majority_accuracy": float(counts.max() / len(y)),
        "coverage": n_accepted / len(y) if rejects else None,
        "n_accepted": n_accepted if rejects else None,
        "accepted_accuracy": n_accepted_correct / n_accepted if rejects and n_accepted else None,
        "accepted_interval": confidence_interval(n_accepted_correct, n_accepted) if rejects else None,
    }


def metric_text(model: PrototypeModel) -> str:
    """The kind of distance."""
    R = model.relevance
    if R is None:
        return "Euclidean: all features have the same weight"
    if isinstance(model.metric, LocalDiagonal):
        return f"{len(R)} sets of weights of {R.shape[1]} features"
    if R.ndim == 3:
        return f"{R.shape[0]} matrices of rank {R.shape[1]}, for {R.shape[2]} features"
    if R.ndim == 2:
        return f"one matrix of rank {R.shape[0]}, for {R.shape[1]} features"
    return f"a weight for each of {len(R)} features"


def model_section(features: Features, reject: RejectClassifier | None) -> dict[str, JSONValue]:
    """The parts of the model, and its parameters that differ from their defaults."""
    estimator, model = features.estimator, features.model
    defaults = type(estimator)().get_params(deep=False)
    parameters = {name: _parameter(value) for name, value in estimator.get_params(deep=False).items()}
    return {
        "kind": type(estimator).__name__,
        "steps": [type(step).__name__ for step in features.steps],
        "parameters": {name: value for name, value in parameters.items() if value != _parameter(defaults[name])},
        "metric": metric_text(model),
        "by_posterior": model.decision.by_posterior,
        "n_prototypes": len(model.prototypes),
        "n_features": model.n_features,
        "rejection": None if reject is None else _rejection(reject),
    }


def _parameter(value: object) -> JSONValue:
    """A parameter as text or number; arrays and objects by their representation, cut to 120 characters."""
    if value is None or isinstance(value, bool | int | float | str):
        return to_json(value)
    text = " ".join(repr(value).split())
    return text if len(text) <= 120 else text[:117] + "..."


def _rejection(reject: RejectClassifier) -> dict[str, JSONValue]:
    """The target of the thresholds, and the test that a guarantee is based on."""
    targets = {name: getattr(reject, name) for name in ("min_coverage", "min_accuracy", "cost_ratio", "max_error")}
    target = {name: value for name, value in targets.items() if value is not None} or {"min_coverage": 0.9}
    guarantee: dict[str, JSONValue] | None = None
    if reject.max_error is not None:
        guarantee = {"max_error": reject.max_error, "confidence": reject.confidence}
        if isinstance(reject.point_, CertifiedPoint):
            names = ("max_error", "n_testing", "n_accepted", "n_errors", "p_value", "unit")
            guarantee |= {name: getattr(reject.point_, name) for name in names}
            guarantee["requested"] = reject.point_.requested_error
    measure = _parameter(reject.measure)
    found = {"target": target, "measure": measure, "thresholds": reject.thresholds, "guarantee": guarantee}
    return to_json(found | {"notes": list(reject.notes_)})


def add_weak_guarantee(summary: dict[str, JSONValue]) -> None:
    """Add a sentence to a guarantee that is not better than always predicting the most frequent class."""
    rejection = summary["model"]["rejection"]
    guarantee = None if rejection is None else rejection["guarantee"]
    if guarantee is None:
        return
    baseline = 1 - summary["scores"]["majority_accuracy"]
    weak = guarantee["max_error"] >= baseline
    guarantee["weak"] = (
        f"This bound is not better than always predicting the most frequent class, which has an error rate of "
        f"{percent(baseline)} here."
        if weak
        else None
    )


def limits(summary: dict[str, JSONValue]) -> list[str]:
    """What the numbers do not show, as sentences."""
    data, score = summary["data"], summary["scores"]
    low, high = score["interval"]
    sentences = [
        f"All scores were computed on {score['n_samples']} held-out samples. The 95 % interval of the accuracy is "
        f"{percent(low)} to {percent(high)}, for samples from the same source.",
        f"Always predicting the most frequent class has an accuracy of {percent(score['majority_accuracy'])}.",
    ]
    small = [name for name, count in zip(data["classes"], data["class_counts"]) if count < MIN_CLASS_SAMPLES]
    if small:
        named = ", ".join(small[:5]) + (f" and {len(small) - 5} more" if len(small) > 5 else "")
        sentences.append(
            f"Classes with fewer than {MIN_CLASS_SAMPLES} held-out samples: {named}. Their results are uncertain."
        )
    rejection = summary["model"]["rejection"]
    sentences += [_rejection_limit(rejection), *([] if rejection is None else rejection["notes"])]
    explained = summary["map"]["explained"]
    if explained < 0.995:
        sentences.append(
            f"The map shows {percent(explained)} of the variance in the model's metric. Samples that overlap on the "
            "map may be far apart in other directions, and a sample may lie in a region of a class that is not "
            "predicted for it."
        )
    return [
        *sentences,
        "Explanations show how the model computed a prediction, not what causes the classes to differ.",
        *probability_limit(summary["probabilities"]),
    ]


def _rejection_limit(rejection: dict[str, JSONValue] | None) -> str:
    if rejection is None:
        return ("The model rejects no sample. The accuracy-reject curve shows the effect of rejecting its least "
                "certain predictions; a threshold chosen on these samples has no guarantee for others.")  # fmt: skip
    guarantee = rejection["guarantee"]
    if guarantee is None:
        return "The thresholds were fitted to calibration samples; they have no guarantee for other samples."
    grouped = guarantee["unit"] == "groups"
    which = "accepted predictions" + (" for a randomly chosen row of a new group" if grouped else "")
    return (
        f"At the operating point as fitted, the expected error rate of the {which} is at most "
        f"{percent(guarantee['max_error'])}, with confidence {percent(guarantee['confidence'])}. The guarantee holds "
        "for samples from the same source as the calibration samples, for all these predictions together, and for "
        "that operating point only."
    )
