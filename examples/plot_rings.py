"""
Rings: a kernel against plain distances
=======================================

One class surrounds the other. Plain distances give straight borders, so two prototypes cannot separate the rings, but
five can, by a polygon. Does a kernel help? Does a scale for each prototype?
"""

import matplotlib.pyplot as plt
from matplotlib.colors import ListedColormap
from sklearn.datasets import make_circles
from sklearn.inspection import DecisionBoundaryDisplay

from lvq import GLVQ, LVQClassifier
from lvq.plots.style import class_colours, class_markers

X, y = make_circles(400, noise=0.12, factor=0.45, random_state=0)
X_test, y_test = make_circles(4000, noise=0.12, factor=0.45, random_state=1)

# %%
# Four models. The last one multiplies the distances to each of its two prototypes by a learned number.

many = {0: 4, 1: 1}
models = {
    "GLVQ, 1 + 1 prototypes": GLVQ(random_state=0),
    "GLVQ, 4 + 1 prototypes": GLVQ(n_prototypes=many, random_state=0),
    "GLVQ, 4 + 1, Gaussian kernel": GLVQ(n_prototypes=many, kernel="gaussian", random_state=0),
    "LVQClassifier, 1 + 1, local scales": LVQClassifier(n_prototypes=1, relevance="local_scale", random_state=0),
}
figure, axes = plt.subplots(1, 4, figsize=(15, 4.1), layout="constrained")
for ax, (name, model) in zip(axes, models.items()):
    model.fit(X, y)
    colours = ListedColormap(class_colours(2))
    DecisionBoundaryDisplay.from_estimator(model, X, response_method="predict", alpha=0.35, cmap=colours, ax=ax)
    for label, colour, marker in zip((0, 1), class_colours(2), class_markers(2)):
        ax.scatter(*X[y == label].T, s=8, c=colour, marker=marker)
        own = model.prototypes_[model.prototype_labels_ == label]
        ax.scatter(*own.T, s=150, c=colour, marker="*", edgecolors="black", linewidths=1.2, zorder=3)
    ax.set(title=f"{name}\n{100 * model.score(X_test, y_test):.1f} % of new samples correct", xticks=[], yticks=[])
    ax.set(xlim=(-1.6, 1.6), ylim=(-1.6, 1.6))

# %%
# A radial kernel does not bend a border: it increases with the distance, so the nearest prototype stays the nearest. It
# changes how much distant samples count in training, which does not help here. Different scales do bend a border: in
# the last picture the star of the outer class lies far outside, and its distances are scaled down.
