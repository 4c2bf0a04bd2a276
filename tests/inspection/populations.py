"""Samples for several tests of explanations and certificates."""

import numpy as np
import pandas as pd


def draw(n_samples=120, seed=0):
    """Three classes; features of very different scales and places."""
    rng = np.random.default_rng(seed)
    y = np.arange(n_samples) % 3
    X = rng.normal(size=(n_samples, 5)) + 2 * np.eye(3, 5)[y]
    return X * [1, 50, 0.1, 3, 1] + [0, 1000, 0, -5, 0.1], y


def table(n_samples=120):
    """Numbers, some of them missing, and two columns of categories, of which one depends on the class."""
    X, y = draw(n_samples)
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(X[:, :3], columns=["length", "width", "height"])
    frame["colour"] = np.array(["red", "green", "blue"])[(y + (rng.random(n_samples) < 0.2)) % 3]
    frame["shape"] = rng.choice(["round", "square"], n_samples)
    frame.loc[::7, "width"] = np.nan
    return frame, y
