"""
The report page
===============

One HTML file shows a fitted model to the people who use it: accuracy, rejection with a slider, a map, importances,
prototypes, and explanations of single predictions. It needs no server and no network, and follows the reader's light or
dark setting.
"""

import tempfile
from html import escape
from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import lvq
from lvq import GMLVQ, RejectClassifier
from lvq.model.relevance import Matrix

data = load_breast_cancer(as_frame=True)
y = data.target_names[data.target]
X_train, X_test, y_train, y_test = train_test_split(data.data, y, stratify=y, random_state=0)
inner = make_pipeline(StandardScaler(), GMLVQ(relevance=Matrix(rank=2), max_iter=500, random_state=0))
model = RejectClassifier(inner, min_coverage=0.9).fit(X_train, y_train)
page = Path(tempfile.mkdtemp()) / "report.html"
report = lvq.report(model, X_test, y_test, page, title="GMLVQ")
print(f"{page.name}: {page.stat().st_size / 1e6:.1f} MB")

# %%
# The numbers on the page are attributes of a `Report`; the command line stores them next to the page. Here are the
# curve behind the rejection slider and the largest importances.

rejection, relevance = report.rejection, report.relevance
figure, axes = plt.subplots(1, 2, figsize=(12, 4), layout="constrained")
axes[0].plot(rejection.coverage, rejection.accuracy, color="#0072B2")
axes[0].set(xlabel="coverage", ylabel="accuracy of accepted predictions", title="Rejection")
first = relevance.order[7::-1]
axes[1].barh(relevance.names[first], relevance.importances[first], color="#0072B2")
axes[1].set(xlabel="importance", title="The eight most important features")

# %%
# The page itself, in a frame: move the slider, point at samples, choose another one.


class Frame:
    """Shows an HTML file in a notebook or on this page."""

    def _repr_html_(self):
        text = escape(page.read_text(encoding="utf-8"))
        style = "width: 100%; height: 45rem; border: 1px solid #888"
        return f'<iframe title="report" srcdoc="{text}" style="{style}"></iframe>'


Frame()
