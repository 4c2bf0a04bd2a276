"""
Prototypes of handwritten digits
================================

A prototype is a point in the space of the samples, so for images it is an image. With three prototypes of 8 x 8 pixels
for each digit, you can look at the whole model.
"""

from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from lvq import LVQClassifier
from lvq.plots import PrototypeDisplay

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
model = LVQClassifier(relevance=None, n_prototypes=3, random_state=0).fit(X_train, y_train)
print(f"{model.score(X_test, y_test):.3f} of the test digits correct")

# %%
# `relevance=None` keeps the distance Euclidean: all pixels count alike, and the prototypes stay images.

PrototypeDisplay.from_estimator(model)
