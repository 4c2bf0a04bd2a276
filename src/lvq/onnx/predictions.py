"""Predictions of a model as an ONNX graph: distances, labels, scores and probabilities, as in `PrototypeModel`.

The same formulas as in `lvq.model`, in the same order where rounding matters: centred on the prototypes first, products
instead of differences, ties to the lowest index. ONNX has no expm1, so kernels are written with tanh and roots, which
lose no digits near a prototype.
"""

from functools import cached_property

import numpy as np

from lvq.model.links import Cauchy, Gaussian, Identity, InverseMultiquadric, Kernel
from lvq.model.local_metrics import LocalDiagonal, LocalMahalanobis
from lvq.model.metrics import Diagonal, Euclidean, Mahalanobis
from lvq.model.prototype_model import PrototypeModel
from lvq.model.rows import largest_value, round_centre
from lvq.onnx.graph import Graph

METRICS = (Euclidean, Diagonal, Mahalanobis, LocalDiagonal, LocalMahalanobis)
LINKS = (Identity, Gaussian, Cauchy, InverseMultiquadric)


class Predictions:
    """Everything that a model predicts for samples; nodes are added on first use.

    Parameters
    ----------
    graph : Graph
    model : PrototypeModel
    X : str
        The name of the samples.
    inputs : list of str, default=[]
        Names of floating inputs of the graph, from which the samples are computed.
    costs : array of shape (n_classes, n_classes), optional
        Whether the class with the lowest expected cost is predicted, as by a CostClassifier.
    """

    def __init__(
        self,
        graph: Graph,
        model: PrototypeModel,
        X: str,
        inputs: list[str] | None = None,
        costs: np.ndarray | None = None,
    ) -> None:
        refuse_unknown_parts(model)
        self.costs = costs
        self.graph, self.model, self.X, self.inputs = graph, model, X, inputs or []
        self.n_classes, self.labels, self.by_posterior = len(model.classes), model.labels, model.decision.by_posterior
        self.counts = np.bincount(self.labels)

    @cached_property
    def valid(self) -> str:
        """Which samples the model would take, (N,): finite numbers whose squared distances do not overflow.

        The inputs of the graph must not be infinite either: a transformer could have clipped them.
        """
        graph, limit = self.graph, self.graph.number(largest_value(np.dtype(np.float64), self.model.n_features))
        inside = graph.node("LessOrEqual", graph.node("Abs", self.X), limit)
        result = graph.all_of(inside)
        for values in self.inputs:
            finite = graph.node("Not", graph.node("IsInf", values))
            result = graph.node("And", result, graph.all_of(finite))
        return graph.node("And", result, graph.all_of(self._directions[1])) if self.model.unit_length else result

    # -- distances ----------------------------------------------------------------------------------------------------

    @cached_property
    def distances(self) -> str:
        """Squared distances to all prototypes, (N, M)."""
        graph, metric, W, R = self.graph, self.model.metric, self.model.prototypes, self.model.relevance
        centre = round_centre(W)
        given = self._directions[0] if self.model.unit_length else self.X
        samples, prototypes = graph.node("Sub", given, graph.constant(centre)), W - centre
        if isinstance(metric, Euclidean):
            return self._squared(samples, prototypes)
        assert R is not None
        if isinstance(metric, Diagonal | Mahalanobis):
            operation, factor = ("Mul", R**0.5) if isinstance(metric, Diagonal) else ("MatMul", R.T)
            images = graph.node(operation, samples, graph.constant(factor))
            return self._squared(images, metric.project(prototypes, R))
        if isinstance(metric, LocalDiagonal):
            return self._squared(samples, prototypes, R[metric.group])
        parts = []
        for k, omega in enumerate(R):
            images = graph.node("MatMul", samples, graph.constant(omega.T))
            parts.append(self._squared(images, prototypes[self.model.group == k] @ omega.T))
        return graph.node("Concat", *parts, axis=1) if len(parts) > 1 else parts[0]

    @cached_property
    def _directions(self) -> tuple[str, str]:
        """Samples of length one, (N, n), and whether each has a direction, (N, 1)."""
        graph = self.graph
        lengths = graph.node("Sqrt", graph.reduce("ReduceSum", graph.node("Mul", self.X, self.X), keep=True))
        positive = graph.node("Greater", lengths, graph.number(0))
        return graph.node("Div", self.X, graph.node("Where", positive, lengths, graph.number(1))), positive

    def _squared(self, images: str, projected: np.ndarray, weights: np.ndarray | None = None) -> str:
        """Squared distances of images, also with weights of features for each prototype."""
        graph, squares = self.graph, self.graph.node("Mul", images, images)
        if weights is None:
            lengths, weights = graph.reduce("ReduceSum", squares, keep=True), np.ones_like(projected)
        else:
            lengths = graph.node("MatMul", squares, graph.constant(weights.T))
        D = graph.node("MatMul", images, graph.constant((-2 * weights * projected).T))
        D = graph.node("Add", D, lengths)
        D = graph.node("Add", D, graph.constant((weights * projected * projected).sum(1)[None]))
        return graph.node("Max", D, graph.number(0))

    def linked(self, distances: str) -> str:
        """H = g(D), elementwise."""
        graph, link = self.graph, self.model.link
        if isinstance(link, Identity):
            return distances
        assert isinstance(link, Kernel)
        ratio = graph.node("Div", distances, graph.number(float(link.width) ** 2))
        if isinstance(link, Gaussian):
            u = graph.node("Tanh", graph.node("Div", ratio, graph.number(4)))  # 2 - 2 exp(-r/2) = 4 u/(1 + u)
            return graph.node("Div", graph.node("Mul", u, graph.number(4)), graph.node("Add", u, graph.number(1)))
        if isinstance(link, Cauchy):
            top = graph.node("Mul", ratio, graph.number(2))
            return graph.node("Div", top, graph.node("Add", ratio, graph.number(1)))
        assert isinstance(link, InverseMultiquadric)  # 2 - 2/s = 2 r/(s (1 + s)) with s = sqrt(1 + r)
        root = graph.node("Sqrt", graph.node("Add", ratio, graph.number(1)))
        below = graph.node("Mul", root, graph.node("Add", root, graph.number(1)))
        return graph.node("Div", graph.node("Mul", ratio, graph.number(2)), below)

    # -- the predicted class -------------------------------------------------------------------------------------------

    @cached_property
    def predicted(self) -> str:
        """Index of the predicted class, (N,)."""
        graph = self.graph
        if self.costs is not None:
            return graph.first("ArgMax", self.savings)
        if not self.by_posterior:
            return graph.node("Gather", graph.constant(self.labels), graph.first("ArgMin", self.distances), axis=0)
        return graph.first("ArgMax", self.posterior)

    @cached_property
    def savings(self) -> str:
        """Minus the expected cost of each class, (N, C)."""
        assert self.costs is not None
        graph = self.graph
        return graph.node("Neg", graph.node("MatMul", self.probabilities, graph.constant(self.costs)))

    def _masked(self, *, own: bool) -> str:
        """Distances to the prototypes of the predicted class, or of the others; infinite for the rest, (N, M)."""
        graph, far = self.graph, self.graph.number(np.inf)
        same = graph.node("Equal", graph.constant(self.labels[None]), graph.column(self.predicted))
        return graph.node("Where", same, *((self.distances, far) if own else (far, self.distances)))

    @cached_property
    def winner(self) -> str:
        """The nearest prototype of the predicted class, (N,)."""
        return self.graph.first("ArgMin", self._masked(own=True))

    @cached_property
    def near(self) -> str:
        """Squared distance to the winner, (N,)."""
        return self.graph.reduce("ReduceMin", self._masked(own=True))

    @cached_property
    def far(self) -> str:
        """Squared distance to the nearest prototype of another class than the winner's, (N,)."""
        return self.graph.reduce("ReduceMin", self._masked(own=False))

    @cached_property
    def label(self) -> str:
        """The predicted class itself."""
        return self.graph.node("Gather", self.graph.constant(class_values(self.model.classes)), self.predicted, axis=0)

    # -- scores and probabilities -------------------------------------------------------------------------------------

    def _by_class(self, operation: str, values: str) -> str:
        """Reduce the prototypes of each class: (N, M) to (N, C)."""
        graph = self.graph
        parts = [graph.reduce(operation, part, keep=True) for part in graph.split(values, self.counts)]
        return graph.node("Concat", *parts, axis=1)

    @cached_property
    def class_links(self) -> str:
        """Smallest H of each class, at least that of the nearest prototype."""
        graph = self.graph
        D = self._by_class("ReduceMin", self.distances)
        H = self.linked(D)
        return graph.node("Max", H, graph.column(graph.take(H, graph.first("ArgMin", D))))

    @cached_property
    def _relative(self) -> str:
        """(H' - H)/(H' + H) of each class, where H' is the smallest of all others, (N, C)."""
        graph, H = self.graph, self.class_links
        nearest = graph.is_class(graph.first("ArgMin", H), self.n_classes)
        rest = graph.node("Where", nearest, graph.number(np.inf), H)
        second = graph.reduce("ReduceMin", rest, keep=True)
        others = graph.node("Where", nearest, second, graph.reduce("ReduceMin", H, keep=True))
        return graph.relative(H, others)

    @cached_property
    def probabilities(self) -> str:
        """As `predict_proba`, (N, C)."""
        graph, rule = self.graph, self.model.decision
        if self.by_posterior:
            if rule.temperature == 1:
                return self.posterior
            tiny = graph.number(np.finfo(np.float64).tiny)
            scores, sharpness = graph.node("Log", graph.node("Max", self.posterior, tiny)), 1.0
        elif rule.xi is not None:
            return graph.node("Softmax", self._sharp, axis=1)
        else:
            scores, sharpness = self._relative, rule.sharpness / 2
        return graph.node("Softmax", graph.node("Mul", scores, graph.number(sharpness / rule.temperature)), axis=1)

    @cached_property
    def _sharp(self) -> str:
        """-xi H/T of each class, minus the largest of the row."""
        graph, xi, temperature = self.graph, self.model.decision.xi, self.model.decision.temperature
        assert xi is not None
        behind = graph.node("Sub", self.class_links, graph.reduce("ReduceMin", self.class_links, keep=True))
        return graph.node("Mul", behind, graph.number(-xi / temperature))

    @cached_property
    def posterior(self) -> str:
        """Sum over each class's prototypes of softmax(-xi H), (N, C)."""
        graph, xi = self.graph, self.model.decision.xi
        assert xi is not None
        exponent = graph.node("Mul", self.linked(self.distances), graph.number(-xi))
        return self._by_class("ReduceSum", graph.node("Softmax", exponent, axis=1))


def refuse_unknown_parts(model: PrototypeModel) -> None:
    """Raise a ValueError for a metric or a kernel that has no formula here, and for classes without prototypes."""
    for part, known, what in ((model.metric, METRICS, "metric"), (model.link, LINKS, "kernel")):
        if type(part) not in known:
            raise ValueError(
                f"to_onnx does not support the {what} {part!r}; it supports "
                f"{', '.join(kind.__name__ for kind in known)}."
            )
    unseen = np.delete(model.classes, np.unique(model.labels)).tolist()
    if unseen:
        raise ValueError(f"to_onnx needs prototypes of every class, got none of {unseen}; train with samples of these.")


def class_values(classes: np.ndarray) -> np.ndarray:
    """The classes as ONNX can store them: strings, or int64 for integers and booleans."""
    if classes.dtype.kind in "iubf" and (classes.astype(np.int64) == classes).all():
        return classes.astype(np.int64)
    if classes.dtype.kind == "U" or (classes.dtype.kind == "O" and all(isinstance(name, str) for name in classes)):
        return classes.astype(str)
    raise ValueError(
        f"to_onnx writes labels that are strings or fit into int64, got classes of {classes.dtype}: "
        f"{classes.tolist()[:3]}. Encode them before fitting."
    )
