"""Parts of a model that a user can set: costs, kernels, relevance rules and solvers carry their own parameters."""

from dataclasses import fields
from typing import Self

from lvq.typing import Argument


class Part:
    """A frozen dataclass whose fields are parameters, as scikit-learn's searches and `clone` expect them.

    Examples
    --------
    >>> from lvq.model.relevance import Matrix
    >>> Matrix(rank=2).get_params()["rank"]
    2
    """

    def get_params(self, deep: bool = True) -> dict[str, Argument]:
        """The parameters by their names; `deep` is scikit-learn's and changes nothing."""
        return {field.name: getattr(self, field.name) for field in fields(self) if field.init}  # type: ignore[arg-type]

    def set_params(self, **params: Argument) -> Self:
        """Change parameters; a fitted model has copies of its own and does not change."""
        known = self.get_params()
        for name, value in params.items():
            if name not in known:
                raise ValueError(f"{type(self).__name__} has no parameter {name!r}; it has {sorted(known)}.")
            object.__setattr__(self, name, value)
        return self
