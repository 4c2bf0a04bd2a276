"""Worker processes of dask.distributed: the same model, samples stay on their workers, lost workers, errors."""

import os
import signal
import time

import numpy as np
import pytest

pytest.importorskip("distributed")

import dask
import dask.array as da
import distributed
from sklearn.base import clone

from lvq import GMLVQ, LVQClassifier
from lvq.estimators.partitions import Partitions

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore:.*:ResourceWarning"),  # of sockets to a killed process
]
ROWS, FEATURES = 300, 8
MODEL = GMLVQ(n_prototypes=2, random_state=0, max_iter=15)


@pytest.fixture(scope="module")
def cluster():
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture
def client(cluster):
    cluster.wait_for_workers(2)
    return cluster


def data(n_partitions=6, rows=ROWS):
    """Samples and classes whose partitions are made by the workers, which can make them again."""
    random, chunks = da.random.default_rng(0), (rows, FEATURES)
    y = random.integers(4, size=n_partitions * rows, chunks=rows)
    noise = random.normal(size=(n_partitions * rows, FEATURES), chunks=chunks)
    return noise + 1.5 * (y[:, None] == da.arange(FEATURES)[None, :]), y


def in_memory(*collections):
    return dask.compute(*collections, scheduler="sync")


def assert_close(one, other, tolerance):
    for part in ("prototypes", "relevance", "importances"):
        np.testing.assert_allclose(getattr(other, part), getattr(one, part), rtol=tolerance, atol=tolerance)


@pytest.fixture
def before_sum(monkeypatch):
    """Call a function before the sum over the partitions that has a given number."""
    calls, unchanged = {}, Partitions.reduce

    def counted(self, *arguments, **named):
        calls["count"] = calls.get("count", 0) + 1
        if calls["count"] in calls:
            calls.pop(calls["count"])()
        return unchanged(self, *arguments, **named)

    monkeypatch.setattr(Partitions, "reduce", counted)
    return calls


def kill_a_worker(client):
    """SIGKILL to one worker process, without a word to dask."""
    os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)


@pytest.mark.parametrize("model", [MODEL, LVQClassifier(random_state=0, max_iter=5)], ids=lambda m: type(m).__name__)
def test_the_model_is_that_of_arrays(model, client):
    X, y = data()
    arrays, found = clone(model).fit(*in_memory(X, y)), clone(model).fit(X, y)
    assert_close(arrays.model_, found.model_, 1e-10)
    np.testing.assert_array_equal(found.predict(X).compute(), found.predict(in_memory(X)[0]))
    assert found.score(X, y) == pytest.approx(arrays.score(*in_memory(X, y)))


@pytest.mark.parametrize("number", [1, 8])
@pytest.mark.parametrize("persisted", [False, True])
def test_a_killed_worker_changes_nothing_but_time(number, persisted, client, before_sum):
    """In the start and in the iterations; also where the worker held partitions that were computed before."""
    X, y = data()
    quiet = clone(MODEL).fit(X, y).model_
    if persisted:
        X, y = dask.persist(X, y)
        distributed.wait([X, y])
    before_sum.clear()
    before_sum[number] = lambda: kill_a_worker(client)
    disturbed = clone(MODEL).fit(X, y).model_
    assert number not in before_sum  # it was killed
    assert_close(quiet, disturbed, 0.0)


def received(dask_worker):
    """Bytes of each result that a worker has received from the other."""
    return [size for each in dask_worker.transfer_incoming_log for size in each["keys"].values()]


@pytest.mark.parametrize("kind", ["array", "frame"])
def test_samples_mostly_stay_on_their_workers(kind, client, before_sum):
    """Of what the sums read a small part comes from the other worker; it would be half if places did not count."""
    X, y = data(n_partitions=8, rows=4000)
    places = sorted(client.scheduler_info()["workers"])
    parts = [client.persist(X.blocks[k], workers=[places[k % 2]]) for k in range(8)]
    distributed.wait(parts)
    held = da.concatenate(parts)
    X = held.to_dask_dataframe(columns=[f"x{k}" for k in range(FEATURES)]) if kind == "frame" else held
    client.run(lambda dask_worker: dask_worker.transfer_incoming_log.clear())
    clone(MODEL).fit(X, y)
    moved = sum(size for sizes in client.run(received).values() for size in sizes)
    assert moved < 0.2 * before_sum["count"] * held.nbytes


@pytest.mark.parametrize("where", ["fit", "predict"])
def test_a_failed_partition_raises_its_error(where, client):
    """Promptly, with the partition's number, and the workers go on."""
    X, y = data()
    rows = da.arange(len(y), chunks=ROWS)
    holed = da.where((rows == 2 * ROWS + 3)[:, None], np.nan, X)
    model = clone(MODEL).fit(X, y)
    begin = time.perf_counter()
    with pytest.raises(
        ValueError, match=r"Partition 2 .* contains NaN. The first is in row 3, counted from 0, column 0"
    ):
        clone(MODEL).fit(holed, y) if where == "fit" else model.predict(holed).compute()
    assert time.perf_counter() - begin < 30
    assert_close(model.model_, clone(MODEL).fit(X, y).model_, 0.0)
