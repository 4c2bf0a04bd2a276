"""Tasks beside the partitions that a cluster of dask.distributed holds: each runs on a worker that holds its partition.

As in `placed_sums`, tasks are restricted to the workers that hold their partition. What they return stays there. The
restriction is lifted when they have finished: a result that is lost later may then be computed anywhere, with its
partition. dask is imported where it is used.

dask runs every step between a partition in memory and a task as a task of its own, wherever it likes: a selection of
columns, or even another name of the same partition. A step that an idle worker takes gets the partition sent. Hence
`beside_sources`.
"""

import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from lvq.model.placed_sums import finished, futures_of
from lvq.typing import Argument, Delayed


def kept_beside(partitions: Sequence[Delayed], task: Callable[[int], Delayed]) -> tuple[Delayed, ...]:
    """The tasks for partitions 0, 1, ..., each computed and kept where its partition lies.

    Parameters
    ----------
    partitions : sequence of Delayed
        Partitions; where one is not in the memory of a cluster, dask decides where its task runs.
    task : callable
        Makes the task of a number, a new one at each call.

    Returns
    -------
    results : tuple of Delayed
        The results, in memory.
    """
    import dask

    while True:
        pinned = _places(partitions)
        tasks = []
        for number, workers in enumerate(pinned):
            with dask.annotate(workers=workers) if workers else dask.annotate():
                tasks.append(task(number))
        results = dask.persist(*tasks)
        futures = [future for future, workers in zip(futures_of(results), pinned) if workers]
        if not futures:
            return results
        if finished(futures, [workers for workers in pinned if workers]):
            client = futures[0].client
            client.sync(client.scheduler.set_restrictions, worker={future.key: None for future in futures})
            return results


def computed_beside(partitions: Sequence[Delayed], task: Callable[[int], Delayed]) -> tuple[Argument, ...]:
    """The results of `kept_beside`, brought here: for small ones."""
    import dask

    return dask.compute(*kept_beside(partitions, task))


class _Source(NamedTuple):
    """What a partition is computed from: the name of the one partition in memory, and the steps to it."""

    key: Argument
    steps: dict


def beside_sources(partitions: Sequence[Delayed]) -> list[Delayed]:
    """The partitions; each that is computed from one partition in memory is computed and kept where that one lies.

    Partitions that depend on several others in memory, or on none, are left to dask.
    """
    import dask
    from dask.delayed import Delayed as Task

    client = _client()
    if client is None or not partitions:
        return list(partitions)
    from distributed import Future, wait

    graphs = {id(part.dask): dict(part.dask) for part in partitions}
    wait([step for graph in graphs.values() for step in graph.values() if isinstance(step, Future)])
    held = client.who_has()
    found = {}
    for number, part in enumerate(partitions):
        source = _source(graphs[id(part.dask)], part.key, held)
        if source is not None:
            found[number] = source
    result = list(partitions)
    for number, source in found.items():
        result[number] = Task(source.key, {source.key: Future(source.key, client)})
    steps = [number for number, source in found.items() if source.steps]

    def task(k: int) -> Delayed:
        number = steps[k]
        return dask.delayed(partial(_computed, found[number], partitions[number].key), traverse=False)(given[k])

    given = [result[number] for number in steps]
    for number, kept in zip(steps, kept_beside(given, task)):
        result[number] = kept
    return result


def _source(graph: dict, key: Argument, held: dict) -> _Source | None:
    """The one partition in memory from which a key of a graph is computed; None where there is none or several."""
    steps, sources, wanted = {}, set(), [key]
    while wanted:
        name = wanted.pop()
        if held.get(name):
            sources.add(name)
        elif name not in steps:
            step = graph.get(name)
            if step is None or len(sources) > 1:
                return None
            steps[name] = step
            wanted += getattr(step, "dependencies", ())
    if len(sources) != 1:
        return None
    renamed = all(getattr(step, "target", None) is not None for step in steps.values())
    return _Source(sources.pop(), {} if renamed else steps)


def _computed(source: _Source, key: Argument, value: Argument) -> Argument:
    """The steps from a partition in memory to another, one after another."""
    import dask

    return dask.get({**source.steps, source.key: value}, key)


def _client() -> Argument:
    """The client of a cluster; None without one."""
    if "distributed" not in sys.modules:
        return None
    from distributed import get_client

    try:
        return get_client()
    except ValueError:
        return None


def _places(partitions: Sequence[Delayed]) -> list[list[str]]:
    """The workers that hold each partition; none for one that has still to be computed, or without a cluster."""
    client = _client()
    if client is None:
        return [[] for _ in partitions]
    from distributed import wait

    wait(futures_of(partitions) or [])
    held = client.who_has()
    return [list(held.get(part.key, ())) for part in partitions]
