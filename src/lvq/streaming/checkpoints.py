"""Checkpoints: where a run is in its stream, and its model, in one file that appears complete or not at all.

    lvq checkpoint 1
    <SHA-256 of everything below>
    {"arguments": {...}, "progress": {...}, "classes": ..., ...}
    <a file of lvq.save: the model so far>

The rows of the buffer are not stored: they are read again from where the buffer began, and shuffled by the same seed.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass, field
from glob import escape
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from lvq.files import check_regular, write_atomically
from lvq.persistence.files import LoadError, from_bytes, to_bytes
from lvq.streaming.blocks import Layout, Position
from lvq.typing import JSONValue, Labels

TITLE = b"lvq checkpoint 1"
RANDOM_LETTERS = 8  # in names of the tempfile module: files of another run, such as run-2, have more


@dataclass
class Progress:
    """How far a run has come."""

    seed: int
    stage: int  # 0 for the first pass (classes, standardisation), then the number of the epoch
    position: Position = field(default_factory=Position)  # of the first row in the buffer
    group: int = 0  # number of the buffer's content in this pass
    done: int = 0  # batches of the buffer that have been used
    batches: int = 0  # batches of all passes that have been used
    idle: list[int] = field(default_factory=list)  # rows since each prototype won, where idle ones are reseeded


class Checkpoint(NamedTuple):
    """What is needed to continue a run."""

    arguments: dict[str, JSONValue]
    progress: Progress
    layout: Layout
    model: BaseEstimator


class CheckpointFile:
    """The file of a run's checkpoints."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        check_regular(self.path)

    def remove_remains(self) -> None:
        """Remove files of writes that were killed."""
        target = check_regular(self.path)
        for remains in target.parent.glob(f".{escape(target.name)}-{'?' * RANDOM_LETTERS}.tmp"):
            remains.unlink(missing_ok=True)

    def write(self, checkpoint: Checkpoint) -> None:
        """Replace the file; on an error the one before stays."""
        layout = checkpoint.layout
        header = {
            "arguments": checkpoint.arguments,
            "progress": asdict(checkpoint.progress),
            "classes": _listed(layout.classes),
            "found": _listed(layout.found),
            "n_features": layout.n_features,
            "dtype": layout.dtype.str,
            "names": layout.names,
            "stored": layout.stored,
        }
        body = json.dumps(header).encode() + b"\n" + to_bytes(checkpoint.model)
        try:
            with write_atomically(self.path) as file:
                file.write(TITLE + b"\n" + hashlib.sha256(body).hexdigest().encode() + b"\n" + body)
        except OSError as error:
            before = "the one before is kept" if self.path.exists() else "there is none before it"
            why = os.strerror(error.errno) if error.errno else error
            raise OSError(
                f"The checkpoint {self.path} could not be written ({why}); {before}. Free some space or choose another "
                "path, and start again."
            ) from error

    def read(self, arguments: dict[str, JSONValue], allow_nan: bool) -> Checkpoint | None:
        """The checkpoint of a run with the same arguments; None where there is no file."""
        if not self.path.exists():
            return None
        title, checksum, body, *_ = *self.path.read_bytes().split(b"\n", 2), b"", b""
        if title != TITLE:
            raise LoadError(f"{self.path} is not a checkpoint of this version of lvq; choose another path.")
        if hashlib.sha256(body).hexdigest().encode() != checksum:
            raise LoadError(f"{self.path} is damaged: its checksum does not match its content; remove it.")
        text, _, model = body.partition(b"\n")
        header = json.loads(text)
        self._check_arguments(header["arguments"], arguments)
        progress = header["progress"] | {"position": Position(*header["progress"]["position"])}
        names = header["names"]
        layout = Layout(
            allow_nan=allow_nan,
            classes=_array(header["classes"]),
            found=_array(header["found"]),
            n_features=header["n_features"],
            dtype=np.dtype(header["dtype"]),
            names=None if names is None else tuple(names),
            stored=header["stored"],
        )
        return Checkpoint(arguments, Progress(**progress), layout, from_bytes(model)[0])

    def _check_arguments(self, stored: dict[str, JSONValue], given: dict[str, JSONValue]) -> None:
        other = sorted(name for name in stored.keys() | given.keys() if stored.get(name) != given.get(name))
        if other:
            raise ValueError(
                f"The checkpoint {self.path} belongs to a run with another {', '.join(other)}; give the same "
                "arguments and files to continue it, or remove it to start again."
            )


def _listed(classes: Labels | None) -> JSONValue:
    return None if classes is None else [classes.dtype.str, classes.tolist()]


def _array(stored: JSONValue) -> Labels | None:
    return None if stored is None else np.array(stored[1], dtype=np.dtype(stored[0]))
