"""
Cells of LVQ1 and GLVQ
======================

LVQ1 moves the nearest prototype to a sample of its own class and away from others. GLVQ minimises a cost: the relative
difference of the distances to the nearest prototype of the right class and to the nearest of all others. Both predict
the class of the nearest prototype, so both divide the plane into cells with straight borders.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons

from lvq import GLVQ, LVQ1
from lvq.plots import ProjectionDisplay

X, y = make_moons(400, noise=0.25, random_state=0)
X_test, y_test = make_moons(4000, noise=0.25, random_state=1)

# %%
# The same number of prototypes for both, four for each class. Rings mark the samples that are predicted wrongly.

figure, axes = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
for ax, model in zip(axes, (LVQ1(n_prototypes=4, random_state=0), GLVQ(n_prototypes=4, random_state=0))):
    model.fit(X, y)
    ProjectionDisplay.from_estimator(model, X, y, ax=ax, legend=False)
    accuracy = model.score(X_test, y_test)
    ax.set(title=f"{type(model).__name__}: {100 * accuracy:.1f} % of new samples correct", xlabel="", ylabel="")

# %%
# The prototypes of GLVQ stand where the border is decided, and can leave the samples; those of LVQ1 stay among them,
# like centres of clusters.
