"""Counterfactuals: a small change of a sample that gives it another class, or makes its prediction accepted.

`search` has the public function, what is asked for, and the smallest change in the model's metric; `real_cases` changes
between a sample and real samples that respect bounds, immutable columns and categories, and `moves` the geometry of
both.
"""

from lvq.counterfactuals.search import Counterfactual, counterfactual

__all__ = ["Counterfactual", "counterfactual"]
