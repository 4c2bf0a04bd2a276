"""
Certified radii, and an attack that fails
=========================================

Each prediction has a certified radius, computed from distances alone: no shorter change of the sample changes the
prediction. An attack that follows the gradient cannot break it; beyond the radius it often succeeds.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from lvq import GLVQ, certified_radius

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
model = GLVQ(n_prototypes=2, random_state=0).fit(X_train, y_train)
radius = certified_radius(model, X_test)


def attack(X, length):
    """Samples moved by `length`, step by step towards the nearest prototype of another class."""
    W, labels, start = model.prototypes_, model.prototype_labels_, model.predict(X)
    moved = X.copy()
    for _ in range(40):
        distances = ((moved[:, None] - W) ** 2).sum(axis=2)
        own = np.where(labels == start[:, None], distances, np.inf).argmin(axis=1)
        other = np.where(labels == start[:, None], np.inf, distances).argmin(axis=1)
        step = W[other] - W[own]  # against the gradient of the difference of the two distances
        moved += 0.1 * length[:, None] * step / np.linalg.norm(step, axis=1, keepdims=True)
        size = np.linalg.norm(moved - X, axis=1)
        moved = X + (moved - X) * np.minimum(1, length / np.maximum(size, 1e-12))[:, None]  # back into the ball
    return moved


# %%
# Left: the fraction of test digits whose prediction the attack changes, by the length of the change in units of the
# radius. Right: the accuracy that is certified for every change of a given length.

factors = np.array([0.5, 0.8, 0.9, 0.99, 1.01, 1.1, 1.25, 1.5, 2.0])
changed = [np.mean(model.predict(attack(X_test, f * radius)) != model.predict(X_test)) for f in factors]
figure, axes = plt.subplots(1, 2, figsize=(12, 4.4), layout="constrained")
axes[0].plot(factors, changed, "o-", color="#0072B2", label="changed by the attack")
axes[0].axvline(1, color="#D55E00", label="certified radius")
axes[0].set(xlabel="length of the change / radius", ylabel="fraction of predictions changed", title="The attack")
axes[0].legend()
lengths, correct = np.linspace(0, radius.max(), 200), model.predict(X_test) == y_test
axes[1].plot(lengths, [np.mean(correct & (radius >= length)) for length in lengths], color="#0072B2")
axes[1].set(xlabel="length of the change", ylabel="certified accuracy", title="Certified accuracy")
print(dict(zip(factors.tolist(), np.round(changed, 3).tolist())))

# %%
# A digit, the same digit changed by 99 % of its radius, and by 150 %. Grey levels go from 0 to 16.

chosen = np.argsort(radius)[len(radius) // 2 :][:1]
figure, axes = plt.subplots(1, 3, figsize=(9, 3.4), layout="constrained")
for ax, factor in zip(axes, (0, 0.99, 1.5)):
    image = attack(X_test[chosen], factor * radius[chosen])
    ax.imshow(image.reshape(8, 8), cmap="gray_r", vmin=0, vmax=16)
    ax.set(xticks=[], yticks=[], title=f"{factor:.0%} of the radius: predicted {model.predict(image)[0]}")
