"""The pool of settings: what is stored of a fit, and choices that do not know the set on which they are judged."""

import numpy as np
import pytest

from experiments import pool_fits
from experiments.leave_one_set_out import Pool, Rule, left_out, load, report, search, searched
from experiments.pool_settings import SPACES, settings


def test_numbers_are_packed_in_half_precision():
    values = np.random.default_rng(0).normal(size=100)
    np.testing.assert_allclose(pool_fits.unpack(pool_fits.pack(values)), values, rtol=1e-3, atol=1e-4)


def test_every_setting_is_in_one_group():
    names = [name for part in pool_fits.groups() for name in part]
    assert names == list(settings())
    assert all(name in names for space in SPACES.values() for name in space)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two settings on one set; only cells that are missing are computed."""
    path = tmp_path_factory.mktemp("pool")
    for only in ("SVC", "logm local_scale", "linear"):
        pool_fits.measure(path, ["iris"], 1, only, np.inf)
    return path


def test_what_is_stored(folder):
    rows = pool_fits.stored(folder)
    assert len(rows) == 5 * (4 + 3)
    assert pool_fits.missing(folder, ["iris"], "linear") == []
    linear = next(row for row in rows if row["name"] == "linear 0.03" and row["fold"] == 0)
    assert linear["prototypes"] == 1
    assert linear["accuracy"] > 0.8
    assert pool_fits.unpack(linear["late_calibrated"]).shape == (120,)
    assert pool_fits.unpack(linear["early_raw"]).shape == (48,)
    late = pool_fits.unpack(linear["late_raw"])
    assert -3 < late.mean() < 0


def test_tables(folder):
    pool = load(folder)
    assert pool.folds == (0, 1, 2, 3, 4)
    assert "linear 0.03" in report(pool)


def made_pool(accuracy, late):
    """A pool with one outer fold from tables of settings x sets: test accuracy and mean inner score."""
    names, sets = [f"n{place}" for place in range(len(accuracy))], [f"s{place}" for place in range(len(accuracy[0]))]
    rows = {}
    for i, name in enumerate(names):
        for j, dataset in enumerate(sets):
            row = {
                "accuracy": accuracy[i][j],
                "seconds": 1.0,
                "prototypes": i,
                "seconds_late": 1.0,
                "seconds_early": 0.1,
            }
            row |= {"late_raw": np.full(20, late[i][j]) + np.arange(20) % 2, "early_raw": np.full(8, late[i][j])}
            rows[dataset, 0, name] = row | {"seconds_start": 0.0}
    return Pool(rows, tuple(sets), (0,), tuple(names))


def test_the_search_takes_the_best_inner_score():
    pool = made_pool([[0.9, 0.1], [0.2, 0.8]], [[-1.0, -2.0], [-1.5, -1.0]])
    found, seconds, prototypes = searched(pool, pool.names, Rule("raw", 0.0, halving=False))
    assert found.tolist() == pytest.approx([90, 80])
    assert (seconds, prototypes) == (3, 0.5)


def test_halving_drops_candidates_by_their_early_score():
    pool = made_pool([[0.5]] * 9, [[-float(place)] for place in range(9)])
    name, seconds = search(pool, "s0", 0, pool.names, Rule("raw", 0.0))
    assert name == "n0"
    assert seconds == pytest.approx(9 * 0.1 + 3)


def test_a_set_does_not_take_part_in_its_own_choice():
    table = np.array([[99.0, 0.0, 0.0], [1.0, 1.0, 1.0]])
    inside, outside, chosen = left_out(table, table)
    assert inside == pytest.approx(33)
    assert chosen == [1, 0, 0]
    assert outside == pytest.approx(1 / 3)
