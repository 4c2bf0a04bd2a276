"""What the numbers of a report mean, as sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from lvq.reports.folds import Folds
from lvq.reports.metrics import CHANCE, Costs, Fraction
from lvq.reports.text import counted, listed, percent

if TYPE_CHECKING:
    from lvq.reports.summary import Report

MIN_CLASS_SAMPLES = 20  # test samples of a class below which its results are uncertain
MISSED = 0.5  # fraction of a class that is found, or accepted, below which it is named
#: What became of the guarantee on other rows, and whether that is good.
GUARANTEES = {
    "kept": ("The guarantee is kept: the error rate of accepted rows is surely below the guaranteed one.", True),
    "broken": ("The guarantee is broken: by more than chance, these rows are not from the same source.", False),
    "not contradicted": ("The guarantee is not contradicted: too few rows are accepted to show more.", None),
}


class Answer(NamedTuple):
    """A sentence of the verdict; `good` is True for yes, False for no, and None where neither is shown."""

    text: str
    good: bool | None

    def __str__(self) -> str:
        return self.text


def verdict_of(report: Report) -> list[Answer]:
    """Is the model of use, better than logistic regression, helped by rejection, fair to all classes, guaranteed?"""
    if report.costs is not None:
        answers = [_against_cheapest(report.costs, report.data.classes)]
    else:
        answers = [_against_constant(report), _against_logistic_regression(report.folds)]
        if report.accepted_accuracy is not None:
            answers.append(_rejection(report.metrics.accuracy, report.accepted_accuracy))
    answers += [*_since_fit(report), *_classes(report), _guarantee(report)]
    return answers + [Answer(f"Check the data: {text[0].lower()}{text[1:]}", None) for text in report.data.suspects]


def _against_constant(report: Report) -> Answer:
    """By the test, and where that does not show it by the folds."""
    metrics, data, folds = report.metrics, report.data, report.folds
    accuracy, name = metrics.accuracy, data.classes[metrics.most_frequent]
    low, high = accuracy.interval or (0.0, 1.0)
    rate = f"{percent(accuracy.value)}, 95 % interval {percent(low)} to {percent(high)}"
    found = f"it predicts {accuracy.count} of {counted(accuracy.total, 'test sample')} correctly ({rate})"
    constant = (
        f"always predicting “{name}”, the most frequent class, would be correct for {percent(metrics.majority)} of them"
    )
    common = max(data.train_counts) / sum(data.train_counts) if data.train_counts else 1.0
    start, end = "It is not shown that this model is of any use", " The difference may be chance."
    good: bool | None = False
    if low > metrics.majority:
        start, end, good = "This model is useful", "", True
    elif folds is not None and folds.above(common)[0] > 0:
        start, good = "The test alone does not show that this model is useful", None
        end = f" In cross-validation it is better by more than chance: {percent(folds.mean)} against {percent(common)}."
    elif (accuracy.value or 0.0) <= metrics.majority:
        start, end = "This model is of no use here", ""
    return Answer(f"{start}: {found}; {constant}.{end}", good)


def _against_cheapest(costs: Costs, classes: list[str]) -> Answer:
    """With costs the accuracy is not what the model was asked for."""
    good, name = costs.mean < costs.cheapest, classes[costs.cheapest_class]
    start = "This model is useful" if good else "This model is of no use here"
    found = f"a sample costs {costs.mean:.3f} on average; always predicting “{name}” would cost {costs.cheapest:.3f}"
    return Answer(f"{start}: {found}.", good)


def _against_logistic_regression(folds: Folds | None) -> Answer:
    if folds is None or folds.logistic_regression is None or folds.above_logistic_regression is None:
        return Answer("It was not compared with logistic regression.", None)
    low, high = folds.above_logistic_regression
    other = sum(folds.logistic_regression) / len(folds.logistic_regression)
    start, good = "No clear difference from logistic regression", None
    if low > 0:
        start, good = "It is better than logistic regression", True
    if high < 0:
        start, good = "Logistic regression is better", False
    points = f"difference {100 * (folds.mean - other):+.1f} percentage points"
    interval = f", 95 % interval {100 * low:+.1f} to {100 * high:+.1f}" if low < high else ""
    rates = f"on the same {len(folds.accuracy)} folds {percent(folds.mean)} are correct, against {percent(other)}"
    return Answer(f"{start}: {rates} ({points}{interval}).".replace("-", "−"), good)


def _rejection(every: Fraction, accepted: Fraction) -> Answer:
    """Whether the accuracy of accepted predictions is higher, by more than chance."""
    from scipy.stats import fisher_exact

    n_rejected, n_right = every.total - accepted.total, every.count - accepted.count
    if not n_rejected:
        return Answer("No test sample is rejected.", None)
    if accepted.value is None or every.value is None:
        return Answer("Every test sample is rejected, so the model decides nothing.", False)
    rejected = f"with {n_rejected} of {counted(every.total, 'test sample')} rejected"
    if every.value == 1:
        return Answer(f"Rejection cannot help, as every prediction is correct, also {rejected}.", None)
    rates = f"{percent(accepted.value)} of the others are correct, instead of {percent(every.value)} of all"
    table = [[accepted.count, accepted.total - accepted.count], [n_right, n_rejected - n_right]]
    start, good = "Rejecting uncertain predictions may help, or that is chance", None
    if accepted.value <= every.value:
        start, good = "Rejecting uncertain predictions does not help", False
    elif fisher_exact(table, alternative="greater")[1] < CHANCE:
        start, good = "Rejecting uncertain predictions helps", True
    return Answer(f"{start}: {rejected}, {rates}.", good)


def _since_fit(report: Report) -> list[Answer]:
    """A validation beside the test at the fit: the difference of the accuracies, and whether the guarantee was kept."""
    earlier = report.earlier
    if earlier is None:
        return []
    low, high = (f"{100 * end:+.1f}".replace("-", "−") for end in earlier.difference)
    good = True if earlier.difference[0] > 0 else False if earlier.difference[1] < 0 else None
    chance = "no more than chance" if good is None else "more than chance"
    before = f"{percent(earlier.accuracy.value)} of {counted(earlier.accuracy.total, 'row')} of {earlier.data_name}"
    text = f"The test at the fit had an accuracy of {before}; the difference here is {chance}"
    answers = [Answer(f"{text} (95 % interval {low} to {high} percentage points).", good)]
    if earlier.verdict is not None:
        answers.append(Answer(*GUARANTEES[earlier.verdict]))
    return answers


def _classes(report: Report) -> list[Answer]:
    """Classes that are missed, those that are mostly rejected, and those with few samples."""
    pairs = list(zip(report.data.classes, report.metrics.by_class))
    missed = [f"“{name}” ({_counts(row.sensitivity)} found)" for name, row in pairs if _is_low(row.sensitivity)]
    rejected = [f"“{name}” ({_counts(row.coverage)} accepted)" for name, row in pairs if _is_low(row.coverage)]
    few = [f"“{name}”" for name, row in pairs if row.sensitivity.total < MIN_CLASS_SAMPLES]
    value, name = min((row.sensitivity.value, name) for name, row in pairs if row.sensitivity.value is not None)
    worst = f"even of “{name}”, which is found least often, {percent(value)} of the samples are found"
    worst = worst if value < 1 else "every sample of every class is found"
    answers = [Answer(f"No class is missed: {worst}.", True)]
    if missed:
        answers = [Answer(f"More than half of the samples of these classes are missed: {listed(missed)}.", False)]
    if rejected:
        answers.append(Answer(f"Most samples of these classes are rejected: {listed(rejected)}.", False))
    if few:
        text = f"These classes have fewer than {MIN_CLASS_SAMPLES} test samples, so their results are uncertain"
        answers.append(Answer(f"{text}: {listed(few)}.", None))
    return answers


def _is_low(found: Fraction) -> bool:
    return found.value is not None and found.value < MISSED


def _counts(found: Fraction) -> str:
    return f"{found.count} of {found.total}"


def _guarantee(report: Report) -> Answer:
    """What is guaranteed, for which samples, and whether that is worth anything."""
    guarantee, constant = report.guarantee, 1 - report.metrics.majority
    if guarantee is None:
        return Answer("No error rate is guaranteed for new samples; max_error (--max-error) requests one.", None)
    rows = "a randomly chosen row of a new group" if guarantee.unit == "groups" else "new samples"
    text = (
        f"Guaranteed for {rows} from the same source as the training samples, with {100 * guarantee.confidence:g} % "
        f"confidence: at most {100 * guarantee.max_error:g} % of the accepted predictions are wrong."
    )
    if guarantee.requested_error is not None:
        text += f" Requested was {percent(guarantee.requested_error)}, which could not be guaranteed."
    if guarantee.max_error >= constant:
        text += f" Always predicting the most frequent class is wrong for {percent(constant)}."
    return Answer(text, guarantee.requested_error is None and guarantee.max_error < constant)
