"""What the numbers of a report mean, as sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from lvq.rejection.guarantee import CertifiedPoint, error_p_value, error_upper_bound
from lvq.reports.metrics import CHANCE, Costs, Fraction
from lvq.reports.text import count, counted, listed, percent

if TYPE_CHECKING:
    from lvq.reports.summary import Report

MIN_CLASS_SAMPLES = 20  # test samples of a class below which its results are uncertain
CLOSE = 0.02  # accuracy above that of one class on the accepted samples, below which the latter is told
FOUND = 0.75  # fraction of each class that is good
MISSED = 0.5  # fraction of a class that is found, or accepted, below which it is named
#: What became of the guarantee on other rows, and whether that is good.
GUARANTEES = {
    "kept": ("The guarantee is kept: the error rate of accepted rows is below it, with {:g} % confidence.", True),
    "broken": ("The guarantee is broken, by more than chance: these rows are not from the same source.", False),
    "not contradicted": ("The guarantee is not contradicted: too few rows are accepted to show more.", None),
}


class Answer(NamedTuple):
    """A sentence of the verdict; `good` is True for yes, False for no, and None where neither is shown."""

    text: str
    good: bool | None

    def __str__(self) -> str:
        return self.text


def verdict_of(report: Report) -> list[Answer]:
    """Is the model useful, better than logistic regression, helped by rejection, good at every class, guaranteed?"""
    if report.costs is not None:
        first, answers = _against_cheapest(report.costs, report.data.classes), []
    else:
        first, answers = _against_constant(report), [_against_logistic_regression(report)]
        if report.accepted_accuracy is not None:
            answers.append(_rejection(report, report.metrics.accuracy, report.accepted_accuracy))
    answers += [*_since_fit(report), *_classes(report)]
    answers.insert(len(answers) if report.guarantee is None else 0, _guarantee(report))
    answers += [Answer(f"Check the data: {text[0].lower()}{text[1:]}", None) for text in report.data.suspects]
    if first.good is False:  # then nothing else is good news
        answers = [answer._replace(good=answer.good and None) for answer in answers]
    return [first, *answers]


def _against_constant(report: Report) -> Answer:
    """Judged by the test, or by the folds if the test is too small."""
    metrics, data, folds = report.metrics, report.data, report.context.folds
    accuracy, name = metrics.accuracy, data.classes[metrics.most_frequent]
    low, high = accuracy.interval or (0.0, 1.0)
    rate = f"{percent(accuracy.value)}, 95 % interval {percent(low)} to {percent(high)}"
    found = f"it predicts {count(accuracy.count)} of {counted(accuracy.total, 'test sample')} correctly ({rate})"
    always = f"always predicting “{name}”"
    constant = f"{always}, the most frequent class, would be correct for {percent(metrics.majority)} of them"
    common = max(data.train_counts) / sum(data.train_counts) if data.train_counts else 1.0
    row = metrics.by_class[metrics.most_frequent].sensitivity
    gained, lost = accuracy.count - row.count, row.total - row.count  # correct only by the model, only by the constant
    paired = report.context.groups is None  # the interval takes the other rate as known, and so errs where many differ
    if error_p_value(lost, gained + lost, 0.5) < CHANCE / 2 if paired else low > metrics.majority:
        alone = f" Of {gained + lost} samples that only one of the two predicts correctly, the model has {gained}."
        return Answer(f"This model is useful: {found}; {constant}.{alone * (low <= metrics.majority)}", True)
    if folds is not None and folds.above(common)[0] > 0 and high > metrics.majority:
        start = f"This model is useful by cross-validation ({percent(folds.mean)} against {percent(common)})"
        return Answer(f"{start}; the test alone does not show it: {found}; {constant}.", None)
    start, end = f"This model is not shown to be better than {always}", " The difference could be chance."
    if (accuracy.value or 0.0) <= metrics.majority:
        start, end = f"This model is no better than {always}", ""
    return Answer(f"{start}: {found}; {constant}.{end}{_ranks(report)}", False)


def _ranks(report: Report) -> str:
    """Whether a model whose predictions are useless still ranks the samples."""
    metrics, classes = report.metrics, report.data.classes
    if metrics.auc is None or metrics.auc_error is None or metrics.auc < 0.5 + 1.96 * metrics.auc_error:
        return ""
    rarer = classes[1 - metrics.most_frequent]
    return f" It does rank the samples (AUC {metrics.auc:.2f}); a fit with --costs predicts “{rarer}” more often."


def _against_cheapest(costs: Costs, classes: list[str]) -> Answer:
    """With costs the accuracy is not what the model was asked for."""
    good, name = costs.mean < costs.cheapest, classes[costs.cheapest_class]
    start = "This model is useful" if good else f"This model is no better than always predicting “{name}”"
    found = f"a sample costs {costs.mean:.3f} on average; always predicting “{name}” would cost {costs.cheapest:.3f}"
    return Answer(f"{start}: {found}.", good)


def _against_logistic_regression(report: Report) -> Answer:
    folds = report.context.folds
    if folds is None or folds.logistic_regression is None or folds.above_logistic_regression is None:
        how = " (give X_train and y_train)" if report.data.n_train is None and report.earlier is None else ""
        return Answer(f"It was not compared with logistic regression{how}.", None)
    low, high = folds.above_logistic_regression
    other = sum(folds.logistic_regression) / len(folds.logistic_regression)
    start, good = "No clear difference from logistic regression", None
    if low > 0:
        start, good = "It is better than logistic regression", True
    if high < 0:
        start, good = "Logistic regression is better", False
    points = f"difference {100 * (folds.mean - other):+.1f} percentage points"
    interval = f", 95 % interval {100 * low:+.1f} to {100 * high:+.1f}"
    rates = f"on the same {len(folds.accuracy)} folds {percent(folds.mean)} are correct, against {percent(other)}"
    return Answer(f"{start}: {rates} ({points}{interval}).".replace("-", "−"), good)


def _rejection(report: Report, every: Fraction, accepted: Fraction) -> Answer:
    """Whether the accuracy of accepted predictions is higher, by more than chance."""
    from scipy.stats import fisher_exact

    n_rejected, n_right = every.total - accepted.total, every.count - accepted.count
    if not n_rejected:
        return Answer("No test sample is rejected.", None)
    if accepted.value is None or every.value is None:
        return Answer("Every test sample is rejected, so the model decides nothing.", False)
    rejected = f"{count(n_rejected)} of {counted(every.total, 'test sample')}"
    if every.value == 1:
        text = f"Every prediction is correct, so nothing is gained by rejecting {rejected}"
        return Answer(f"{text}; min_coverage=1 (--coverage 1) accepts all.", None)
    rates = f"{percent(accepted.value)} of the others are correct, instead of {percent(every.value)} of all"
    common = report.metrics.most_frequent
    constant = report.metrics.by_class[common].coverage.count / accepted.total
    if accepted.value - constant < CLOSE:
        rates += f"; always predicting “{report.data.classes[common]}” would be correct for {percent(constant)} of them"
    table = [[accepted.count, accepted.total - accepted.count], [n_right, n_rejected - n_right]]
    start, good = "Rejecting uncertain predictions may help, but the difference could be chance", None
    if accepted.value <= every.value:
        start, good = "Rejecting uncertain predictions does not help", False
    elif fisher_exact(table, alternative="greater")[1] < CHANCE:
        start, good = "Rejecting uncertain predictions helps", True
        if accepted.value <= constant:
            start, good = "Rejecting uncertain predictions raises the accuracy, but not above that of one class", None
    return Answer(f"{start}: with {rejected} rejected, {rates}.", good)


def _since_fit(report: Report) -> list[Answer]:
    """A validation compared with the original test: how the accuracies differ, and whether the guarantee was kept."""
    earlier = report.earlier
    if earlier is None:
        return []
    low, high = (f"{100 * end:+.1f}".replace("-", "−") for end in earlier.difference)
    good = True if earlier.difference[0] > 0 else False if earlier.difference[1] < 0 else None
    chance = "no more than chance" if good is None else "more than chance"
    before = f"{percent(earlier.accuracy.value)} on {counted(earlier.accuracy.total, 'row')} of {earlier.data_name}"
    text = f"In the original test, the accuracy was {before}; the difference here is {chance}"
    answers = [Answer(f"{text} (95 % interval {low} to {high} percentage points).", good)]
    if earlier.verdict is not None and report.guarantee is not None:
        text, good = GUARANTEES[earlier.verdict]
        answers.append(Answer(text.format(100 * report.guarantee.confidence), good))
    return answers


def _classes(report: Report) -> list[Answer]:
    """Classes that are missed, those that are mostly rejected, and those with few samples."""
    pairs = list(zip(report.data.classes, report.metrics.by_class))
    missed = [f"“{name}” ({_counts(row.sensitivity)} found)" for name, row in pairs if _is_low(row.sensitivity)]
    rejected = [f"“{name}” ({_counts(row.coverage)} accepted)" for name, row in pairs if _is_low(row.coverage)]
    few = [f"“{name}”" for name, row in pairs if row.sensitivity.total < MIN_CLASS_SAMPLES]
    value, name = min((row.sensitivity.value, name) for name, row in pairs if row.sensitivity.value is not None)
    least = f"The class found least often is “{name}”: {percent(value)} of its samples are found."
    answers = [Answer(least if value < 1 else "Every sample of every class is found.", value >= FOUND or None)]
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
    return f"{count(found.count)} of {count(found.total)}"


def _guarantee(report: Report) -> Answer:
    """What is guaranteed, for which samples, and whether it is better than always predicting one class."""
    guarantee, constant = report.guarantee, 1 - report.metrics.majority
    if guarantee is None:
        return Answer("No error rate is guaranteed for new samples; max_error (--max-error) requests one.", None)
    rows = "a randomly chosen row of a new group" if guarantee.unit == "groups" else "new samples"
    text = (
        f"Guaranteed for {rows} from the same source as the training samples, with {100 * guarantee.confidence:g} % "
        f"confidence: at most {100 * guarantee.max_error:g} % of the accepted predictions are wrong."
    )
    if guarantee.requested_error is not None:
        text += f" The requested {percent(guarantee.requested_error)} could not be guaranteed. {guarantee.fallback}"
    if guarantee.max_error >= constant:
        text += f" Always predicting the most frequent class is wrong for {percent(constant)}."
    good: bool | None = guarantee.requested_error is None and guarantee.max_error < constant
    found = report.accepted_accuracy
    if report.earlier is None and found is not None and found.count < (1 - guarantee.max_error) * found.total:
        broken = guarantee.unit == "samples" and what_became_of(guarantee, found) == "broken"
        wrong = f"{count(found.total - found.count)} of {count(found.total)} accepted were wrong"
        means = "more than chance explains" if broken else "no proof against the bound, but a reason to check"
        good = False if broken else good and None
        text += f" In the test {wrong} ({percent(1 - found.count / found.total)}): {means}."
    return Answer(text, good)


def what_became_of(guarantee: CertifiedPoint, accepted: Fraction) -> str:
    """Whether the error rate among accepted rows contradicts the guaranteed one, by exact one-sided bounds."""
    if not accepted.total:
        return "not contradicted"
    upper = float(error_upper_bound(accepted.total - accepted.count, accepted.total, guarantee.confidence))
    lower = 1 - float(error_upper_bound(accepted.count, accepted.total, guarantee.confidence))
    return "broken" if lower > guarantee.max_error else "kept" if upper <= guarantee.max_error else "not contradicted"
