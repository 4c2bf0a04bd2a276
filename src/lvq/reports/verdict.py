"""What the numbers of a report mean, as sentences: its verdict, and its limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from lvq.reports.metrics import Costs, Metrics
from lvq.reports.model import Guarantee, ModelCard
from lvq.reports.text import percent

if TYPE_CHECKING:
    from lvq.reports.summary import Report

MIN_CLASS_SAMPLES = 20  # held-out samples of a class below which its results are uncertain
MISSED = 0.5  # sensitivity below which a class is called missed
MAX_NAMED = 5  # classes in a sentence


def verdict_of(report: Report) -> list[str]:
    """Whether the model is better than a constant and than logistic regression, and what it misses."""
    metrics, data, costs = report.metrics, report.data, report.costs
    sentences = [_against_constant(metrics) if costs is None else _against_cheapest(costs, data.classes)]
    if report.folds is not None and report.folds.logistic_regression:
        own, other = percent(report.folds.mean), percent(float(np.mean(report.folds.logistic_regression)))
        sentences.append(f"On the folds the accuracy is {own}, that of logistic regression {other}.")
    rates = [(name, row.sensitivity.value) for name, row in zip(data.classes, metrics.by_class)]
    missed = [name for name, rate in rates if rate is not None and rate < MISSED]
    if missed:
        sentences.append(f"More than half of the samples of these classes are missed: {listed(missed)}.")
    accuracy, accepted = metrics.accuracy.value or 0.0, report.accepted_accuracy
    if accepted is None or accepted.value is None or accuracy == 1 or costs is not None:
        return sentences
    if accepted.value <= accuracy:
        return [*sentences, "Rejecting uncertain predictions does not raise the accuracy here."]
    raised = f"from {percent(accuracy)} to {percent(accepted.value)}"
    return [*sentences, f"Rejecting uncertain predictions raises the accuracy {raised}."]


def _against_constant(metrics: Metrics) -> str:
    accuracy, baseline = metrics.accuracy, metrics.majority
    found = f"{percent(accuracy.value)} of the predictions are correct"
    constant = f"always predicting the most frequent class gives {percent(baseline)}"
    if accuracy.value is not None and accuracy.value <= baseline:
        return f"The model is of no use as a classifier here: {found}, and {constant}."
    if accuracy.interval is not None and accuracy.interval[0] <= baseline:
        return f"The model is not shown to be better than a constant prediction: {found}, and {constant}."
    return f"{found}; {constant}."


def _against_cheapest(costs: Costs, classes: Sequence[str]) -> str:
    """With costs the accuracy is not what the model was asked for."""
    start = "" if costs.mean < costs.cheapest else "The model is of no use here. "
    name = classes[costs.cheapest_class]
    return f"{start}A sample costs {costs.mean:.3f} on average; always predicting {name} costs {costs.cheapest:.3f}."


def limits_of(report: Report) -> list[str]:
    """What the numbers do not show."""
    data, card, calibrated = report.data, report.model, report.probabilities
    sentences = [f"All scores were computed on {data.n_samples} held-out samples."]
    interval = report.metrics.accuracy.interval
    if interval is not None:
        source = "samples from the same source" + (", and counts whole groups" if data.by_group else "")
        low, high = percent(interval[0]), percent(interval[1])
        sentences[0] += f" The 95 % interval of the accuracy is {low} to {high}, for {source}."
    small = [name for name, count in zip(data.classes, data.class_counts) if count < MIN_CLASS_SAMPLES]
    if small:
        few = f"Classes with fewer than {MIN_CLASS_SAMPLES} held-out samples: {listed(small)}."
        sentences.append(f"{few} Their results are uncertain.")
    sentences += [_rejection_limit(card), *([] if card.rejection is None else card.rejection.notes)]
    if report.map.explained < 0.995:
        sentences.append(
            f"The map shows {percent(report.map.explained)} of the variance in the model's metric. Samples that "
            "overlap on the map may be far apart in other directions, and a sample may lie in the region of another "
            "class than the one predicted for it."
        )
    sentences.append("Explanations show how the model computed a prediction, not what causes the classes to differ.")
    if calibrated is not None:
        kind = "were calibrated by a temperature" if calibrated.is_calibrated else "are not calibrated"
        error = percent(calibrated.calibration_error)
        sentences.append(f"The model's probabilities {kind}; here they differ from the accuracy by {error} on average.")
    return sentences


def _rejection_limit(card: ModelCard) -> str:
    if card.rejection is None:
        return "The model rejects no sample. A threshold chosen on these samples has no guarantee for others."
    if card.rejection.guarantee is None:
        return "The thresholds were fitted to calibration samples; they have no guarantee for other samples."
    return guarantee_sentence(card.rejection.guarantee)


def guarantee_sentence(guarantee: Guarantee, majority: float | None = None) -> str:
    """What is guaranteed, for which samples, and whether that is worth anything.

    Examples
    --------
    >>> guarantee_sentence(Guarantee(0.05, 0.95, None, 100, 90, 1, by_group=False))[:75]
    'The error rate of accepted predictions is at most 5.0 %, with confidence 95'
    """
    whose = "a randomly chosen row of a new group" if guarantee.by_group else "samples"
    text = (
        f"The error rate of accepted predictions is at most {percent(guarantee.max_error)}, with confidence "
        f"{percent(guarantee.confidence)}, for {whose} from the same source as the calibration samples."
    )
    if guarantee.requested is not None:
        text += f" Requested was {percent(guarantee.requested)}, which could not be guaranteed."
    if majority is not None and guarantee.max_error >= 1 - majority:
        text += f" Always predicting the most frequent class has an error rate of {percent(1 - majority)}."
    return text


def listed(names: Sequence[str]) -> str:
    """The first few names of a sentence."""
    more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
    return ", ".join(names[:MAX_NAMED]) + more
