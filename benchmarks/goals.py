"""The goals, each computed from the stored results: what is wanted, what was measured, whether it holds."""

import itertools
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from benchmarks import text
from benchmarks.cases import coldstart, fit, online, predict
from benchmarks.results import one
from benchmarks.rounds import Row
from experiments import pool

Results = dict[str, list[Row]]
#: How many times faster than the fastest peer a fit should be.
FASTER = {"iris": 1, "wine": 1, "digits": 5, "blobs": 10, "letter": 10, "usps": 10, "mnist": 10}


class Goal(NamedTuple):
    """A line of the table; `held` is None where it was not measured, or cannot be decided."""

    goal: str
    measured: str
    held: bool | None


def goals(results: Results) -> list[Goal]:
    """All goals; results are rows by case, and may be missing."""
    found = [*prediction(results), *fits(results), *large(results), *gpu(results)]
    found.append(at_most("`LVQClassifierCV`, mean CPU time relative to a 16-point SVC grid", pool.search_ratio(), 3))
    slower = coldstart.ratio(results.get("coldstart", []))
    found.append(at_most("cold start, time relative to LogisticRegression", slower, 1.2))
    return found


def table(results: Results) -> str:
    """The goals as Markdown."""
    words = {True: "held", False: "**not held**", None: "not decided"}
    lines = [[goal, shown, words[held] if shown else "not measured"] for goal, shown, held in goals(results)]
    return text.table(["goal", "measured", ""], lines)


def at_most(goal: str, value: float | None, limit: float, unit: str = "") -> Goal:
    """A goal that a number is not larger."""
    return _compare(goal, "at most", value, limit, unit, lambda a, b: a <= b)


def at_least(goal: str, value: float | None, limit: float, unit: str = "") -> Goal:
    """A goal that a number is not smaller."""
    return _compare(goal, "at least", value, limit, unit, lambda a, b: a >= b)


def _compare(
    goal: str, word: str, value: float | None, limit: float, unit: str, holds: Callable[[float, float], bool]
) -> Goal:
    shown = "" if value is None else f"{value:.3g}{unit}"
    return Goal(f"{goal}: {word} {limit:g}{unit}", shown, None if value is None else holds(value, limit))


def prediction(results: Results) -> Iterable[Goal]:
    """Fractions of the bare product, the smallest of all settings; one sample."""
    rows = results.get("predict", [])
    settings = list(itertools.product((64, 784), ("float64", "float32"), ("glvq", "gmlvq")))
    for threads, words in ((1, "one thread"), (None, "default threads")):
        found = {setting: predict.fraction(rows, *setting, threads) for setting in settings}
        done = {setting: value for setting, value in found.items() if value is not None}
        smallest = min(done, key=lambda setting: done[setting]) if len(done) == len(settings) else None
        value = done[smallest] if smallest else None
        goal = at_least(
            f"`predict`, fraction of a bare product and argmin, smallest of 8 settings, {words}", value, 0.8
        )
        where = f" ({text.name(smallest[2])}, {smallest[0]} features, {smallest[1]})" if smallest else ""
        yield goal._replace(measured=goal.measured + where)
    ours, theirs = (
        one(rows, kind="single", library=library, peer_model=model)
        for library, model in (("lvq", "glvq"), ("scikit-learn", "nearest_centroid"))
    )
    ratio = ours["cpu"]["median"] / theirs["cpu"]["median"] if ours and theirs else None
    yield at_most("`predict` of one sample (GLVQ), time relative to NearestCentroid", ratio, 0.5)


def fits(results: Results) -> Iterable[Goal]:
    """The fastest peer's time over ours, the worst of the models; and R."""
    rows = results.get("fit", [])
    for name, limit in FASTER.items():
        found = fit.ratios(rows, name)
        words = "blobs 20,000 x 32" if name == "blobs" else text.name(name)
        goal = f"`fit` on {words}, one thread, equal or better: the fastest peer's time over ours at its quality"
        if not found:
            yield at_least(goal, None, limit)
            continue
        worst = min(found, key=lambda row: row["ratio"])
        behind = [text.model_name(row) for row in found if not row["as_good"]]
        shown = f"{fit.shown(worst)}, {text.model_name(worst)}; {text.digits(min(row['whole'] for row in found))}"
        shown += " over whole fits"
        if behind:
            shown += f"; a peer is better in {', '.join(behind)}"
        below = worst["ratio"] < limit
        undecided = below and worst["stopped"]  # it was stopped before the limit could be seen
        held = None if undecided else not below and not behind
        yield Goal(f"{goal}: at least {limit}", shown, held)
    words = "`fit` on every set, wall time with default threads relative to one thread, largest of all models"
    yield at_most(words, fit.slower_in_threads(rows), 1.1)
    against_r = online.against_r(results.get("online", []))
    words = "LVQ1 on digits, 10 per class, 5 epochs through `fit`: R's time (without its start) over ours"
    yield at_least(words, against_r, 3)


def large(results: Results) -> Iterable[Goal]:
    """MNIST and letter as a user meets them."""
    rows = results.get("large", [])
    models: dict[str, tuple[str, float]] = {
        "glvq": ("GLVQ 10 per class", 12), "gmlvq": ("GMLVQ", 40), "default": ("`LVQClassifier()`", 240)
    }  # fmt: skip
    ours: dict[str, Any] = {
        model: one([row for row in rows if row["library"] == "lvq"], set="mnist", model=model) for model in models
    }
    for model, (words, limit) in models.items():
        value = ours[model]["wall"]["median"] if ours[model] else None
        yield at_most(f"MNIST on two cores, {words}", value, limit, " s")
    for name, limit in (("mnist", 97.5), ("letter", 95.0)):
        found = one([row for row in rows if row["library"] == "lvq"], set=name, model="default")
        value = 100 * found["test_accuracy"] if found else None
        yield at_least(f"{text.name(name)}, `LVQClassifier()`, test accuracy", value, limit, " %")
    needed = [found["fit_megabytes"] for found in ours.values() if found]
    most = max(needed) if len(needed) == len(models) else None
    yield at_most("MNIST, memory in addition to the data, largest of the three", most, 2000, " MB")


def gpu(results: Results) -> Iterable[Goal]:
    """Whole fits on the device."""
    rows = results.get("gpu", [])
    models: dict[str, tuple[str, float]] = {
        "glvq": ("GLVQ 10 per class", 1), "gmlvq": ("GMLVQ", 1.5), "default": ("`LVQClassifier()`", 10)
    }  # fmt: skip
    for model, (words, limit) in models.items():
        found = one(rows, set="mnist", model=model)
        value = found["wall"]["median"] if found else None
        yield at_most(f"H200, MNIST float32 on the device, {words}", value, limit, " s")
    big = one(rows, set="drawn", samples=10_000_000)
    ratio = big["wall"]["median"] / (big["iterations"] * big["pass"]) if big else None
    words = "10,000,000 x 64, 100 prototypes: time of a fit relative to its iterations at the kernels' rate"
    goal = at_most(words, ratio, 2)
    yield goal._replace(measured=goal.measured + (f" ({text.seconds(big['wall']['median'])})" if big else ""))
    large = one(rows, set="embeddings", samples=1_000_000)
    words = "H200, embeddings simulated on the device, 1,000,000 x 768, 1,000 classes, `LVQClassifier()`"
    yield at_most(words, large["wall"]["median"] if large else None, 60, " s")
