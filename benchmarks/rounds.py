"""Interleaved repetitions: each round asks every participant once, so that a change of the machine affects all."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.data import Data
from benchmarks.environments import specifications
from benchmarks.processes import Workers
from benchmarks.workers.measures import quartiles

Row = dict[str, Any]
#: A participant is measured again while its repetitions of a cell take no longer than this together, in seconds.
REPEAT_SECONDS = 4.0
#: A peer is stopped at this many times our own time, but not before LEAST_SECONDS nor after the limit of the run.
TIMES_OURS, LEAST_SECONDS = 10, 20.0
#: What fits from other seeds may have other values of: the median of the rounds counts.
QUALITY = ("train_accuracy", "test_accuracy", "objective")
LVQ_PEERS = ("sklvq", "sklearn-lvq", "prosemble", "prototorch")
PEERS = (*specifications(), "scikit-learn")


@dataclass
class Run:
    """What a case needs to run."""

    workers: Workers
    data: Data
    repeat: int = 3
    quick: bool = False
    timeout: float = 120.0
    #: Largest seconds of a task of ours.
    own_timeout: float = 300.0
    peers: tuple[str, ...] = PEERS
    #: When the case should end, by time.monotonic(); peers are not started after it.
    end: float = float("inf")
    #: Rows of the case so far.
    rows: list[Row] = field(default_factory=list)


@dataclass
class Entry:
    """A participant of a cell: who runs which task, and how; `shown` goes into its row."""

    library: str
    task: dict[str, Any]
    shown: dict[str, Any] = field(default_factory=dict)
    threads: int | None = 1
    fresh: bool = False
    #: Whether each round has a seed of its own.
    seeds: bool = False
    #: A reason not to run it.
    left_out: str | None = None

    @property
    def ours(self) -> bool:
        """Whether it is not a peer: this library, or the limit."""
        return self.library in ("lvq", "numpy")


class _State:
    """The results of a participant."""

    def __init__(self, entry: Entry) -> None:
        self.entry = entry
        self.results: list[dict[str, Any]] = []
        self.status = entry.left_out or "ok"
        self.finished = entry.left_out is not None

    def add(self, result: dict[str, Any]) -> None:
        if result["status"] != "ok":
            self.finished = True
            self.status = result["status"] if not self.results else "ok"
            return
        self.results.append(result)
        again = [found["wall"] * found.get("calls", 1) for found in self.results[1:]]
        # the first time may contain compilation, so it is no estimate of the next
        expected = sum(again) + result["wall"] if again else result["wall"] / 3
        self.finished = expected > REPEAT_SECONDS

    def row(self) -> Row:
        """The first result apart, as it may contain compilation; medians and quartiles of the later ones."""
        entry = self.entry
        row: Row = {"library": entry.library, "threads": entry.threads, **entry.shown, "status": self.status}
        if not self.results:
            return row
        measured = self.results[1:] or self.results
        for key in ("wall", "cpu"):
            values = [result[key] for result in measured if key in result]
            if values:
                row[key] = quartiles(values) | {"first": self.results[0][key]}
        rest = {key: value for key, value in self.results[0].items() if key not in ("status", "wall", "cpu", "calls")}
        known = {key: [found[key] for found in self.results if key in found] for key in QUALITY}
        return row | rest | {key: float(np.median(values)) for key, values in known.items() if values}


def interleave(run: Run, entries: Sequence[Entry], repeat: int | None = None) -> list[Row]:
    """The rows of a cell. The first entry is asked first and its time limits that of the peers."""
    states = [_State(entry) for entry in entries if entry.ours or entry.library in run.peers]
    for number in range(1 + (run.repeat if repeat is None else repeat)):
        for state in states:
            if state.finished:
                continue
            if number == 0 and not state.entry.ours and time.monotonic() > run.end:
                state.status, state.finished = "not run: the time of the case is used up", True
                continue
            entry, limit = state.entry, run.own_timeout if state.entry.ours else peer_limit(run, states[0])
            task = {**entry.task, "evaluate": entry.seeds or number == 0} | ({"at_least": 0.0} if run.quick else {})
            if entry.seeds:
                task["seed"] = number
            fresh = entry.fresh and not run.quick
            state.add(run.workers.ask(entry.library, task, threads=entry.threads, timeout=limit, fresh=fresh))
    return [state.row() for state in states]


def peer_limit(run: Run, first: _State) -> float:
    """Seconds after which a peer is stopped."""
    ours = first.results[0]["wall"] if first.results and first.entry.ours else 0.0
    return min(max(TIMES_OURS * ours, LEAST_SECONDS), run.timeout)
