"""The other LVQ libraries: task -> model, as in `models.py`. Each is imported when it is first used.

Costs are GLVQ's with the identity, as here, where a library has the choice. "own" among the tasks' keys asks for the
library's own defaults instead.
"""

import importlib
import sys
import types
from typing import Any

import numpy as np

from benchmarks.workers.models import Model, Prototypes, Task


class Sklvq(Model):
    """L-BFGS, or steepest gradient descent sample by sample."""

    def make(self, n_features: int) -> Any:
        library, task = importlib.import_module("sklvq"), self.task
        given: dict[str, Any] = {"prototype_n_per_class": task.get("per_class", 1), "random_state": task.get("seed", 0)}
        if not task.get("own"):
            given |= {"activation_type": "identity", "solver_type": "lbfgs"}
        if task.get("epochs"):
            given |= {"solver_type": "steepest-gradient-descent"}
            given["solver_params"] = {"max_runs": task["epochs"], "batch_size": 1}
        elif task.get("short"):
            given["solver_params"] = {"options": {"maxiter": 1, "maxfun": 1}}
        if task["model"] == "gmlvq":
            return library.GMLVQ(relevance_n_components=task.get("rank") or "all", **given)
        return library.GLVQ(**given) if task["model"] == "glvq" else super().make(n_features)

    def prototypes(self) -> Prototypes:
        return self.fitted.prototypes_, self.fitted.prototypes_labels_, getattr(self.fitted, "omega_", None)


class SklearnLvq(Model):
    """L-BFGS."""

    def make(self, n_features: int) -> Any:
        library, task = importlib.import_module("sklearn_lvq"), self.task
        if task.get("epochs"):
            raise NotImplementedError("sklearn-lvq has no online solver")
        given: dict[str, Any] = {"prototypes_per_class": task.get("per_class", 1), "random_state": task.get("seed", 0)}
        if task.get("short"):
            given["max_iter"] = 1
        if task["model"] == "gmlvq":
            return library.GmlvqModel(initialdim=task.get("rank"), **given)
        return library.GlvqModel(**given) if task["model"] == "glvq" else super().make(n_features)

    def prototypes(self) -> Prototypes:
        return self.fitted.w_, self.fitted.c_w_, getattr(self.fitted, "omega_", None)


class Prosemble(Model):
    """Adam on all samples, 100 iterations at most, its default; or batches of one sample."""

    def make(self, n_features: int) -> Any:
        library, task = importlib.import_module("prosemble.models"), self.task
        given: dict[str, Any] = {"n_prototypes_per_class": task.get("per_class", 1), "random_seed": task.get("seed", 0)}
        if task.get("epochs"):
            given |= {"batch_size": 1, "max_iter": max(2, task["epochs"])}  # 1 raises
        elif task.get("short"):
            given["max_iter"] = 2
        if task["model"] == "gmlvq":
            return library.GMLVQ(latent_dim=task.get("rank"), **given)
        return library.GLVQ(**given) if task["model"] == "glvq" else super().make(n_features)

    def prototypes(self) -> Prototypes:
        omega = getattr(self.fitted, "omega_", None)
        labels = np.asarray(self.fitted.prototype_labels_)
        return np.asarray(self.fitted.prototypes_), labels, None if omega is None else np.asarray(omega).T


class Prototorch(Model):
    """Adam in batches of 64, 100 epochs: it has no run of its own by default."""

    def make(self, n_features: int) -> Any:
        return _Lightning(self.task, n_features)

    def prototypes(self) -> Prototypes:
        found = self.fitted.model
        omega = found.omega_matrix.numpy().T if self.task["model"] == "gmlvq" else None
        return found.prototypes.detach().numpy(), found.prototype_labels.numpy(), omega


class _Lightning:
    """fit and predict around prototorch's module and lightning's trainer."""

    def __init__(self, task: Task, n_features: int) -> None:
        if task["model"] not in ("glvq", "gmlvq"):
            raise NotImplementedError(f"prototorch is not asked for the model {task['model']!r}")
        self.task, self.n_features = task, n_features
        self.lightning = importlib.import_module("pytorch_lightning")
        for name in ("torchvision", "torchvision.datasets", "torchvision.datasets.utils", "torchvision.utils"):
            sys.modules.setdefault(name, _Unused(name))  # imported by prototorch, for images only
        self.torch, self.library = importlib.import_module("torch"), importlib.import_module("prototorch")
        self.models = importlib.import_module("prototorch.models")

    def fit(self, X: np.ndarray, y: np.ndarray) -> "_Lightning":
        """Train on the CPU."""
        torch, task = self.torch, self.task
        torch.manual_seed(task.get("seed", 0))
        data = torch.utils.data.TensorDataset(torch.as_tensor(X, dtype=torch.float32), torch.as_tensor(y))
        per_class, epochs = task.get("per_class", 1), task.get("epochs")
        distribution = {"num_classes": int(y.max()) + 1, "per_class": per_class}
        settings: dict[str, Any] = {"lr": 0.01, "distribution": distribution}
        starts = self.library.initializers
        start = starts.SMCI(data) if per_class == 1 else starts.SSCI(data, noise=0.01)
        if task["model"] == "gmlvq":
            settings |= {"input_dim": self.n_features, "latent_dim": task.get("rank") or self.n_features}
            self.model = self.models.GMLVQ(settings, prototypes_initializer=start)
        else:
            distance = importlib.import_module("prototorch.core.distances").squared_euclidean_distance
            self.model = self.models.GLVQ(settings, prototypes_initializer=start, distance_fn=distance)
        trainer = self.lightning.Trainer(
            max_epochs=epochs or (1 if task.get("short") else 100), accelerator="cpu", devices=1, logger=False,
            enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
        )  # fmt: skip
        trainer.fit(self.model, torch.utils.data.DataLoader(data, batch_size=1 if epochs else 64, shuffle=True))
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Classes."""
        with self.torch.no_grad():
            return self.model.predict(self.torch.as_tensor(X, dtype=self.torch.float32)).numpy()


class _Unused(types.ModuleType):
    """Stands for a module of which nothing is called."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return None
