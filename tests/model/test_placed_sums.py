"""Sums and places of partitions on a cluster, with a client that works at once in this process."""

import numpy as np
import pytest

from lvq.model import placed_sums, placed_tasks
from lvq.model.placed_sums import placed_sum
from lvq.model.samples import Block


class Future:
    def __init__(self, client, value):
        self.client, self.value = client, value

    def result(self):
        return self.value


class Client:
    """Notes on which workers each task may run."""

    def __init__(self):
        self.workers = []

    def submit(self, function, *arguments, workers=None, pure):
        assert not pure  # the same sum may be asked for again after a worker was lost
        self.workers += [] if workers is None else [workers]
        return Future(self, function(*(part.value if isinstance(part, Future) else part for part in arguments)))


@pytest.mark.parametrize("lost", [0, 1, 2])
@pytest.mark.parametrize("n_partitions", [1, 2, 8, 9, 65])
def test_every_partition_is_summed_once_where_it_lies(n_partitions, lost, monkeypatch):
    client, places = Client(), [[f"worker {number}"] for number in range(n_partitions)]
    tries = iter([False] * lost + [True])
    monkeypatch.setattr(placed_sums, "places_of", lambda futures: places)
    monkeypatch.setattr(placed_sums, "finished", lambda futures, pinned: next(tries))
    blocks = [
        Block(np.full((3, 1), float(number)), np.zeros(3, dtype=int), np.ones(3)) for number in range(n_partitions)
    ]
    futures, whole = [Future(client, block) for block in blocks], [None] * n_partitions
    total = placed_sum(futures, lambda block: block.X.sum(), 2, whole)
    assert total == 3 * sum(range(n_partitions))
    assert client.workers == (lost + 1) * places


def test_places_are_asked_for_when_the_partitions_are_there(monkeypatch):
    distributed, delayed = pytest.importorskip("distributed"), pytest.importorskip("dask").delayed
    partitions, waited = [delayed(1), delayed(2)], []
    held = {partitions[1].key: ("worker",)}

    class Held:
        def who_has(self):
            assert waited == [["one", "two"]]
            return held

    monkeypatch.setattr(placed_tasks, "futures_of", lambda blocks: ["one", "two"])
    monkeypatch.setattr(distributed, "get_client", Held)
    monkeypatch.setattr(distributed, "wait", waited.append)
    assert placed_tasks._places(partitions) == [[], ["worker"]]


class Cluster:
    """A client of which a test says, call by call, who holds which partition and which workers there are."""

    def __init__(self, holders, workers=()):
        self.holders, self.workers = iter(holders), iter(workers)

    def who_has(self, futures):
        return dict(zip([future.key for future in futures], next(self.holders)))

    def scheduler_info(self, n_workers):
        assert n_workers == -1  # all of them
        return {"workers": dict.fromkeys(next(self.workers))}


def keyed(client, count):
    futures = [Future(client, number) for number in range(count)]
    for number, future in enumerate(futures):
        future.key = f"partition {number}"
    return futures


def test_places_are_asked_for_until_no_partition_is_lost(monkeypatch):
    distributed = pytest.importorskip("distributed")
    waited = []
    monkeypatch.setattr(distributed, "wait", waited.append)
    holders = [[("one",), ()], [(), ()], [("one", "two"), ("two",)], [("three",), ("three",)]]
    futures = keyed(Cluster(holders), 2)
    assert placed_sums.places_of(futures) == [["one", "two"], ["two"]]
    assert waited == [futures] * 3  # before each question


@pytest.mark.parametrize(
    ("late", "workers", "expected"),
    [
        (0, [], True),
        (2, [["one", "two"], ["one", "three"]], True),  # one of the two workers of the second partition is left
        (2, [["one", "two"], ["one"]], False),
        (1, [["two", "three"]], False),
    ],
)
def test_results_are_waited_for_while_each_partition_has_a_worker(late, workers, expected, monkeypatch):
    answers = iter([True] * late + [False])
    monkeypatch.setattr(placed_sums, "_wait", lambda futures: next(answers))
    futures = keyed(Cluster([], workers), 2)
    assert placed_sums.finished(futures, [["one"], ["two", "three"]]) is expected


@pytest.mark.parametrize("late", [True, False])
def test_waiting_ends_after_some_seconds(late, monkeypatch):
    distributed = pytest.importorskip("distributed")
    given = []

    def wait(futures, timeout):
        given.append((futures, timeout))
        if late:
            raise distributed.TimeoutError

    monkeypatch.setattr(distributed, "wait", wait)
    assert placed_sums._wait(["one"]) is late
    assert given == [(["one"], placed_sums.CHECK_SECONDS)]
