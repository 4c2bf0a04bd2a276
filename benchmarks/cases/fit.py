"""Fits to each library's own stop: CPU seconds of one thread, training objective and accuracies."""

from typing import Any

from benchmarks import data, text
from benchmarks.results import one, select
from benchmarks.rounds import LVQ_PEERS, Entry, Row, Run, interleave
from benchmarks.workers.models import SCIKIT_LEARN

TITLE = "Fit to convergence"
MINUTES = 25.0
#: Those with a goal first, the smaller first.
SETS = ("iris", "wine", "digits", "blobs", "letter", "usps", "mnist", "wdbc")
#: Samples x features x classes.
WORK = {
    "iris": 150 * 4 * 3, "wine": 178 * 13 * 3, "wdbc": 569 * 30 * 2, "digits": 1797 * 64 * 10,
    "blobs": 20_000 * 32 * 10, "letter": 16_000 * 16 * 26, "usps": 7291 * 256 * 10, "mnist": 60_000 * 784 * 10,
}  # fmt: skip
#: Up to so many times our time a peer's objective is given to our fit to reach.
COMPARED = 20
BLOBS = (20_000, 32, 10, 5000)
EXPLANATION = """CPU seconds in one thread on one core, median and quartiles, of a fit including its start, until the
library's default stopping rule. The objective is the mean of (d+ - d-)/(d+ + d-) over the training samples, computed
from each library's prototypes and matrix by the same code; lower is better. Each round has another seed, and qualities
are medians over rounds: with rank 2 the minimum depends on the start. "In products": our time divided by that of one
bare product and argmin of all training samples with the prototypes. "over 20 s": stopped there. The other libraries do
not train matrices with 10 prototypes per class on the larger sets, which would take hours. They stop at other
objectives than ours, mostly at worse ones. So the last column compares at equal quality: the time of the library
that is fastest in this way, divided by the time of our fit with the fewest iterations (`max_iter`) that reaches the
library's objective and its test accuracy less a standard error. If our whole fit does not reach them, fits from several
starts are counted until one does."""


def models(name: str) -> list[Row]:
    """GLVQ, GMLVQ of full rank and of rank 2, with 1 and 10 prototypes per class, and the defaults."""
    kinds: list[tuple[str, int | None]] = [("glvq", None), ("gmlvq", None), ("gmlvq", 2)]
    wanted: list[Row] = [
        {"model": model, "rank": rank, "per_class": count}
        for count in (1, 10)
        for model, rank in kinds
        if name != "mnist" or count == 1 or model == "glvq"
    ]
    return wanted if name == "mnist" else [*wanted, {"model": "default"}]


def cells(quick: bool) -> list[Row]:
    """Each model on each set; quick: two models on a tiny set."""
    if quick:
        return [{"set": "iris", "model": "gmlvq", "rank": 2, "per_class": 1}, {"set": "iris", "model": "default"}]
    return [{"set": name, **model} for name in SETS for model in models(name)]


def folder(name: str, run: Run) -> str:
    """The arrays of a set."""
    return run.data.folder(data.blobs, *BLOBS) if name == "blobs" else run.data.folder(data.real, name)


def run(cell: Row, run: Run) -> list[Row]:
    """Ours in one thread, the bare product over all samples, the peers, and ours with the default threads."""
    where = folder(cell["set"], run)
    task: dict[str, Any] = {"operation": "fit", "data": where, **{k: v for k, v in cell.items() if k != "set"}}
    entries = [Entry("lvq", task, seeds=True)]
    if cell["model"] == "default":
        entries += [Entry("scikit-learn", task | {"model": model}, {"peer_model": model}) for model in SCIKIT_LEARN]
    else:
        count = cell["per_class"] * {"letter": 26, "iris": 3, "wine": 3, "wdbc": 2}.get(cell["set"], 10)
        product = {"operation": "product", "data": where, "array": "X", "prototypes": count}
        entries.append(Entry("numpy", product, {"prototypes": count}))
        if WORK[cell["set"]] < WORK["digits"] or is_short(cell):
            failures = {library: known_to_fail(library, cell, run.rows) for library in LVQ_PEERS}
            entries += [Entry(library, task, seeds=True, left_out=reason) for library, reason in failures.items()]
    if cell["set"] != "mnist":  # the case "large" has it
        entries.append(Entry("lvq", task, threads=None, seeds=True))
    rows = interleave(run, entries)
    return rows + interleave(run, [reaching(row, task) for row in rows if needs_time(row, rows[0])])


def needs_time(peer: Row, ours: Row) -> bool:
    """Whether our time to a peer's objective is measured: it ended, and not long after our whole fit."""
    ended = peer["library"] in LVQ_PEERS and peer["status"] == "ok" and ours["status"] == "ok"
    return ended and peer["cpu"]["median"] < COMPARED * ours["cpu"]["median"]


def reaching(peer: Row, task: Row) -> Entry:
    """Our fit to the objective and the test accuracy, less its standard error, of a peer."""
    accuracy = peer["test_accuracy"] - standard_error(peer)
    wanted = {"operation": "reach", "objective": peer["objective"], "accuracy": accuracy}
    return Entry("lvq", task | wanted, {"until": peer["library"]})


def is_model(row: Row, model: Row) -> bool:
    """Whether a row is of a model, by its name, rank and number of prototypes."""
    return all(row.get(key) == model.get(key) for key in ("model", "rank", "per_class"))


def is_short(model: Row) -> bool:
    """Whether peers are asked for a model on larger sets: not for matrices with 10 prototypes per class."""
    return model["model"] == "glvq" or model["per_class"] == 1


def known_to_fail(library: str, cell: Row, rows: list[Row]) -> str | None:
    """A reason not to run a peer: the same model with no more work took too long, or too much memory."""
    for row in rows:
        if row["library"] != library or any(row.get(key) != cell.get(key) for key in ("model", "rank")):
            continue
        less = WORK[row["set"]] <= WORK[cell["set"]] and row["per_class"] <= cell["per_class"]
        if less and (row["status"].startswith("over ") or row["status"] == "failed: out of memory"):
            return f"not run: {row['status']} on {row['set']}, {row['per_class']} per class"
    return None


def report(rows: list[Row]) -> str:
    """Times and accuracies by set and model."""
    head = [
        "set", "model", "ours, one thread", "in products", "ours, default threads (wall)", *LVQ_PEERS,
        "objective: ours", "best peer", "test accuracy: ours", "best peer", "equal quality",
    ]  # fmt: skip
    lines = [line(rows, name, model) for name in SETS for model in models(name) if model["model"] != "default"]
    parts = [
        EXPLANATION,
        text.table(head, [found for found in lines if found]),
        "`LVQClassifier()` and scikit-learn's classifiers with their defaults, CPU seconds in one thread (test "
        "accuracy in percent):",
        text.table(["set", "LVQClassifier", *map(text.name, SCIKIT_LEARN)], default_lines(rows)),
    ]
    return "\n\n".join(parts)


def line(rows: list[Row], name: str, model: Row) -> list[str] | None:
    """A row of the table; None if the cell was not run."""
    here = [row for row in rows if row["set"] == name and is_model(row, model)]
    ours = one(here, library="lvq", threads=1, until=None)
    if ours is None:
        return None
    wall, product = one(here, library="lvq", threads=None), one(here, library="numpy")
    peers = {row["library"]: row for row in here if row["library"] in LVQ_PEERS}
    done = [row for row in peers.values() if row["status"] == "ok"]
    passes = ours["cpu"]["median"] / (product["cpu"]["median"] * product["rows"]) if product else None
    return [
        text.name(name), text.model_name(model), text.spread(ours), text.digits(passes) if passes else "",
        text.spread(wall, "wall") if wall else "",
        *(text.spread(peers[library]) if library in peers else "" for library in LVQ_PEERS),
        f"{ours['objective']:.3f}", f"{min(row['objective'] for row in done):.3f}" if done else "",
        text.percent(ours["test_accuracy"]), text.percent(max((row["test_accuracy"] for row in done), default=None)),
        next((shown(found) for found in ratios(rows, name) if is_model(found, model)), ""),
    ]  # fmt: skip


def shown(found: Row) -> str:
    """A ratio and its peer."""
    better = "" if found["as_good"] else ", which is better"
    return f"{'over ' if found['stopped'] else ''}{text.digits(found['ratio'])} ({found['peer']}{better})"


def default_lines(rows: list[Row]) -> list[list[str]]:
    """Rows of the table of the defaults."""
    lines = []
    for name in SETS:
        here = [row for row in rows if row["set"] == name and row["model"] == "default" and row["threads"] == 1]
        found = {row.get("peer_model", "ours"): row for row in here}
        if found:
            order = ["ours", *SCIKIT_LEARN]
            lines.append([text.name(name), *(_timed(found[key]) if key in found else "" for key in order)])
    return lines


def _timed(row: Row) -> str:
    if row["status"] != "ok":
        return text.short(row["status"])
    return f"{text.seconds(row['cpu']['median'])} ({text.percent(row['test_accuracy'])})"


def ratios(rows: list[Row], name: str) -> list[Row]:
    """For each model on a set, what `ratio` gives."""
    found = []
    for model in models(name):
        here = [row for row in rows if row["set"] == name and is_model(row, model)]
        ours = one(here, library="lvq", threads=1, until=None)
        if ours is None or model["model"] == "default":
            continue
        peers = [row for row in here if row["library"] in LVQ_PEERS]
        reached = {row["until"]: row for row in here if row.get("until") and row.get("reached")}
        compared = [against for peer in peers if (against := ratio(ours, peer, reached)) is not None]
        if compared:
            found.append({**model, **min(compared, key=lambda against: against["ratio"])})
    return found


def ratio(ours: Row, peer: Row, reached: dict[str, Row]) -> Row | None:
    """A peer's time over ours, "whole" that over our whole fit, and whether ours is as good; None if it did not run.

    Our time is that to the peer's objective and accuracy, where it was measured. A peer that was stopped counts with
    the time at which it was stopped, as its time is at least that.
    """
    stopped = peer["status"].startswith("over ")
    if not stopped and peer["status"] != "ok":
        return None
    seconds, whole = float(peer["status"].split()[1]) if stopped else peer["cpu"]["median"], ours["cpu"]["median"]
    row = reached.get(peer["library"])
    good = stopped or row is not None or as_good(ours, peer)
    time = row["cpu"]["median"] if row else whole
    return {
        "peer": peer["library"],
        "ratio": seconds / time,
        "whole": seconds / whole,
        "stopped": stopped,
        "as_good": good,
    }


def slower_in_threads(rows: list[Row]) -> float | None:
    """Largest ratio of our wall time with default threads to that with one."""
    ratios = [
        row["wall"]["median"] / alone["wall"]["median"]
        for row in select(rows, library="lvq", threads=None)
        if (alone := one(rows, library="lvq", threads=1, until=None, cell=row["cell"])) is not None
    ]
    return max(ratios, default=None)


def standard_error(row: Row) -> float:
    """Standard error of a test accuracy."""
    return (row["test_accuracy"] * (1 - row["test_accuracy"]) / row["tests"]) ** 0.5


def as_good(ours: Row, peer: Row) -> bool:
    """Whether the objective is not larger by 0.001, and the test accuracy not smaller by a standard error."""
    accurate = ours["test_accuracy"] >= peer["test_accuracy"] - standard_error(peer)
    return ours["objective"] <= peer["objective"] + 1e-3 and accurate


def figure(rows: list[Row], path: Any) -> None:
    """Each peer's time over ours, by set; a point for each model."""
    from benchmarks import plots

    groups = {}
    for name in SETS:
        here = [row for row in rows if row["set"] == name and row["model"] != "default"]
        ours = {row["cell"]: row["cpu"]["median"] for row in select(here, library="lvq", threads=1, until=None)}
        groups[text.name(name)] = {
            library: [row["cpu"]["median"] / ours[row["cell"]] for row in select(here, library=library)]
            for library in LVQ_PEERS
        }
    plots.ratio_points(groups, path, "peer's CPU seconds over ours")
