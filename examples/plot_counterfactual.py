"""
Counterfactuals: what would have changed the prediction
=======================================================

`lvq.counterfactual` finds the smallest change of a sample, in the model's metric, that changes its class. It takes
whole pipelines and returns samples in the units of their input.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap
from sklearn.datasets import load_breast_cancer
from sklearn.inspection import DecisionBoundaryDisplay
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lvq import GLVQ, counterfactual
from lvq.plots.style import class_colours, class_markers

data = load_breast_cancer(as_frame=True)
X, y = data.data, data.target_names[data.target]
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)

# %%
# First with only two measurements, so that the plane shows everything: ten tumours predicted malignant, and the
# smallest change that would make each of them benign. The arrows end at the border.

two = ["worst radius", "worst texture"]
model = make_pipeline(StandardScaler(), GLVQ(n_prototypes=2, random_state=0)).fit(X_train[two], y_train)
malignant = X_test.loc[model.predict(X_test[two]) == "malignant", two].iloc[:10]
found = counterfactual(model, malignant, target="benign")
figure, ax = plt.subplots(figsize=(8, 5), layout="constrained")
colours = ListedColormap(class_colours(2))
DecisionBoundaryDisplay.from_estimator(model, X_test[two], response_method="predict", alpha=0.35, cmap=colours, ax=ax)
for name, colour, marker in zip(model.classes_, class_colours(2), class_markers(2)):
    ax.scatter(*X_test.loc[y_test == name, two].to_numpy().T, s=14, c=colour, marker=marker, label=name)
for start, end in zip(malignant.to_numpy(), found.samples.to_numpy()):
    ax.annotate("", end, start, arrowprops={"arrowstyle": "->", "color": "black", "linewidth": 1.6})
ax.set_title("The smallest change to benign")
ax.legend()

# %%
# Then with six measurements: what would have to be different in one tumour, in its own units and in standard
# deviations.

six = ["mean radius", "mean texture", "mean smoothness", "mean concavity", "worst area", "worst symmetry"]
model = make_pipeline(StandardScaler(), GLVQ(n_prototypes=2, random_state=0)).fit(X_train[six], y_train)
one = X_test.loc[model.predict(X_test[six]) == "malignant", six].iloc[:1]
found = counterfactual(model, one, target="benign")
before, after = one.to_numpy()[0], found.samples.to_numpy()[0]
in_deviations = (after - before) / X_train[six].std().to_numpy()
figure, ax = plt.subplots(figsize=(8, 3.6), layout="constrained")
ax.barh(np.arange(len(six)), in_deviations, color=np.where(in_deviations < 0, "#0072B2", "#D55E00"))
ax.set_yticks(np.arange(len(six)), [f"{name}: {a:.3g} → {b:.3g}" for name, a, b in zip(six, before, after)])
ax.invert_yaxis()
ax.set(xlabel="change in standard deviations", title="Malignant → benign, one tumour")

# %%
# A counterfactual says what the model would do with other measurements. It does not say that a change of the tumour
# would make it benign.
