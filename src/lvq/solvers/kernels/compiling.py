"""How numba compiles the loops, and what its cache on disk depends on.

numba stores a compiled function next to its file, and does not notice an edited callee in another file. So only the
loops that Python calls are stored (`stored`), and each has a last argument whose default is `VERSION`, a number of the
text of all files of this package: numba's key of a stored function contains the defaults of arguments that are left
out. All that they call (`helper`, `inlined`) is compiled into them and not stored.
"""

import zlib
from pathlib import Path

import numba

from lvq.typing import Argument

# isnan must stay correct, so not fastmath=True: only the flags by which sums can be reordered and fused.
_options: dict[str, Argument] = {
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"contract", "reassoc", "arcp", "nsz", "afn"},
}
helper = numba.njit(**_options)
# what runs for every sample: a call that is not inlined copies a whole Rule and every array's shape to the stack
inlined = numba.njit(**_options, forceinline=True)
stored = numba.njit(**_options, cache=True)


def version_of(folder: Path) -> int:
    """A number of the text of all modules of a folder."""
    number = 0
    for path in sorted(folder.glob("*.py")):
        number = zlib.crc32(path.read_bytes(), number)
    return number


VERSION = version_of(Path(__file__).parent)
