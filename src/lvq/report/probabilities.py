"""The section of the summary about probabilities: how often predictions of a given probability are correct."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.calibration import CalibratedClassifierCV

from lvq.estimators.find_model import find_layer, find_model
from lvq.report.formatting import percent
from lvq.report.map_chart import Spec, rows_of
from lvq.typing import JSONValue, MatrixLike

N_BINS = 10
SMALLEST = 1e-6  # of a probability in the log-loss


def calibration_bins(probability: np.ndarray, correct: np.ndarray) -> dict[str, np.ndarray]:
    """Mean probability, accuracy and number of samples in ten equal bins of the probability; those with samples.

    Examples
    --------
    >>> bins = calibration_bins(np.array([0.95, 0.95, 0.55, 0.55]), np.array([True, True, True, False]))
    >>> bins["probability"].round(2).tolist(), bins["accuracy"].tolist(), bins["n_samples"].tolist()
    ([0.55, 0.95], [0.5, 1.0], [2, 2])
    """
    bins = np.minimum((probability * N_BINS).astype(int), N_BINS - 1)
    count = np.bincount(bins, minlength=N_BINS)
    known = count > 0
    sums = (np.bincount(bins, values, N_BINS)[known] / count[known] for values in (probability, correct))
    return dict(zip(("probability", "accuracy"), sums)) | {"n_samples": count[known]}


def calibration_error(probability: np.ndarray, correct: np.ndarray) -> float:
    """Mean over samples of the difference between accuracy and mean probability in their bin.

    Examples
    --------
    >>> round(calibration_error(np.array([0.95, 0.95, 0.55, 0.55]), np.array([True, True, True, False])), 3)
    0.05
    """
    bins = calibration_bins(probability, correct)
    return float(np.average(np.abs(bins["accuracy"] - bins["probability"]), weights=bins["n_samples"]))


def probability_section(model: BaseEstimator, X: MatrixLike, codes: np.ndarray) -> dict[str, JSONValue] | None:
    """Log-loss, calibration error and its bins on held-out samples; None for a model without probabilities.

    Parameters
    ----------
    model : estimator
        A fitted classifier.
    X : array-like
        Held-out samples.
    codes : ndarray of int
        Index of each sample's class; an index beyond the columns for a class that the model does not know.
    """
    if not hasattr(model, "predict_proba"):
        return None
    table = np.asarray(model.predict_proba(X), dtype=np.float64)
    known = codes < table.shape[1]
    true = np.where(known, table[np.arange(len(codes)), np.where(known, codes, 0)], 0)
    top, correct = table.max(axis=1), table.argmax(axis=1) == codes
    return {
        "calibrated_by": calibrated_by(model),
        "log_loss": float(-np.log(np.maximum(true, SMALLEST)).mean()),
        "calibration_error": calibration_error(top, correct),
        **calibration_bins(top, correct),
    }


def calibrated_by(model: BaseEstimator) -> str | None:
    """What has calibrated the probabilities of a model; None where nothing has."""
    if find_layer(model, CalibratedClassifierCV) is not None:
        return "CalibratedClassifierCV"
    found = find_model(model)
    return None if found is None or found.model.decision.temperature == 1 else "a temperature"


def probability_limit(section: dict[str, JSONValue] | None) -> list[str]:
    """What the probabilities of this model mean, as a sentence; none for a model without probabilities."""
    if section is None:
        return []
    source = section["calibrated_by"]
    kind = (
        f"were calibrated by {source}, for samples from the same source" if source else "are scores and not calibrated"
    )
    error = percent(section["calibration_error"])
    return [f"The model's probabilities {kind}; here they differ from the accuracy by {error} on the mean."]


def calibration_chart(section: dict[str, JSONValue]) -> Spec:
    """Accuracy by the probability of the most probable class; calibrated predictions lie on the diagonal."""
    low = min([*section["probability"], *section["accuracy"]])
    domain = [max(0.0, low - 0.05), 1.0]
    scale = {"domain": domain, "nice": False}

    def axis(name: str, title: str) -> dict[str, JSONValue]:
        return {"field": name, "type": "quantitative", "title": title, "axis": {"format": ".0%"}, "scale": scale}

    position = {
        "x": axis("probability", "probability of the most probable class"),
        "y": axis("accuracy", "fraction that is correct"),
    }
    count = {"field": "n_samples", "type": "quantitative", "title": "samples"}
    ends = [{"probability": value, "accuracy": value} for value in domain]
    return {
        "description": "How often the most probable class is the true one, by its probability.",
        "height": 200,
        "layer": [
            {
                "data": {"values": ends},
                "mark": {"type": "line", "color": "var(--muted)", "strokeDash": [4, 3]},
                "encoding": position,
            },
            {
                "data": {"values": rows_of(section, ("probability", "accuracy", "n_samples"))},
                "mark": {"type": "point", "filled": True, "color": "var(--accent)"},
                "encoding": position
                | {
                    "size": count | {"legend": None},
                    "tooltip": [
                        {"field": "probability", "type": "quantitative", "format": ".1%"},
                        {"field": "accuracy", "type": "quantitative", "format": ".1%"},
                        count,
                    ],
                },
            },
        ],
    }
