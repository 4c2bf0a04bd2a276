"""
A plane for the classes: PCA, LDA, NCA and GMLVQ
================================================

GMLVQ with a matrix of rank 2 measures distances in a plane; `transform` maps samples to it. PCA finds the plane of
largest variance without using the classes; LDA separates the class means; NCA learns a metric for nearest neighbours.
For predictions NCA needs all training samples, GMLVQ only one prototype for each class.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier, NeighborhoodComponentsAnalysis
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lvq import GMLVQ
from lvq.model.relevance import Matrix
from lvq.plots.style import class_colours, class_markers

X, y = load_digits(return_X_y=True)
shown = [1, 3, 5, 7, 8]
X, y = X[np.isin(y, shown)], y[np.isin(y, shown)]
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, test_size=0.5, random_state=0)

# %%
# Five digits of 64 pixels. Each plane is learned from one half of the images and shows the other half. The title has
# the accuracy of the five nearest neighbours in the plane, on that other half. Stars are GMLVQ's prototypes, the five
# points from which the model itself predicts.

planes = {
    "PCA": PCA(2),
    "LDA": LinearDiscriminantAnalysis(n_components=2),
    "NCA": NeighborhoodComponentsAnalysis(2, max_iter=100, random_state=0),
    "GMLVQ": GMLVQ(relevance=Matrix(rank=2), max_iter=300, random_state=0),
}
figure, axes = plt.subplots(2, 2, figsize=(11, 8), layout="constrained")
for ax, (name, plane) in zip(axes.flat, planes.items()):
    steps = make_pipeline(StandardScaler(), plane).fit(X_train, y_train)
    Z, Z_test = steps.transform(X_train), steps.transform(X_test)
    accuracy = KNeighborsClassifier().fit(Z, y_train).score(Z_test, y_test)
    for label, colour, marker in zip(shown, class_colours(5), class_markers(5)):
        ax.scatter(*Z_test[y_test == label].T, s=16, c=colour, marker=marker, label=f"digit {label}")
    ax.set(title=f"{name}: {100 * accuracy:.1f} %", xticks=[], yticks=[])
stars = plane.transform(plane.prototypes_)
axes[1, 1].scatter(*stars.T, s=220, c="black", marker="*", edgecolors="white", label="prototype")
axes[0, 1].legend(*axes[1, 1].get_legend_handles_labels(), loc="upper left", bbox_to_anchor=(1.01, 1))
print(f"GMLVQ itself, from five prototypes: {steps.score(X_test, y_test):.3f}")
