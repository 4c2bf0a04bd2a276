"""Samples and settings for several tests."""

import numpy as np

QUICK = {"solver": "online", "max_iter": 5, "random_state": 0}


def draw(n_samples, seed=0, labels=("cat", "dog", "eel"), spread=1.0):
    """Three overlapping classes with names."""
    rng = np.random.default_rng(seed)
    code = rng.integers(0, 3, n_samples)
    return spread * rng.normal(size=(n_samples, 4)) + 2.2 * np.eye(3, 4)[code], np.array(labels)[code]
