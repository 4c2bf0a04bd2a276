"""
A metric for each prototype
===========================

Two classes cross each other like the bars of an X. GMLVQ must use a single matrix for both; LGMLVQ learns one for each
class, so each prototype measures across its own bar.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap
from sklearn.inspection import DecisionBoundaryDisplay

from lvq import GLVQ, GMLVQ, LGMLVQ
from lvq.plots.style import class_colours, class_markers


def make_data(seed, size):
    """Two long Gaussians that cross at a right angle."""
    rng = np.random.default_rng(seed)
    y = np.arange(size) % 2
    X = rng.normal(size=(size, 2)) * [2.2, 0.3]
    turned = np.array([[1, 1], [-1, 1]]) / np.sqrt(2)
    return np.where(y[:, None] == 0, X @ turned, X @ turned.T), y


X, y = make_data(0, 400)
X_test, y_test = make_data(1, 4000)

# %%
# All three models have one prototype for each class.

figure, axes = plt.subplots(1, 3, figsize=(13, 4.2), layout="constrained")
for ax, kind in zip(axes, (GLVQ, GMLVQ, LGMLVQ)):
    model = kind(random_state=0).fit(X, y)
    colours = ListedColormap(class_colours(2))
    DecisionBoundaryDisplay.from_estimator(model, X, response_method="predict", alpha=0.35, cmap=colours, ax=ax)
    for label, colour, marker in zip((0, 1), class_colours(2), class_markers(2)):
        ax.scatter(*X[y == label].T, s=8, c=colour, marker=marker)
        own = model.prototypes_[model.prototype_labels_ == label]
        ax.scatter(*own.T, s=150, c=colour, marker="*", edgecolors="black", linewidths=1.2, zorder=3)
    ax.set(title=f"{kind.__name__}: {100 * model.score(X_test, y_test):.1f} % correct", xticks=[], yticks=[])

# %%
# `lambda_` has the matrices: for each class, distances are large across its own bar, so a sample on the other bar is
# far away.

print(model.lambda_.round(2))
