"""Atomic writing: complete files or none, links stay links, and only regular files are replaced."""

import errno
import os
import socket
import stat
from pathlib import Path

import pytest

from lvq._files import check_regular, new_permissions, temporary_beside, write_atomically, write_folder_atomically


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def write(path, content=b"new"):
    with write_atomically(path) as file:
        file.write(content)


@pytest.mark.parametrize("as_text", [True, False])
def test_a_new_file_and_a_replaced_one(tmp_path, as_text):
    path = tmp_path / "model.npz"
    for content in (b"one", b"two"):
        write(str(path) if as_text else path, content)
        assert path.read_bytes() == content
    assert names(tmp_path) == ["model.npz"]


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
def test_a_full_disk_names_the_file(tmp_path, number):
    """The error of a write has no file name."""
    path = tmp_path / "model.npz"
    path.write_bytes(b"old")
    advice = "nothing is written; free some space, or choose another path"
    with pytest.raises(OSError, match=rf"{advice}: '.*model.npz'"), write_atomically(path):
        raise OSError(number, os.strerror(number))
    with pytest.raises(OSError, match=rf"{advice}: '.*run'"), write_folder_atomically(tmp_path / "run"):
        raise OSError(number, os.strerror(number))
    assert names(tmp_path) == ["model.npz"]
    assert path.read_bytes() == b"old"


def test_nothing_is_visible_before_the_end(tmp_path):
    path = tmp_path / "model.npz"
    path.write_bytes(b"old")
    with write_atomically(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
@pytest.mark.parametrize("existing", [True, False])
def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path, existing, error):
    path = tmp_path / "model.npz"
    if existing:
        path.write_bytes(b"old")

    def fail():
        with write_atomically(path) as file:
            file.write(b"new")
            raise error("halfway")

    with pytest.raises(error, match="halfway"):
        fail()
    assert names(tmp_path) == (["model.npz"] if existing else [])
    assert not existing or path.read_bytes() == b"old"


def test_a_failed_move_leaves_nothing_behind(tmp_path, monkeypatch):
    def refuse(source, target):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(OSError, match="disk full"), temporary_beside(tmp_path / "model.npz") as temporary:
        temporary.write_bytes(b"new")
    assert names(tmp_path) == []


def test_a_temporary_file_is_in_the_same_folder(tmp_path):
    """A move within a folder is atomic; one between file systems is not."""
    with temporary_beside(tmp_path / "model.npz") as temporary:
        assert temporary.parent == tmp_path.resolve()


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "other").mkdir()
    target, link = tmp_path / "other" / "target", tmp_path / "link"
    target.write_bytes(b"old")
    link.symlink_to(target)
    write(link)
    assert link.is_symlink()
    assert target.read_bytes() == link.read_bytes() == b"new"
    assert names(tmp_path) == ["link", "other"]
    assert names(tmp_path / "other") == ["target"]


def test_a_link_to_a_missing_file_creates_that_file(tmp_path):
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "target")
    write(link)
    assert link.is_symlink()
    assert (tmp_path / "target").read_bytes() == b"new"


def test_a_pipe_is_refused(tmp_path):
    """Opening it would wait for a reader for ever."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(OSError, match="is a device, pipe or socket, not a regular file; choose another path"):
        write(path)
    assert stat.S_ISFIFO(path.stat().st_mode)
    assert names(tmp_path) == ["pipe"]


def test_a_link_to_a_pipe_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "pipe")
    with pytest.raises(OSError, match="is a device, pipe or socket"):
        write(tmp_path / "link")
    assert names(tmp_path) == ["link", "pipe"]


def test_a_socket_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # the path of a socket must be short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        with pytest.raises(OSError, match="is a device, pipe or socket"):
            write(tmp_path / "socket")


def test_a_device_is_refused():
    with pytest.raises(OSError, match=f"{os.devnull} is a device, pipe or socket, not a regular file"):
        write(os.devnull)
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(OSError, match="is a folder, not a regular file; choose another path"):
        write(tmp_path)


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"The folder '.*missing' does not exist; create it first"):
        check_regular(tmp_path / "missing" / "model.npz")


def test_permissions_are_those_of_a_new_file_or_of_the_old_one(tmp_path):
    path = tmp_path / "model.npz"
    write(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & new_permissions(tmp_path)
    path.chmod(0o640)
    write(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_new_files_and_folders_follow_the_umask(tmp_path, monkeypatch):
    """Without a change of it, which would hold for the files of other threads too."""
    set_umask = os.umask
    before = set_umask(0o027)
    try:
        monkeypatch.setattr(os, "umask", lambda _: pytest.fail("the umask of all threads was changed"))
        write(tmp_path / "model.npz")
        with write_folder_atomically(tmp_path / "run") as folder:
            write(folder / "note.txt")
    finally:
        set_umask(before)
    assert stat.S_IMODE((tmp_path / "model.npz").stat().st_mode) == 0o640
    assert stat.S_IMODE((tmp_path / "run").stat().st_mode) == 0o750
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.npz", "run"]


def test_the_real_path_is_given_back(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "target")
    assert check_regular(tmp_path / "link") == Path(os.path.realpath(tmp_path / "target"))
