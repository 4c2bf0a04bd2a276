"""
A stream that drifts
====================

Samples arrive in batches, and the classes move. `partial_fit` learns from each batch once and forgets slowly; a model
that was fitted at the beginning stays where it was.
"""

import matplotlib.pyplot as plt
import numpy as np

from lvq import GLVQ

BATCHES, SIZE = 120, 100
START = np.array([[0.0, 0.0], [2.5, 0.0], [0.0, 2.5]])


def batch(number):
    """Three classes, which turn around their common centre and once, at batch 80, exchange their places."""
    rng = np.random.default_rng(number)
    angle = 1.6 * np.pi * number / BATCHES
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    centres = (START - START.mean(axis=0)) @ turn
    y = rng.integers(0, 3, SIZE)
    return centres[(y + (number >= 80)) % 3] + 0.5 * rng.normal(size=(SIZE, 2)), y


# %%
# Each batch is predicted first and learned afterwards, so that every accuracy is of samples that are new to the
# model.

moving = GLVQ(learning_rate=0.05, schedule="constant", random_state=0)  # a constant rate as given, for fast changes
fixed = GLVQ(random_state=0)
moving.partial_fit(*batch(0), classes=[0, 1, 2])
fixed.fit(*batch(0))
accuracies, path = {"partial_fit": [], "fitted to the first batch": []}, []
for number in range(1, BATCHES):
    X, y = batch(number)
    accuracies["partial_fit"].append(moving.score(X, y))
    accuracies["fitted to the first batch"].append(fixed.score(X, y))
    moving.partial_fit(X, y)
    path.append(moving.prototypes_.copy())
path = np.array(path)

figure, axes = plt.subplots(1, 2, figsize=(13, 4.6), layout="constrained", width_ratios=[2, 3])
for label, colour in enumerate(("#0072B2", "#E69F00", "#009E73")):
    axes[0].scatter(*X[y == label].T, s=10, color=colour)
    axes[0].plot(*path[:, label].T, color=colour, linewidth=1.2)
    axes[0].scatter(*path[-1, label], s=180, color=colour, marker="*", edgecolors="black", zorder=3)
axes[0].set(title="Paths of the prototypes, and the last batch", xticks=[], yticks=[])
for (name, values), colour in zip(accuracies.items(), ("#0072B2", "#D55E00")):
    axes[1].plot(range(1, BATCHES), values, color=colour, label=f"{name}: mean {100 * np.mean(values):.1f} %")
axes[1].axvline(80, color="#666666", linestyle="--", label="the classes exchange their places")
axes[1].set(xlabel="batch", ylabel="accuracy, before learning from the batch", title="Prediction of each new batch")
axes[1].legend(loc="center", bbox_to_anchor=(0.5, 0.6))
