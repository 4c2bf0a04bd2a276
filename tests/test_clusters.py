"""Worker processes of dask.distributed: the same model, also when a worker is killed; searches by joblib's dask."""

import time
from contextlib import contextmanager

import numpy as np
import pytest

pytest.importorskip("distributed")

import dask
import dask.array as da
import distributed
import joblib
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from experiments.clusters import before_each_sum, data, kill_a_worker, workers
from lvq import GLVQ, GMLVQ, LVQClassifierCV, RejectClassifier, clusters
from lvq.estimators import over_partitions, partition_checks
from lvq.model import partitions, placed_sums, placed_tasks

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore:.*:ResourceWarning"),  # of sockets to a killed process
]


def assert_close(one, other, tolerance):
    for part in ("prototypes", "relevance", "importances"):
        np.testing.assert_allclose(getattr(other, part), getattr(one, part), rtol=tolerance, atol=tolerance)


@pytest.fixture(scope="module")
def client():
    with workers(2) as client:
        yield client


def test_two_processes_and_a_killed_worker(client):
    X, y = data(n_partitions=6, rows=300, n_features=8)
    model = GMLVQ(n_prototypes=2, random_state=0, max_iter=15)
    samples, labels = dask.compute(X, y, scheduler="sync")
    arrays = model.fit(samples, labels).model_
    quiet = model.fit(X, y).model_
    assert_close(arrays, quiet, 1e-10)
    killed = []

    def kill(number):
        if number == 8:
            killed.append(kill_a_worker(client))

    with before_each_sum(kill):
        disturbed = model.fit(X, y).model_
    assert len(killed) == 1
    assert_close(quiet, disturbed, 0.0)
    rejecting = RejectClassifier(model, cv="prefit").fit(samples, labels)
    np.testing.assert_array_equal(
        rejecting.predict_or_reject(X, -1).compute(), rejecting.predict_or_reject(samples, -1)
    )
    client.wait_for_workers(2)


KINDS = {
    "missing values": GMLVQ(n_prototypes=2, missing="ignore", random_state=0, max_iter=12),
    "missing values in batches": GMLVQ(missing="ignore", solver="adam", batch_size=300, random_state=0, max_iter=2),
    "device": GMLVQ(n_prototypes=2, device="cpu", random_state=0, max_iter=12),
    "batches on a device": GMLVQ(device="cpu", solver="adam", batch_size=300, random_state=0, max_iter=2),
}


@pytest.mark.parametrize("kind", KINDS)
def test_missing_values_devices_and_batches(client, kind):
    """The model is that of arrays, no partition moves, and a killed worker changes nothing."""
    if "device" in kind:
        pytest.importorskip("torch")
    client.wait_for_workers(2)
    X, y = data(n_partitions=6, rows=400, n_features=8)
    if "missing" in kind:
        X = da.where(X > 1.5, np.nan, X)
    held = spread(client, X)
    client.run(lambda dask_worker: dask_worker.transfer_incoming_log.clear())
    arrays = clone(KINDS[kind]).set_params(**{"device": None} if "device" in kind else {})
    quiet, killed = clone(KINDS[kind]).fit(held, y).model_, []
    moved = [size for sizes in client.run(received).values() for size in sizes]
    assert max(moved, default=0) < 400 * 8 * 8 / 2
    assert_close(arrays.fit(*dask.compute(X, y, scheduler="sync")).model_, quiet, 1e-10)

    def kill(number):
        if number == 15:
            killed.append(kill_a_worker(client))

    with before_each_sum(kill):
        disturbed = clone(KINDS[kind]).fit(X, y).model_
    assert len(killed) == 1
    assert_close(quiet, disturbed, 0.0)
    client.wait_for_workers(2)


def test_searches_by_joblib(client):
    samples, labels = dask.compute(*data(n_partitions=1, rows=90, n_features=4), scheduler="sync")
    candidates = ({"n_prototypes": 1, "ridge": 0.01}, {"n_prototypes": 2, "ridge": 0.01})
    for search in (
        GridSearchCV(GLVQ(random_state=0, max_iter=5), {"n_prototypes": [1, 2]}, cv=3, n_jobs=2),
        LVQClassifierCV(candidates=candidates, cv=3, n_jobs=2, random_state=0),
    ):
        with joblib.parallel_backend("dask"):
            score = search.fit(samples, labels).score(samples, labels)
        assert score == search.set_params(n_jobs=1).fit(samples, labels).score(samples, labels)


def spread(client, X):
    """The samples in memory, their partitions on the two workers by turns."""
    places = sorted(client.scheduler_info()["workers"])
    parts = [client.persist(X.blocks[k], workers=[places[k % 2]]) for k in range(X.numblocks[0])]
    distributed.wait(parts)
    return da.concatenate(parts)


def collections(client, kind, **sizes):
    """Samples and classes as arrays or frames, in memory on both workers; the array must stay in memory, too."""
    client.wait_for_workers(2)
    X, y = data(**sizes)
    X = array = spread(client, X)
    if kind == "frame":
        columns = [f"x{k}" for k in range(X.shape[1])]
        X, y = array.to_dask_dataframe(columns=columns), y.to_dask_dataframe(columns="class")
    X, y = dask.persist(X, y)
    distributed.wait([X, y])
    return X, y, array


@contextmanager
def places_of_results(client, modules, seconds):
    """Places of partitions and of what is computed beside them, while one worker is kept busy at each step."""
    seen, unchanged = [], placed_tasks.kept_beside

    def watched(given, task):
        before = placed_tasks._places(given)
        busy = client.submit(time.sleep, seconds, workers=[next(iter(client.scheduler_info()["workers"]))], pure=False)
        results = unchanged(given, task)
        seen.append((before, placed_tasks._places(results)))
        busy.release()
        return results

    with pytest.MonkeyPatch.context() as patch:
        for module in modules:
            patch.setattr(module, "kept_beside", watched)
        yield seen


def test_partitions_stay_where_they_are(client):
    """One worker is kept busy, so that dask alone would send partitions to the other; no worker gets another copy."""
    client.wait_for_workers(2)
    X, y = data(n_partitions=8, rows=2000, n_features=20)
    X, places, copies = spread(client, X), {}, []

    def watch(number):
        if number == 3:
            busy.append(client.submit(time.sleep, 3, workers=[next(iter(client.scheduler_info()["workers"]))]))

    busy = []
    unchanged = placed_sums.placed_sum

    def watched(futures, *arguments):
        result = unchanged(futures, *arguments)
        for key, workers_of in client.who_has(futures).items():
            copies.append(len(workers_of))
            assert places.setdefault(key, workers_of) == workers_of
        return result

    with pytest.MonkeyPatch.context() as patch, before_each_sum(watch):
        patch.setattr(placed_sums, "placed_sum", watched)
        GLVQ(n_prototypes=2, init="samples", random_state=0, max_iter=4).fit(X, y)
    assert busy
    assert set(copies) == {1}
    assert len(set(places.values())) == 2  # both workers hold some


@pytest.mark.parametrize("kind", ["array", "frame"])
def test_checks_and_arrangement_run_where_the_partitions_lie(client, kind):
    """One worker is kept busy, so that dask alone would give its tasks, and the partitions, to the other."""
    X, y, _array = collections(client, kind, n_partitions=8, rows=2000, n_features=20)
    with places_of_results(client, (partition_checks, partitions, placed_tasks), seconds=1) as seen:
        model = GLVQ(n_prototypes=2, init="samples", random_state=0, max_iter=2).fit(X, y)
    assert len(seen) >= 5  # checks, labels, indices, extents, draws, arrangement
    for before, after in seen:
        assert before == after
        assert all(len(workers_of) == 1 for workers_of in after)
    assert len({worker for before, _ in seen for (worker,) in before}) == 2  # both workers hold some
    rejecting = RejectClassifier(model, cv="prefit").fit(X, y)
    whole = X.compute()
    np.testing.assert_array_equal(model.predict(X).compute(), model.predict(whole))
    np.testing.assert_array_equal(rejecting.predict(X).compute(), rejecting.predict(whole))


@pytest.mark.parametrize(
    ("kind", "parameters"),
    [("array", {"max_error": 0.3}), ("array", {"cv": 2}), ("frame", {"max_error": 0.3})],
    ids=["held out", "cross-fitted", "frame"],
)
def test_rejection_is_fitted_where_the_partitions_lie(client, kind, parameters):
    """Two workers, of which one is busy: the thresholds are those of arrays, and rows stay beside their partitions."""
    X, y, _array = collections(client, kind, n_partitions=6, rows=300, n_features=8)
    model = RejectClassifier(GLVQ(random_state=0, max_iter=3), **parameters)
    modules = (partition_checks, partitions, placed_tasks, over_partitions)
    with places_of_results(client, modules, seconds=0.2) as seen:
        found = clone(model).fit(X, y)
    assert len(seen) >= 8
    for before, after in seen:
        assert all(set(own) <= set(held) for held, own in zip(before, after))  # dask may hold a given partition twice
        assert all(len(workers_of) == 1 for workers_of in after)
    expected = clone(model).fit(*dask.compute(X, y))
    for part in ("thresholds", "cells", "coverage", "accuracy"):
        np.testing.assert_allclose(getattr(found.point_, part), getattr(expected.point_, part), rtol=1e-9)


def derived(client, kind):
    """Samples and classes that are computed from a collection in memory, and what has to stay there."""
    client.wait_for_workers(2)
    X, y = data(n_partitions=8, rows=1500, n_features=20)
    both = spread(client, da.concatenate([X, y[:, None].astype(float)], axis=1).rechunk({1: -1}))
    if kind == "scaled":
        scaler = clusters.fit_scaler(both[:, :-1])
        return clusters.transform(scaler, both[:, :-1]), both[:, -1].astype(int), both
    if kind == "array":
        return both[:, :-1], both[:, -1].astype(int), both
    frame = both.to_dask_dataframe(columns=[f"x{k}" for k in range(20)] + ["class"]).persist()
    distributed.wait(frame)
    return frame.drop(columns="class"), frame["class"].astype(int), (both, frame)


def received(dask_worker):
    """Bytes of each result that a worker has received from the other."""
    return [size for each in dask_worker.transfer_incoming_log for size in each["keys"].values()]


@pytest.mark.parametrize("kind", ["array", "frame", "scaled"])
def test_columns_of_what_is_in_memory_are_computed_beside_it(client, kind):
    """A step between the partitions and the model is a task of dask's, which an idle worker would take."""
    X, y, _kept = derived(client, kind)
    client.run(lambda dask_worker: dask_worker.transfer_incoming_log.clear())
    worker = next(iter(client.scheduler_info()["workers"]))
    busy = [client.submit(time.sleep, 0.05, workers=[worker], pure=False) for _ in range(60)]
    model = GLVQ(n_prototypes=2, random_state=0, max_iter=3).fit(X, y)
    score = model.score(X, y)
    scaler = clusters.fit_scaler(X)
    thresholds = RejectClassifier(GLVQ(random_state=0, max_iter=2), max_error=0.4).fit(X, y).point_.thresholds
    moved = [size for sizes in client.run(received).values() for size in sizes]
    del busy
    assert max(moved, default=0) < 1500 * 20 * 8 / 4  # labels and sums, but no partition
    samples, labels = dask.compute(X, y)
    in_memory = GLVQ(n_prototypes=2, random_state=0, max_iter=3).fit(samples, labels)
    np.testing.assert_allclose(model.prototypes_, in_memory.prototypes_, atol=1e-10)
    assert score == model.score(samples, labels)
    np.testing.assert_allclose(scaler.mean_, np.asarray(samples).mean(axis=0), atol=1e-12)
    assert len(thresholds)


def test_columns_are_computed_again_after_a_loss(client):
    """A worker is lost that holds partitions and what was computed beside them."""
    client.wait_for_workers(2)
    X, y = data(n_partitions=6, rows=300, n_features=8)
    both = da.concatenate([X, y[:, None].astype(float)], axis=1).rechunk({1: -1}).persist()
    distributed.wait(both)
    samples, labels = both[:, :-1], both[:, -1].astype(int)
    model = GMLVQ(n_prototypes=2, random_state=0, max_iter=10)
    quiet, killed = clone(model).fit(samples, labels).model_, []

    def kill(number):
        if number == 5:
            killed.append(kill_a_worker(client))

    with before_each_sum(kill):
        disturbed = clone(model).fit(samples, labels).model_
    assert len(killed) == 1
    assert_close(quiet, disturbed, 0.0)
    client.wait_for_workers(2)


def test_rejection_with_a_killed_worker(client):
    client.wait_for_workers(2)
    X, y = data(n_partitions=6, rows=300, n_features=8)
    model = RejectClassifier(GMLVQ(n_prototypes=2, random_state=0, max_iter=10), max_error=0.3)
    quiet, killed = clone(model).fit(X, y), []

    def kill(number):
        if number == 8:
            killed.append(kill_a_worker(client))

    with before_each_sum(kill):
        disturbed = clone(model).fit(X, y)
    assert len(killed) == 1
    assert_close(quiet.estimator_.model_, disturbed.estimator_.model_, 0.0)
    np.testing.assert_array_equal(quiet.point_.thresholds, disturbed.point_.thresholds)
    client.wait_for_workers(2)


def test_what_a_lost_worker_held_is_computed_again(client):
    """Results beside a partition are restricted to its worker only until they have finished."""
    client.wait_for_workers(2)
    X, _ = data(n_partitions=4, rows=200, n_features=4)
    parts = partition_checks.partitions_of(X)
    rows = placed_tasks.kept_beside(parts, lambda p: dask.delayed(np.negative)(parts[p]))
    sums = placed_tasks.kept_beside(rows, lambda p: dask.delayed(np.sum)(rows[p]))
    kill_a_worker(client)
    found = placed_tasks.computed_beside(sums, lambda p: dask.delayed(np.positive)(sums[p]))
    np.testing.assert_allclose(found, [-part.sum() for part in dask.compute(*parts, scheduler="sync")])
    client.wait_for_workers(2)
