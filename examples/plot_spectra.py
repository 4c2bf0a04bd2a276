"""
Spectra: a smooth matrix
========================

Neighbouring wavelengths measure nearly the same, so the weights of a matrix learned from spectra jump from one to the
next. `smoothness` adds a penalty on these jumps, so the profile can be read as bands.
"""

import matplotlib.pyplot as plt
import numpy as np

from lvq import GMLVQ
from lvq.model.relevance import Matrix

WAVELENGTHS = np.linspace(850, 1050, 100)


def make_spectra(seed, size):
    """Absorbance spectra: a slope and broad bands that vary, and two narrow bands that depend on the class."""
    rng = np.random.default_rng(seed)
    y = np.arange(size) % 2

    def band(centre, width):
        return np.exp(-(((WAVELENGTHS - centre) / width) ** 2))

    X = 2.6 + rng.normal(size=(size, 1)) * 0.2 + rng.normal(size=(size, 1)) * 0.3 * (WAVELENGTHS - 950) / 100
    X += (0.8 + 0.15 * rng.normal(size=(size, 1))) * band(970, 40) + 0.1 * rng.normal(size=(size, 1)) * band(880, 30)
    X += (0.06 * y[:, None] + 0.03 * rng.normal(size=(size, 1))) * band(930, 8)
    X -= (0.05 * y[:, None] + 0.03 * rng.normal(size=(size, 1))) * band(1010, 8)
    return X + 0.01 * rng.normal(size=X.shape), np.array(["low", "high"])[y]


X, y = make_spectra(0, 200)
X_test, y_test = make_spectra(1, 2000)

# %%
# Above: some spectra. Below: the weights of the wavelengths (the diagonal of Lambda), without and with the penalty. The
# classes differ in the shaded bands.

scale = X.std(axis=0)
models = {
    value: GMLVQ(relevance=Matrix(rank=3, smoothness=value), random_state=0).fit(X / scale, y)
    for value in (0.0, 0.1, 1.0)
}
figure, axes = plt.subplots(2, 1, figsize=(9, 7), layout="constrained", sharex=True, height_ratios=[2, 3])
for row in range(30):
    axes[0].plot(WAVELENGTHS, X[row], color={"low": "#0072B2", "high": "#E69F00"}[y[row]], linewidth=0.8)
axes[0].set(ylabel="absorbance", title="30 simulated spectra of two classes")
for (value, model), colour in zip(models.items(), ("#CC79A7", "#009E73", "#0072B2")):
    accuracy = model.score(X_test / scale, y_test)
    axes[1].plot(WAVELENGTHS, np.diag(model.lambda_), color=colour, label=f"smoothness {value}: {100 * accuracy:.1f} %")
for ax in axes:
    for centre in (930, 1010):
        ax.axvspan(centre - 10, centre + 10, color="#666666", alpha=0.15)
axes[1].set(xlabel="wavelength in nm", ylabel="weight in the distance", title="Weights, and accuracy on new spectra")
axes[1].legend()

# %%
# With the penalty two peaks lie on the two bands; a third, at the left edge, measures the height of the whole spectrum,
# with which the bands have to be compared. Without it, the same weight is spread over single wavelengths.
