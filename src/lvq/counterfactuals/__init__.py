"""Counterfactuals: the smallest change of a sample that gives it another class, or makes its prediction accepted.

`smallest_changes` has the public function and the smallest change in the model's metric, `real_cases` and `constrained`
changes that respect bounds, immutable columns and categories, between a sample and real samples.
"""

from lvq.counterfactuals.smallest_changes import Counterfactual, counterfactual

__all__ = ["Counterfactual", "counterfactual"]
