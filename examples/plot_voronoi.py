"""
Cells of LVQ1 and GLVQ
======================

LVQ1 moves the nearest prototype to a sample of its own class and away from samples of others. GLVQ minimises a cost:
the relative difference between the distances to the nearest prototype of the right class and to the nearest of all
others. Both predict the class of the nearest prototype, so both divide the plane into cells with straight borders.
"""

import matplotlib.pyplot as plt
import numpy as np

from lvq import GLVQ, LVQ1
from lvq.plots import ProjectionDisplay


def make_data(seed, size=150):
    """Three classes, one of them narrow and two wide."""
    rng = np.random.default_rng(seed)
    centres, widths = np.array([[0, 0], [3.2, 0], [1.6, 2.6]]), np.array([[0.35, 1.6], [1.3, 0.7], [1.5, 0.5]])
    y = np.repeat([0, 1, 2], size)
    return rng.normal(size=(3 * size, 2)) * widths[y] + centres[y], y


X, y = make_data(seed=0)
X_test, y_test = make_data(seed=1, size=2000)

# %%
# One prototype for each class, trained on the same samples. Rings mark wrong predictions.

figure, axes = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
for ax, model in zip(axes, (LVQ1(random_state=0), GLVQ(random_state=0))):
    model.fit(X, y)
    ProjectionDisplay.from_estimator(model, X, y, ax=ax).legend_.remove()
    accuracy = model.score(X_test, y_test)
    ax.set(title=f"{type(model).__name__}: {100 * accuracy:.1f} % of new samples correct", xlabel="", ylabel="")

# %%
# A border depends only on the prototypes on its two sides, not on where they lie in their classes. LVQ1's prototypes
# stay near the means of their classes; GLVQ's are placed where their borders have the smallest cost, which may be at
# the edge of a class.
