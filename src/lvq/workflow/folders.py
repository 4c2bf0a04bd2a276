"""Files that appear all at once: a run's folder is complete or is not there.

Files are written to a temporary folder beside the run's, or in it where it is there, and then moved. Ctrl-C waits for
the moving to end.
"""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from lvq.tables.writing import check_writable, umask

MODEL, REPORT, METRICS = "model.lvq", "report.html", "metrics.json"


def check_folder(folder: str | Path, names: Sequence[str] = (MODEL, REPORT, METRICS), *, force: bool = False) -> Path:
    """Whether files can be written to a folder, before anything is computed.

    Parameters
    ----------
    folder : path
        It need not be there.
    names : sequence of str
        The files' names.
    force : bool, default=False
        Whether files of these names may be replaced.

    Returns
    -------
    folder : Path

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     check_folder(f"{place}/run").name
    'run'
    """
    folder = Path(folder)
    there = next((place for place in (folder, *folder.absolute().parents) if place.exists()), Path("/"))
    if not there.is_dir():
        raise NotADirectoryError(f"{there} is a file, so {folder} cannot be a folder; choose another place.")
    found = [name for name in names if (folder / name).exists()]
    if found and not force:
        raise FileExistsError(
            f"{folder} holds {', '.join(found)} already; use force (--force) to replace, or choose another folder."
        )
    check_writable(there, folder)
    return folder


@contextmanager
def all_or_nothing(folder: str | Path) -> Iterator[Path]:
    """A temporary folder whose files are moved to their place when the block ends well, and else removed.

    Parameters
    ----------
    folder : path
        Their place. Other files in it stay as they are.

    Yields
    ------
    temporary : Path
        Where to write.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     with all_or_nothing(f"{place}/run") as temporary:
    ...         _ = (temporary / "note.txt").write_text("done")
    ...     [path.name for path in pathlib.Path(place).rglob("*")]
    ['run', 'note.txt']
    """
    folder = Path(folder).absolute()
    made = [place for place in folder.parents if not place.exists()]
    folder.parent.mkdir(parents=True, exist_ok=True)
    # inside a folder that is there, as the one around it may not be ours to write
    place = folder if folder.is_dir() else folder.parent
    temporary = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", suffix=".tmp", dir=place))
    try:
        yield temporary
        with _undisturbed():
            _move(temporary, folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        for place in made:  # the innermost first; those that hold the run stay
            with suppress(OSError):
                place.rmdir()


def _move(temporary: Path, folder: Path) -> None:
    if not folder.exists():
        temporary.chmod(0o777 & ~umask())  # a temporary folder is for its owner alone
        temporary.rename(folder)
        return
    for path in sorted(temporary.iterdir()):
        os.replace(path, folder / path.name)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Ctrl-C has to wait; only the main thread may say so, and only it gets one."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    waiting: list[tuple[Any, ...]] = []
    before = signal.signal(signal.SIGINT, lambda *arguments: waiting.append(arguments))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if waiting and callable(before):
            before(*waiting[0])
