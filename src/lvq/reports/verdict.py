"""What the numbers of a report mean, as sentences: its verdict, and its limits."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from lvq.reports.metrics import Costs, Fraction
from lvq.reports.model import Guarantee
from lvq.reports.text import counted, listed, percent

if TYPE_CHECKING:
    from lvq.reports.summary import Report

MIN_CLASS_SAMPLES = 20  # test samples of a class below which its results are uncertain
MISSED = 0.5  # fraction of a class that is found, or accepted, below which it is named
CHANCE = 0.05  # probability below which a difference is more than chance


class Answer(NamedTuple):
    """A sentence of the verdict; `good` is True for yes, False for no, and None where neither is shown."""

    text: str
    good: bool | None

    def __str__(self) -> str:
        return self.text


def verdict_of(report: Report) -> list[Answer]:
    """Is the model of use, better than logistic regression, helped by rejection, fair to all classes, guaranteed?"""
    costs = report.costs
    answers = [
        _against_constant(report) if costs is None else _against_cheapest(costs, report.data.classes),
        *([_against_logistic_regression(report)] if costs is None else []),
        *([_rejection(report)] if costs is None and report.coverage is not None else []),
        *_classes(report),
        _guarantee(report),
    ]
    return answers + [Answer(f"Check the data: {text[0].lower()}{text[1:]}", None) for text in report.data.suspects]


def _against_constant(report: Report) -> Answer:
    """By the test, and where that does not show it by the folds."""
    metrics, data, folds = report.metrics, report.data, report.folds
    accuracy, name = metrics.accuracy, data.classes[metrics.most_frequent]
    value, (low, _) = accuracy.value or 0.0, accuracy.interval or (0.0, 1.0)
    found = f"it predicts {accuracy.count} of {counted(accuracy.total, 'test sample')} correctly ({percent(value)})"
    constant = f"always predicting “{name}”, the most frequent class, would be correct for {percent(metrics.majority)}"
    if low > metrics.majority:
        return Answer(f"This model is useful: {found}; {constant}.", True)
    if folds is not None and data.train_counts and data.n_train:
        baseline = max(data.train_counts) / data.n_train
        if folds.above(baseline)[0] > 0:
            text = f"The test alone does not show that this model is useful: {found}; {constant}."
            better = f"In cross-validation it is better by more than chance: {percent(folds.mean)}"
            return Answer(f"{text} {better} against {percent(baseline)}.", None)
    if value <= metrics.majority:
        area = metrics.auc.interval if metrics.auc is not None else None
        ranks = area is not None and area[0] > 0.5
        more = " Its probabilities do rank samples, so another threshold may be of use." if ranks else ""
        return Answer(f"This model is of no use here: {found}; {constant}.{more}", False)
    return Answer(
        f"It is not shown that this model is of any use: {found}; {constant}. The difference may be chance.", False
    )


def _against_cheapest(costs: Costs, classes: list[str]) -> Answer:
    """With costs the accuracy is not what the model was asked for."""
    good, name = costs.mean < costs.cheapest, classes[costs.cheapest_class]
    start = "This model is useful" if good else "This model is of no use here"
    price = f"a sample costs {costs.mean:.3f} on average; always predicting “{name}” would cost {costs.cheapest:.3f}"
    return Answer(f"{start}: {price}.", good)


def _against_logistic_regression(report: Report) -> Answer:
    folds = report.folds
    if folds is None or folds.logistic_regression is None or folds.above_logistic_regression is None:
        return Answer("It was not compared with logistic regression.", None)
    low, high = folds.above_logistic_regression
    other = sum(folds.logistic_regression) / len(folds.logistic_regression)
    start, good = "No clear difference from logistic regression", None
    if low > 0:
        start, good = "It is better than logistic regression", True
    if high < 0:
        start, good = "Logistic regression is better", False
    difference = "" if low == high else f", 95 % interval {100 * low:+.1f} to {100 * high:+.1f}".replace("-", "−")
    points = f"{100 * (folds.mean - other):+.1f}".replace("-", "−")
    return Answer(
        f"{start}: on the same {len(folds.accuracy)} folds {percent(folds.mean)} are correct, against {percent(other)} "
        f"(difference {points} percentage points{difference}).",
        good,
    )


def _rejection(report: Report) -> Answer:
    """Whether the accuracy of accepted predictions is higher, by more than chance."""
    from scipy.stats import fisher_exact

    every, accepted = report.metrics.accuracy, report.accepted_accuracy
    assert accepted is not None
    n_rejected, n_right = every.total - accepted.total, every.count - accepted.count
    rejected = f"{n_rejected} of {counted(every.total, 'test sample')}"
    if not n_rejected:
        return Answer("No test sample is rejected.", None)
    if accepted.value is None or every.value is None:
        return Answer("Every test sample is rejected, so the model decides nothing.", False)
    if every.value == 1:
        return Answer(
            f"Rejection cannot help, as every prediction is correct; {n_rejected} of {every.total} are rejected.", None
        )
    ends = f"from {percent(every.value)} to {percent(accepted.value)}"
    change = f"with {rejected} rejected, the accuracy changes {ends}."
    if accepted.value <= every.value:
        return Answer(f"Rejecting uncertain predictions does not help: {change}", False)
    table = [[accepted.count, accepted.total - accepted.count], [n_right, n_rejected - n_right]]
    if fisher_exact(table, alternative="greater")[1] < CHANCE:
        return Answer(f"Rejecting uncertain predictions helps: {change}", True)
    return Answer(f"Rejecting uncertain predictions may help, or that is chance: {change}", None)


def _classes(report: Report) -> list[Answer]:
    """Classes that are missed, and those that are mostly rejected."""
    pairs = list(zip(report.data.classes, report.metrics.by_class))
    missed = [f"“{name}” ({_counts(row.sensitivity)} found)" for name, row in pairs if _is_low(row.sensitivity)]
    rejected = [f"“{name}” ({_counts(row.coverage)} accepted)" for name, row in pairs if _is_low(row.coverage)]
    found = [(row.sensitivity.value, name) for name, row in pairs if row.sensitivity.value is not None]
    answers = []
    if missed:
        answers.append(Answer(f"More than half of the samples of these classes are missed: {listed(missed)}.", False))
    else:
        value, name = min(found)
        worst = f"even of the one found least often, “{name}”, {percent(value)} of the samples are found"
        answers.append(Answer(f"No class is missed: {worst}.", True))
    if rejected:
        answers.append(Answer(f"Most samples of these classes are rejected: {listed(rejected)}.", False))
    return answers


def _is_low(found: Fraction) -> bool:
    return found.value is not None and found.value < MISSED


def _counts(found: Fraction) -> str:
    return f"{found.count} of {found.total}"


def _guarantee(report: Report) -> Answer:
    guarantee, majority = report.guarantee, report.metrics.majority
    if guarantee is None:
        return Answer("No error rate is guaranteed; fit with max_error to request one.", None)
    weak = guarantee.requested is not None or guarantee.max_error >= 1 - majority
    return Answer(guarantee_sentence(guarantee, majority), not weak)


def guarantee_sentence(guarantee: Guarantee, majority: float | None = None) -> str:
    """What is guaranteed, for which samples, and whether that is worth anything.

    Examples
    --------
    >>> guarantee_sentence(Guarantee(0.05, 0.95, None, 100, 90, 1, by_group=False))[:54]
    'The error rate of accepted predictions is at most 5.0 '
    """
    whose = "a randomly chosen row of a new group" if guarantee.by_group else "samples"
    text = (
        f"The error rate of accepted predictions is at most {percent(guarantee.max_error)}. That is guaranteed with "
        f"confidence {percent(guarantee.confidence)}, for {whose} from the same source as the training samples."
    )
    if guarantee.requested is not None:
        text += f" Requested was {percent(guarantee.requested)}, which could not be guaranteed."
    if majority is not None and guarantee.max_error >= 1 - majority:
        text += f" Always predicting the most frequent class has an error rate of {percent(1 - majority)}."
    return text


def limits_of(report: Report) -> list[str]:
    """What the numbers do not show."""
    data, rule = report.data, report.model.rejection
    interval = report.metrics.accuracy.interval
    sentences = []
    if interval is not None:
        groups = " It counts whole groups." if data.by_group else ""
        ends = f"{percent(interval[0])} to {percent(interval[1])}"
        sentences.append(
            f"The accuracy was measured on {data.n_samples} samples: its 95 % interval is {ends}, for samples from the "
            f"same source.{groups}"
        )
    small = [name for name, count in zip(data.classes, data.class_counts) if count < MIN_CLASS_SAMPLES]
    if small:
        few = f"Classes with fewer than {MIN_CLASS_SAMPLES} test samples: {listed(small)}."
        sentences.append(f"{few} Their results are uncertain.")
    if report.guarantee is None:
        sentences.append("A threshold that is chosen on these test samples has no guarantee for other samples.")
    sentences += [] if rule is None else rule.notes
    return [*sentences, "Explanations show how the model computes a prediction, not what causes the classes to differ."]
