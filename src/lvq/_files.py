"""Files that appear complete or not at all: written to the same folder, then moved into place."""

import errno
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def naming_a_full_disk(path: str | os.PathLike[str]) -> Iterator[None]:
    """Errors of a full disk, which have no file name, name the path and what to do."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
        advice = "nothing is written; free some space, or choose another path"
        raise OSError(error.errno, f"{os.strerror(error.errno)}, {advice}", os.fspath(path)) from error


@contextmanager
def write_atomically(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A binary file that is moved to `path` if the block ends without an error, and otherwise removed.

    A symbolic link stays a link: the file it points to is replaced. What is neither a new path nor a regular file
    (a device, a pipe, a folder) is an error.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with write_atomically(f"{folder}/note.txt") as file:
    ...         _ = file.write(b"done")
    ...     [path.name for path in Path(folder).iterdir()]
    ['note.txt']
    """
    with naming_a_full_disk(path), temporary_beside(path) as temporary, temporary.open("wb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def temporary_beside(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary file to write to, moved to `path` if the block ends without an error, and otherwise removed."""
    target = check_regular(path)
    handle, name = tempfile.mkstemp(prefix=f".{target.name}-", suffix=".tmp", dir=target.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        permissions = stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o666 & new_permissions(target.parent)
        temporary.chmod(permissions)  # a temporary file is for its owner alone
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def write_folder_atomically(folder: str | os.PathLike[str], *, force: bool = False) -> Iterator[Path]:
    """A temporary folder to write to; its files move to `folder` together when the block ends without an error.

    Other files in `folder` are kept; without `force`, files of the same names are an error. Where a file cannot be
    replaced, and after Ctrl-C, those that were replaced before are restored.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     with write_folder_atomically(f"{place}/run") as temporary:
    ...         _ = (temporary / "note.txt").write_text("done")
    ...     [path.name for path in Path(place).rglob("*")]
    ['run', 'note.txt']
    """
    folder = Path(folder).absolute()
    folder.parent.mkdir(parents=True, exist_ok=True)
    # inside an existing folder, as the one around it may not be writable
    parent = folder if folder.is_dir() else folder.parent
    temporary = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", suffix=".tmp", dir=parent))
    try:
        with naming_a_full_disk(folder):
            yield temporary
        names = sorted(path.name for path in temporary.iterdir())
        if not folder.exists():
            temporary.chmod(new_permissions(temporary))  # a temporary folder is for its owner alone
            try:
                temporary.rename(folder)
                return
            except OSError:
                if not folder.exists():  # else it appeared just now
                    raise
        check_folder(folder, names, force=force)
        _replace_files(temporary, folder, names)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _replace_files(temporary: Path, folder: Path, names: Sequence[str]) -> None:
    """Move the files of a folder into another; after an error or Ctrl-C the old files are restored."""
    old = {name for name in names if os.path.lexists(folder / name)}
    aside = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", suffix=".old", dir=folder))
    try:
        for name in names:
            if name in old:
                os.replace(folder / name, aside / name)
            os.replace(temporary / name, folder / name)
    except BaseException:
        for name in names:
            if os.path.lexists(aside / name):
                os.replace(aside / name, folder / name)
            elif name not in old:
                (folder / name).unlink(missing_ok=True)
        aside.rmdir()
        raise
    shutil.rmtree(aside, ignore_errors=True)


def check_writable(folder: Path, path: str | os.PathLike[str]) -> None:
    """Raise PermissionError for `path` where no file can be created in a folder; permissions alone do not show this."""
    try:
        handle, name = tempfile.mkstemp(dir=folder)
    except OSError as error:
        raise PermissionError(f"{path} cannot be written ({error.strerror or error}); choose another path.") from error
    os.close(handle)
    os.unlink(name)


def check_regular(path: str | os.PathLike[str]) -> Path:
    """The real path of a file that may be written: a new one, or a regular file."""
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        kind = "a folder" if target.is_dir() else "a device, pipe or socket"
        raise OSError(f"{path} is {kind}, not a regular file; choose another path.")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"The folder {str(target.parent)!r} does not exist; create it first.")
    return target


def check_output(path: str | os.PathLike[str], *, force: bool = False) -> Path:
    """Check that a file can be written to an existing folder, before anything is computed."""
    path = Path(path)
    check_regular(path)
    check_folder(path.parent, [path.name], force=force)
    return path


def check_folder(folder: str | os.PathLike[str], names: Sequence[str], *, force: bool = False) -> Path:
    """Check that files can be written to a folder, which need not exist, before anything is computed."""
    folder = Path(folder)
    parent = next((parent for parent in (folder, *folder.absolute().parents) if parent.exists()), Path("/"))
    if not parent.is_dir():
        raise NotADirectoryError(f"{parent} is a file, so {folder} cannot be a folder; choose another path.")
    existing = [name for name in names if (folder / name).exists()]
    for name in existing:
        check_regular(folder / name)
    if existing and not force:
        found = f"{', '.join(str(folder / name) for name in existing)} {'exists' if len(existing) == 1 else 'exist'}"
        raise FileExistsError(f"{found}; use --force (force=True), or another place.")
    check_writable(parent, folder)
    return folder


def new_permissions(folder: Path) -> int:
    """Permissions of a new folder in a folder; asking `os.umask` would change the permissions of all threads."""
    own = Path(tempfile.mkdtemp(prefix=".permissions-", dir=folder))
    try:
        (own / "new").mkdir()
        return stat.S_IMODE((own / "new").stat().st_mode) & 0o777
    finally:
        shutil.rmtree(own)
