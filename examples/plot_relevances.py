"""
Two features among noise
========================

Two of 20 features separate the classes, the others are noise of the same size. GLVQ weights all features equally; GRLVQ
learns a weight for each and finds the two.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from lvq import GLVQ, GRLVQ
from lvq.plots import RelevanceDisplay


def make_data(seed, size):
    """Two moons in features 4 and 13, and 18 features of noise."""
    moons, y = make_moons(size, noise=0.15, random_state=seed)
    X = np.random.default_rng(seed).normal(size=(size, 20))
    X[:, [4, 13]] = (moons - moons.mean(axis=0)) / moons.std(axis=0)
    return X, y


X, y = make_data(0, 400)
X_test, y_test = make_data(1, 2000)
plain = GLVQ(n_prototypes=4, random_state=0).fit(X, y)
weighted = GRLVQ(n_prototypes=4, random_state=0).fit(X, y)

# %%
# Left: the weights in the distance. Right: the test samples in the two features that GRLVQ found; rings mark its wrong
# predictions.

figure, axes = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
RelevanceDisplay.from_estimator(weighted, values="lambda", max_features=20, ax=axes[0])
axes[0].set_title("Weights of GRLVQ")
wrong = weighted.predict(X_test) != y_test
for label, (colour, marker) in enumerate([("#0072B2", "o"), ("#E69F00", "s")]):
    axes[1].scatter(*X_test[y_test == label][:, [4, 13]].T, s=8, c=colour, marker=marker, label=f"class {label}")
axes[1].scatter(
    *X_test[wrong][:, [4, 13]].T, s=40, facecolors="none", edgecolors="black", linewidths=0.7, label="wrong"
)
axes[1].scatter(
    *weighted.prototypes_[:, [4, 13]].T, s=90, c="black", marker="*", edgecolors="white", label="prototypes"
)
axes[1].legend(loc="upper left", bbox_to_anchor=(1.01, 1))
first, second = (100 * model.score(X_test, y_test) for model in (plain, weighted))
axes[1].set(xlabel="feature 4", ylabel="feature 13", title=f"Correct: GLVQ {first:.1f} %, GRLVQ {second:.1f} %")
