"""Counterfactuals: a small change of a sample that gives it another class, or makes its prediction accepted.

`search` has the public function, `task` what is asked for, `real_cases` changes between a sample and real samples that
respect bounds, immutable columns and categories, and `moves` their geometry.
"""

from lvq.counterfactuals.search import Counterfactual, counterfactual

__all__ = ["Counterfactual", "counterfactual"]
