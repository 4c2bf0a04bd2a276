"""The file around a model: a zip archive of skops's members and a header that says what they are and what they hash to.

Rules kept here:
- nothing of an archive is used before its size, its members' names and their checksums are known to be right;
- the archive's comment is a checksum of all before it, so that not even a damaged date passes unnoticed;
- members are read into memory once, and what was checked is what is used: the archive is not opened again;
- the same model gives the same bytes: no dates, no memory addresses.
"""

import hashlib
import io
import json
import re
import stat
import zipfile
from collections import Counter
from typing import Any, NamedTuple

import numpy as np

HEADER, SCHEMA = "lvq.json", "schema.json"
LIBRARY, FORMAT = "lvq", 1
MEMBER = re.compile(r"schema\.json|\d{1,20}\.npy")
END = b"PK\x05\x06"  # begins the last record of an archive, 22 bytes and the comment
SEAL = 64  # hexadecimal digits
JSON_NODES = 1_000_000  # of a schema; each takes some hundred bytes of memory


class LoadError(ValueError):
    """A model file that is not loaded, and why.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from lvq.persistence import load
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "model.skops"
    >>> _ = file.write_text("weights: 1 2 3")
    >>> load(file)
    Traceback (most recent call last):
    lvq.persistence.container.LoadError: model.skops is not a model file: it is no zip archive. ...
    """


class Header(NamedTuple):
    """Who wrote a file, in which format, with which scikit-learn; and the checksums of its members."""

    version: str
    sklearn: str
    skops: str
    members: dict[str, str]


# -- writing -----------------------------------------------------------------------------------------------------------


def pack(members: dict[str, bytes], versions: dict[str, str]) -> bytes:
    """An archive of the members under a header with their checksums."""
    header = {"library": LIBRARY, "format": FORMAT, **versions}
    header |= {"members": {name: digest(content) for name, content in members.items()}}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in {HEADER: json.dumps(header, indent=1).encode(), **members}.items():
            info = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, content)
        archive.comment = bytes(SEAL)
    content = buffer.getvalue()[:-SEAL]
    return content + digest(content).encode()


def plain_archive(members: dict[str, bytes]) -> bytes:
    """The members alone, as skops reads them."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def digest(content: bytes) -> str:
    """SHA-256 in hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


# -- reading -----------------------------------------------------------------------------------------------------------


def unpack(data: bytes, max_bytes: int) -> tuple[Header, dict[str, bytes]]:
    """Header and members of an archive, after all checks that need no knowledge of models."""
    if not data.startswith(b"PK\x03\x04"):
        raise LoadError(_what_else(data))
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except Exception as error:
        raise LoadError("is damaged or cut short: its end is not that of a zip archive. Copy it anew.") from error
    with archive:
        infos = archive.infolist()
        _check_entries(infos, max_bytes)
        _check_seal(data, archive.comment)
        members = {info.filename: _content(archive, info) for info in infos}
    header = _header(members.pop(HEADER, None))
    if set(members) != set(header.members):
        wrong = sorted(set(members) ^ set(header.members))
        raise LoadError(f"is damaged: its header and its members differ in {', '.join(wrong[:3])}. Copy it anew.")
    for name, content in members.items():
        if digest(content) != header.members[name]:
            raise LoadError(f"is damaged: the checksum of its member {name} is not that of its header. Copy it anew.")
    if SCHEMA not in members:
        raise LoadError(f"is damaged: it has no member {SCHEMA}. Copy it anew.")
    return header, members


def parse_json(content: bytes | str) -> Any:
    """JSON in which no name stands twice."""
    if isinstance(content, bytes) and content.count(b"{") + content.count(b"[") > JSON_NODES:
        raise ValueError("it is too large")
    return json.loads(content, object_pairs_hook=_without_doubles)


def array_problem(content: bytes) -> str:
    """What is wrong with an array in NumPy's format; an empty string where nothing is.

    Examples
    --------
    >>> import io, numpy as np
    >>> np.save(buffer := io.BytesIO(), np.zeros(3))
    >>> array_problem(buffer.getvalue()), array_problem(buffer.getvalue()[:-8])
    ('', 'of shape (3,) and 24 bytes in 16 bytes')
    """
    stream = io.BytesIO(content)
    try:
        version = np.lib.format.read_magic(stream)
        if version == (1, 0):
            shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
        elif version == (2, 0):
            shape, _, dtype = np.lib.format.read_array_header_2_0(stream)
        else:
            return f"in version {version} of NumPy's format"
    except Exception as error:  # whatever the parser of a bad header says
        return f"whose header cannot be read ({type(error).__name__})"
    if dtype.hasobject or (dtype.kind not in "biufSUmM" and dtype.names is None):
        return f"of {dtype}"
    size = int(dtype.itemsize)
    for length in shape:
        size *= int(length)
    there = len(content) - stream.tell()
    if size != there or any(length < 0 for length in shape):
        return f"of shape {shape} and {size} bytes in {there} bytes"
    return ""


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("a name stands twice in one object")
    return result


def _what_else(data: bytes) -> str:
    """What a file is that is no archive of ours."""
    again = "save the model with lvq.save."
    if not data:
        return f"is empty. Copy it anew, or {again}"
    if data[:1] == b"\x80" or data[:2] in (b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda", b"\x1f\x8b"):
        return (
            "is not a model file: it looks like a pickle or joblib file, which can run anything when it is loaded. If "
            f"you trust where it comes from, load it with joblib.load; then {again}"
        )
    return f"is not a model file: it is no zip archive. Give a file that lvq.save has written, or {again}"


def _check_seal(data: bytes, comment: bytes) -> None:
    """An archive made by other means, or before there were seals, has none; its members have checksums all the same."""
    whole = data[len(data) - 22 - len(comment) :].startswith(END)
    if not whole or (comment and comment != digest(data[: -len(comment)]).encode()):
        raise LoadError("is damaged: its checksum is not that of its content. Copy it anew.")


def _check_entries(infos: list[zipfile.ZipInfo], max_bytes: int) -> None:
    names = Counter(info.filename for info in infos)
    for name, count in names.most_common(1):
        if count > 1:
            raise LoadError(f"is not a model file of lvq.save: its member {name[:80]!r} stands in it {count} times.")
    if HEADER not in names:
        raise LoadError(
            f"is not a model file of lvq.save: it has no member {HEADER}. Load it with what wrote it, and save the "
            "model with lvq.save."
        )
    for info in infos:
        if info.filename != HEADER and not MEMBER.fullmatch(info.filename):
            raise LoadError(f"is not a model file of lvq.save: it has a strange member, {info.filename[:80]!r}.")
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) or info.flag_bits & 0x1:
            raise LoadError(f"is not a model file of lvq.save: its member {info.filename} is packed in another way.")
        if stat.S_ISLNK(info.external_attr >> 16):
            raise LoadError(f"is not a model file of lvq.save: its member {info.filename} is a link.")
    total = sum(info.file_size for info in infos)
    if total > max_bytes:
        raise LoadError(
            f"would take {total} bytes of memory, more than max_bytes={max_bytes}. If you expect so large a model, "
            "raise max_bytes."
        )


def _content(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    try:
        with archive.open(info) as stream:
            content = stream.read(info.file_size)
            more = stream.read(1)
    except Exception as error:  # zlib, struct and zipfile have many words for damage
        raise LoadError(f"is damaged: its member {info.filename} cannot be unpacked. Copy it anew.") from error
    if len(content) != info.file_size or more:
        raise LoadError(f"is damaged: its member {info.filename} is not as long as it says. Copy it anew.")
    return content


def _header(content: bytes | None) -> Header:
    try:
        table = parse_json(content or b"")
        if table["library"] != LIBRARY:
            raise ValueError(f"it speaks of {table['library']!r}")
        number = table["format"]
        if isinstance(number, bool) or not isinstance(number, int):
            raise ValueError("it has no number of its format")
        version = str(table["version"])
        if number == FORMAT:
            members = table["members"]
            if not isinstance(members, dict) or not all(isinstance(value, str) for value in members.values()):
                raise ValueError("it has no checksums")
            return Header(version, str(table["scikit-learn"]), str(table["skops"]), members)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise LoadError(f"is damaged: its header {HEADER} cannot be read ({error}). Copy it anew.") from error
    if number > FORMAT:
        raise LoadError(
            f"is of format {number}, written by lvq {version}; this lvq reads formats up to {FORMAT}. Upgrade lvq to "
            "load it."
        )
    raise LoadError(f"is of format {number}, which no release of lvq has written; this lvq reads format {FORMAT}.")
