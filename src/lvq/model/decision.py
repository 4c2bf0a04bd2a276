"""How distances become scores, probabilities and a predicted class. Saved models name it by `prototype_model`."""

from dataclasses import dataclass

from lvq.model.model_checks import LARGEST


@dataclass(frozen=True)
class DecisionRule:
    """How distances become scores, probabilities and a predicted class.

    Parameters
    ----------
    xi : float, optional
        Steepness of the cost in units of 1/H; None for a cost of relative distances.
    sharpness : float, default=5.0
        For relative costs: how steeply relative scores become probabilities.
    soft : bool, default=False
        Whether the cost defines a posterior, softmax(-xi H) over all prototypes.
    by_posterior : bool, default=False
        Predict the class of the largest posterior instead of the class of the nearest prototype.
    temperature : float, default=1.0
        Probabilities are raised to the power of one over the temperature; see `lvq.model.temperature`.
    """

    xi: float | None = None
    sharpness: float = 5.0
    soft: bool = False
    by_posterior: bool = False
    temperature: float = 1.0

    def __post_init__(self) -> None:
        if self.xi is not None and not 0 < self.xi <= LARGEST:
            raise ValueError(f"xi of a DecisionRule must be a positive number or None, got {self.xi!r}.")
        if not 0 < self.sharpness <= LARGEST:
            raise ValueError(f"sharpness of a DecisionRule must be a positive number, got {self.sharpness!r}.")
        if not 0 < self.temperature <= LARGEST:
            raise ValueError(f"temperature of a DecisionRule must be a positive number, got {self.temperature!r}.")
        if ((self.soft or self.by_posterior) and self.xi is None) or (self.by_posterior and not self.soft):
            raise ValueError("A DecisionRule by the posterior needs soft=True and a steepness xi.")
