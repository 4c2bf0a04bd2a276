"""Every term of the page explained in one line."""

from __future__ import annotations

from lvq.typing import JSONValue


def terms(summary: dict[str, JSONValue]) -> list[tuple[str, str]]:
    """Terms that this page uses, in the order in which they appear, and what they mean."""
    relevance, rejects = summary["relevance"], summary["model"]["rejection"] is not None
    priced = summary["metrics"]["prices"] is not None
    saves = priced and (not rejects or summary["model"]["rejection"]["measure"] in ("auto", "combined", "margin"))
    shown = [
        ("Held-out samples", "Samples that the model was not fitted to; all scores are computed on them.", True),
        ("Accuracy", "Fraction of the predictions that are correct.", True),
        ("95 % interval", "Where the accuracy on many more samples of the same source lies, with 95 % confidence.",
         True),
        ("Balanced accuracy", "Mean of the accuracies of the classes, each counted the same.", not rejects),
        ("Majority baseline", "Accuracy of always predicting the most frequent class.", True),
        ("Mean price", "Sum of the prices of all wrong predictions, divided by the number of samples.", priced),
        ("Prototype", "A typical point of a class, named P1, P2 and so on; the class of the nearest one is predicted.",
         not priced),
        ("Prototype", "A typical point of a class, named P1, P2 and so on; distances to them give the probabilities.",
         priced),
        ("Expected price", "A prediction's prices, weighted by the classes' probabilities; the least is chosen.",
         priced),
        ("Fraction of a category", "A prototype lies between categories; the fraction tells how much it has of one.",
         summary["prototypes"].get("fractions") is not None),
        ("Nearest samples", "Real samples of its class that are nearest to a prototype in the model's distance.",
         summary["prototypes"].get("exemplars") is not None),
        ("Distance", "How different two samples are for the model; features can have different weights in it.", True),
        ("Certainty", "How certain a prediction is: the probability of its class, or a difference of distances.",
         not saves),
        ("Certainty", "How certain a prediction is: how much less its expected price is than that of the next class.",
         saves),
        ("Accepted, rejected", "A prediction that is certain enough to be used; one that is not.", True),
        ("Too little known", "Reason to reject a sample that has less than half of the usual number of values.",
         "too little known" in summary["rejection"]["reasons"]),
        ("Coverage", "Fraction of the samples whose prediction is accepted.", True),
        ("Operating point", "A choice of how certain a prediction must be; the slider moves along such choices.", True),
        ("Guarantee", "An upper bound of the error rate of accepted predictions that holds with the stated confidence.",
         rejects and summary["model"]["rejection"]["guarantee"] is not None),
        ("Confusion matrix", "Number of samples of each true class (row) that are predicted as each class (column).",
         summary["rejection"]["confusion"] is not None),
        ("Map", "Samples and prototypes in the plane in which the model's distances are largest.", True),
        ("Importance", "How much of what the model decides by a feature alone explains; all sum to 100 %.",
         relevance is not None),
        ("Lambda", "The weights of features and of pairs of features in the distance.",
         bool(relevance and relevance["matrices"])),
        ("Contribution", "What a feature adds to a prediction: positive for the predicted class, else negative.",
         True),
        ("Certified accuracy", "Fraction of samples whose correct prediction no change of that length can alter.",
         "radii" in summary["certified"]),
        ("Calibration", "How well probabilities agree with how often predictions are correct.",
         summary["probabilities"] is not None),
        ("Log-loss", "Mean of minus the logarithm of the true class's probability; lower is better.",
         summary["probabilities"] is not None),
        ("Objective", "The mean cost that training lowers, step by step.", len(summary["history"]["objective"]) > 1),
        ("Fold", "One of the parts of the training samples that was left out in turn, and predicted by the rest.",
         summary["folds"] is not None),
    ]  # fmt: skip
    return [(term, line) for term, line, used in shown if used]
