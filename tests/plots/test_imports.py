"""matplotlib is needed for drawing only; without it the error has the install command."""

import subprocess
import sys

import pytest

import lvq.plots
from lvq import GLVQ
from lvq.plots import (
    AccuracyRejectDisplay,
    CertifiedAccuracyDisplay,
    LambdaDisplay,
    LossCurveDisplay,
    ProjectionDisplay,
    PrototypeDisplay,
    RelevanceDisplay,
)

X, y = [[0.0, 0.0], [0.0, 1.0], [5.0, 5.0], [5.0, 4.0]], [0, 0, 1, 1]
METHODS = {
    "AccuracyRejectDisplay.from_estimator": lambda model: AccuracyRejectDisplay.from_estimator(model, X, y),
    "AccuracyRejectDisplay.from_predictions": lambda _: AccuracyRejectDisplay.from_predictions(y, y, y),
    "AccuracyRejectDisplay.from_cv_results": lambda _: AccuracyRejectDisplay.from_cv_results({}, X, y),
    "CertifiedAccuracyDisplay.from_estimator": lambda model: CertifiedAccuracyDisplay.from_estimator(model, X, y),
    "CertifiedAccuracyDisplay.from_predictions": lambda _: CertifiedAccuracyDisplay.from_predictions(y, y, y),
    "LambdaDisplay.from_estimator": LambdaDisplay.from_estimator,
    "LossCurveDisplay.from_estimator": LossCurveDisplay.from_estimator,
    "ProjectionDisplay.from_estimator": lambda model: ProjectionDisplay.from_estimator(model, X, y),
    "PrototypeDisplay.from_estimator": PrototypeDisplay.from_estimator,
    "RelevanceDisplay.from_estimator": RelevanceDisplay.from_estimator,
    "RelevanceDisplay.from_cv_results": RelevanceDisplay.from_cv_results,
}


def test_importing_loads_no_matplotlib():
    code = "import sys, lvq.plots; sys.exit(int('matplotlib' in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("method", METHODS)
def test_without_matplotlib(monkeypatch, method):
    for name in ("matplotlib", "matplotlib.pyplot"):
        monkeypatch.setitem(sys.modules, name, None)
    model = GLVQ()
    with pytest.raises(ImportError, match=rf'{method} needs matplotlib.*pip install "lvq\[plot\]"'):
        METHODS[method](model)


def test_every_display_is_tried():
    assert {method.partition(".")[0] for method in METHODS} == {name for name in lvq.plots.__all__ if name[0].isupper()}
