"""Files that appear complete or not at all: written beside their place, then moved to it."""

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any


@contextmanager
def write_atomically(path: Any) -> Iterator[IO[bytes]]:
    """A binary file that takes its place under `path` when the block ends without an error, and else is removed.

    A symbolic link stays a link: the file it points to is replaced. What is neither a new path nor a regular file
    (a device, a pipe, a folder) is refused.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with write_atomically(f"{folder}/note.txt") as file:
    ...         _ = file.write(b"done")
    ...     [path.name for path in Path(folder).iterdir()]
    ['note.txt']
    """
    with temporary_beside(path) as temporary, temporary.open("wb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def temporary_beside(path: Any) -> Iterator[Path]:
    """A temporary file to write to, moved to `path` when the block ends without an error, and else removed."""
    target = check_regular(path)
    handle, name = tempfile.mkstemp(prefix=f".{target.name}-", suffix=".tmp", dir=target.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        permissions = stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o666 & ~umask()
        temporary.chmod(permissions)  # a temporary file is for its owner alone
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def check_regular(path: Any) -> Path:
    """The real path of a file that may be written: a new one, or a regular file."""
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        kind = "a folder" if target.is_dir() else "a device, pipe or socket"
        raise OSError(f"{path} is {kind}, not a regular file; choose another path.")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"The folder {str(target.parent)!r} does not exist; create it first.")
    return target


def umask() -> int:
    """Permissions that new files do not get."""
    present = os.umask(0)
    os.umask(present)
    return present
