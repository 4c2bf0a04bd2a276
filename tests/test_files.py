"""Files and folders that appear complete or not at all: links stay links, and only regular files are replaced."""

import errno
import os
import socket
import stat
from pathlib import Path

import pytest

from lvq._files import (
    check_folder,
    check_regular,
    new_permissions,
    write_atomically,
    write_folder_atomically,
)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def write(path, content=b"new"):
    with write_atomically(path) as file:
        file.write(content)


# -- files -------------------------------------------------------------------------------------------------------------


def test_a_new_file_and_a_replaced_one(tmp_path):
    path = tmp_path / "model.npz"
    for given, content in ((path, b"one"), (str(path), b"two")):
        write(given, content)
        assert path.read_bytes() == content
    assert names(tmp_path) == ["model.npz"]


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ValueError("halfway"), "halfway"),
        (KeyboardInterrupt("halfway"), "halfway"),
        (OSError(errno.ENOSPC, "No space"), "nothing is written; free some space, or choose another path: '.*model"),
    ],
)
@pytest.mark.parametrize("existing", [True, False])
def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path, existing, error, message):
    path = tmp_path / "model.npz"
    if existing:
        path.write_bytes(b"old")

    def fail():
        with write_atomically(path) as file:
            file.write(b"new")
            file.flush()
            assert not existing or path.read_bytes() == b"old"
            raise error

    with pytest.raises(type(error), match=message):
        fail()
    assert names(tmp_path) == (["model.npz"] if existing else [])
    assert not existing or path.read_bytes() == b"old"


def test_a_failed_move_leaves_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        write(tmp_path / "model.npz")
    assert names(tmp_path) == []


@pytest.mark.parametrize("existing", [True, False])
def test_a_link_stays_a_link(tmp_path, existing):
    (tmp_path / "other").mkdir()
    target, link = tmp_path / "other" / "target", tmp_path / "link"
    if existing:
        target.write_bytes(b"old")
    link.symlink_to(target)
    write(link)
    assert link.is_symlink()
    assert target.read_bytes() == link.read_bytes() == b"new"
    assert names(tmp_path) == ["link", "other"]
    assert names(tmp_path / "other") == ["target"]
    assert check_regular(link) == Path(os.path.realpath(target))


def test_what_is_no_regular_file_is_refused(tmp_path, monkeypatch):
    """Opening a pipe would wait for a reader for ever."""
    monkeypatch.chdir(tmp_path)  # the path of a socket must be short
    os.mkfifo("pipe")
    Path("link").symlink_to(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        for path in ("pipe", "link", "socket", os.devnull):
            with pytest.raises(OSError, match="is a device, pipe or socket, not a regular file; choose another path"):
                write(path)
    assert stat.S_ISFIFO(os.stat("pipe").st_mode)
    assert names(tmp_path) == ["link", "pipe", "socket"]
    with pytest.raises(OSError, match="is a folder, not a regular file; choose another path"):
        write(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"The folder '.*missing' does not exist; create it first"):
        check_regular(tmp_path / "missing" / "model.npz")


def test_permissions_follow_the_old_file_or_the_umask(tmp_path, monkeypatch):
    """Without a change of the umask, which would hold for the files of other threads too."""
    set_umask, path = os.umask, tmp_path / "model.npz"
    before = set_umask(0o027)
    try:
        monkeypatch.setattr(os, "umask", lambda _: pytest.fail("the umask of all threads was changed"))
        write(path)
        with write_folder_atomically(tmp_path / "run") as folder:
            write(folder / "note.txt")
        assert 0o666 & new_permissions(tmp_path) == stat.S_IMODE(path.stat().st_mode) == 0o640
    finally:
        set_umask(before)
    assert stat.S_IMODE((tmp_path / "run").stat().st_mode) == 0o750
    path.chmod(0o604)
    write(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o604


# -- folders -----------------------------------------------------------------------------------------------------------


def contents(folder):
    return {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir() if path.is_file()}


def old_run(folder):
    folder.mkdir()
    for name in ("one", "two", "mine"):
        (folder / name).write_text("old", encoding="utf-8")


def write_new(folder, error=None, force=True):
    with write_folder_atomically(folder, force=force) as temporary:
        for name in ("one", "three", "two"):
            (temporary / name).write_text("new", encoding="utf-8")
        if error is not None:
            raise error


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ValueError("stop"), "stop"),
        (KeyboardInterrupt("stop"), "stop"),
        (OSError(errno.EDQUOT, ""), "nothing is written; free some space, or choose another path: '.*run"),
    ],
)
def test_a_new_folder_appears_complete_or_not_at_all(tmp_path, error, message):
    with pytest.raises(type(error), match=message):
        write_new(tmp_path / "deep" / "run", error)
    assert names(tmp_path / "deep") == []
    write_new(tmp_path / "deep" / "run")
    assert names(tmp_path / "deep") == ["run"]
    assert names(tmp_path / "deep" / "run") == ["one", "three", "two"]


@pytest.mark.parametrize("just_now", [False, True])
def test_a_folder_that_appeared_meanwhile_is_kept(tmp_path, monkeypatch, just_now):
    """Of several simultaneous runs the first one stays; also where it comes between the last check and the move."""
    run, rename = tmp_path / "run", Path.rename

    def overtaken(source, target):
        old_run(run)
        return rename(source, target)

    if just_now:
        monkeypatch.setattr(Path, "rename", overtaken)
    else:
        old_run(run)
    with pytest.raises(FileExistsError, match=r"run/one, .*run/two exist; use --force \(force=True\)"):
        write_new(run, force=False)
    assert contents(run) == {"one": "old", "two": "old", "mine": "old"}
    assert names(tmp_path) == ["run"]


def test_an_old_folder_keeps_its_other_files(tmp_path):
    old_run(tmp_path / "run")
    write_new(tmp_path / "run")
    assert contents(tmp_path / "run") == {"one": "new", "two": "new", "three": "new", "mine": "old"}
    assert names(tmp_path) == ["run"]


@pytest.mark.parametrize(("done", "error"), [(False, PermissionError), (True, KeyboardInterrupt)])
@pytest.mark.parametrize("failing", range(6))
def test_old_files_are_restored_where_a_move_fails(tmp_path, monkeypatch, failing, error, done):
    """Five moves: two old files aside, three new files to their place; before them, a file that is a folder."""
    run, calls, replace = tmp_path / "run", [], os.replace
    old_run(run)
    if not failing:
        (run / "three" / "deep").mkdir(parents=True)

    def fails_once(source, target):
        calls.append(target)
        if len(calls) != failing or done:
            replace(source, target)
        if len(calls) == failing:
            raise error(f"{target} is in use")

    monkeypatch.setattr("lvq._files.os.replace", fails_once)
    with pytest.raises(error if failing else OSError, match="is in use" if failing else "three is a folder"):
        write_new(run)
    assert contents(run) == {"one": "old", "two": "old", "mine": "old"}
    assert names(run) == ["mine", "one", *([] if failing else ["three"]), "two"]


def test_folders_are_checked_first(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError, match=r"file is a file, so .*run cannot be a folder"):
        check_folder(tmp_path / "file" / "run", [])
    with pytest.raises(FileExistsError, match=r"file exists; use --force \(force=True\)"):
        check_folder(tmp_path, ["file"])
    assert check_folder(tmp_path, ["file"], force=True) == tmp_path
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder is a folder, not a regular file"):
        check_folder(tmp_path, ["folder"], force=True)
    assert names(tmp_path) == ["file", "folder"]
