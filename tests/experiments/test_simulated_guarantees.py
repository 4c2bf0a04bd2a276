"""The simulations of guarantees and certificates: small ones are run, the committed results are read."""

import numpy as np
import pytest
from scipy.stats import binom

from experiments import certificates, guarantees


@pytest.mark.parametrize("procedure", ["global threshold", "optimal", "held-out part"])
def test_no_procedure_exceeds_its_promise(procedure):
    """The hardest population: everything that is certified is a violation."""
    row = guarantees.simulate(procedure, "hard", 100)
    assert row["violated"] == row["certified"]
    assert row["violated"] <= binom.ppf(0.9999, 100, 1 - guarantees.CONFIDENCE)


def test_an_honest_certainty_is_certified():
    row = guarantees.simulate("optimal", "honest", 60)
    assert row["certified"] > 40
    assert row["violated"] <= binom.ppf(0.9999, 60, 1 - guarantees.CONFIDENCE)


def test_the_simulation_notices_a_procedure_without_guarantee(monkeypatch):
    """The accuracy of the calibration samples, taken as that of others."""
    naive = {"max_error": None, "min_accuracy": 1 - guarantees.MAX_ERROR, "thresholds": "optimal"}
    monkeypatch.setitem(guarantees.PROCEDURES, "naive", naive)
    row = guarantees.simulate("naive", "hard", 60)
    assert row["p_value"] < 1e-6


@pytest.mark.parametrize("name", ["GMLVQ", "MCE, local weights"])
@pytest.mark.parametrize("norm", certificates.NORMS)
def test_no_certificate_is_broken(name, norm):
    row = certificates.attack(name, norm, 200)
    assert row["broken"] == 0
    assert row["changed_at_four_times"] > 0.9


@pytest.mark.parametrize("norm", certificates.NORMS)
def test_projections_are_the_nearest_points_of_the_ball(norm):
    rng = np.random.default_rng(0)
    steps, radius = rng.normal(size=(50, 4)), rng.uniform(0.1, 3, 50)
    found = certificates.projected(steps, radius, norm)
    assert (np.linalg.norm(found, ord=norm, axis=1) <= radius * (1 + 1e-12)).all()
    others = rng.normal(size=(2000, 50, 4))
    others *= np.minimum(1, radius / np.linalg.norm(others, ord=norm, axis=2))[..., None]
    assert (np.linalg.norm(others - steps, axis=2) >= np.linalg.norm(found - steps, axis=1) - 1e-9).all()
