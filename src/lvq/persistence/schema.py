"""What skops would build from a file, read without building anything: a list of what is allowed, node by node.

skops stores an object as a tree of nodes, each with a loader and the name of a type. It asks whether the *names* are
trusted; a trusted name under another loader, or in a place where it is called, can still do more than hold data. So
every node must have the shape that its loader gives it, and a name counts only where it belongs:
- loaders that call something (partial, methods, operators, constructors) are refused, but for types the caller trusts;
- keys of a dict are made by calling a type: only str, int, float and bool may stand there;
- nodes of one id are one object, and skops looks at the first alone: they must be equal;
- an array's header must agree with its bytes, so that no memory is asked for which the file does not fill.
"""

import io
import json
import sys
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from lvq.persistence.container import array_problem, parse_json
from lvq.persistence.trusted import OBJECTS, TUPLES

KEYS = frozenset(
    [f"builtins.{name}" for name in ("str", "int", "float", "bool")]
    + [f"numpy.{name}" for name in ("str_", "int64", "int32", "float64", "float32", "bool", "bool_")]
)
SCALARS = frozenset(
    ["numpy.bool", "numpy.bool_", "numpy.str_"]
    + [f"numpy.{kind}{bits}" for kind in ("int", "uint", "float") for bits in (8, 16, 32, 64)]
)
TREES = frozenset({"sklearn.tree._tree.Tree"})
OLDEST_PROTOCOL = 2  # of skops; before, some nodes had other shapes
STATE_LENGTH = 624  # of the Mersenne Twister, whose position NumPy does not check


class Refused(Exception):
    """A node that is not allowed: what it is, where it stands, and whether trusting it would help."""

    def __init__(self, what: str, where: str, *, trustable: bool = False) -> None:
        super().__init__(what, where, trustable)
        self.what, self.where = what, where
        # Python's own modules hold what could be called, and nothing that a model needs
        self.trustable = trustable and what.partition(".")[0] not in sys.stdlib_module_names


class Attributes(NamedTuple):
    """The type of an object and the names of the attributes it will get."""

    type_name: str
    names: list[str]


def check(schema: Any, members: dict[str, bytes], trusted: Iterable[str]) -> list[Attributes]:
    """Refuse a schema that holds anything not allowed; gives the objects that it describes."""
    walker = _Walker(members, frozenset(trusted))
    walker.node(schema, "the model")
    protocol = schema.get("protocol")
    if not isinstance(protocol, int) or protocol < OLDEST_PROTOCOL:
        raise Refused(f"a schema of the protocol {protocol!r} of skops", "the file")
    unused = set(members) - walker.files - {"schema.json"}
    if unused:
        raise Refused(f"a member that nothing refers to, {sorted(unused)[0]}", "the file")
    return walker.objects


def type_name(state: dict[str, Any]) -> str:
    """The full name of a node's type."""
    return f"{state['__module__']}.{state['__class__']}"


class _Walker:
    def __init__(self, members: dict[str, bytes], trusted: frozenset[str]) -> None:
        self.members, self.trusted = members, trusted
        self.seen: dict[int, Any] = {}
        self.files: set[str] = set()
        self.objects: list[Attributes] = []

    def node(self, state: Any, where: str) -> None:
        """Check a node and all below it."""
        strings = ("__class__", "__module__", "__loader__")
        if not isinstance(state, dict) or not all(isinstance(state.get(name), str) for name in strings):
            raise Refused("a node without a type", where)
        identity = state.get("__id__")
        if not isinstance(identity, int):
            raise Refused("a node without an id", where)
        if identity in self.seen:
            if self.seen[identity] != state:
                raise Refused("two objects under one id", where)
            return
        self.seen[identity] = state
        loader = LOADERS.get(state["__loader__"])
        if loader is None:
            name = type_name(state)
            raise Refused(name if state["__loader__"] in name else f"{name} ({state['__loader__']})", where)
        loader(self, state, where)

    def expect(self, state: dict[str, Any], names: Iterable[str], where: str, *, trustable: bool = False) -> None:
        """Refuse a type that is not one of these."""
        if type_name(state) not in names:
            raise Refused(type_name(state), where, trustable=trustable)

    def children(self, items: Any, where: str) -> None:
        """Check a list of nodes."""
        if not isinstance(items, list):
            raise Refused("a list without items", where)
        for item in items:
            self.node(item, where)

    # -- loaders ------------------------------------------------------------------------------------------------------

    def value(self, state: dict[str, Any], where: str) -> None:
        """A number, a string, a truth value or None."""
        self.expect(state, ["builtins.str"], where)
        try:
            value = json.loads(state["content"])
        except (KeyError, TypeError, ValueError, RecursionError):
            raise Refused("a value that is no JSON", where) from None
        if not isinstance(value, str | int | float | None) or state.get("is_json") is not True:
            raise Refused("a value that is no number and no string", where)

    def items(self, state: dict[str, Any], where: str) -> None:
        """A plain list or set."""
        self.expect(state, ["builtins.list" if state["__loader__"] == "ListNode" else "builtins.set"], where)
        self.children(state.get("content"), where)

    def fixed(self, state: dict[str, Any], where: str) -> None:
        """A plain tuple, or a named one that is trusted."""
        self.expect(state, {"builtins.tuple"} | TUPLES | self.trusted, where, trustable=True)
        self.children(state.get("content"), where)

    def mapping(self, state: dict[str, Any], where: str) -> None:
        """A plain dict, whose keys are strings or numbers."""
        self.expect(state, ["builtins.dict"], where)
        content, types = state.get("content"), state.get("key_types")
        if not isinstance(content, dict) or not isinstance(types, dict):
            raise Refused("a dict without items", where)
        self.node(types, where)
        kinds = types.get("content")
        if types["__loader__"] != "ListNode" or not isinstance(kinds, list) or len(kinds) != len(content):
            raise Refused("a dict whose keys are not counted", where)
        for key, kind in zip(content, kinds):
            if kind["__loader__"] != "TypeNode":
                raise Refused(f"{type_name(kind)} in the place of a key's type", where)
            self.expect(kind, KEYS, f"the type of the key {key[:40]!r} of {where}")
            self.node(content[key], f"{where}[{key[:40]!r}]")

    def named(self, state: dict[str, Any], where: str) -> None:
        """A type or a function, by name; skops knows which are harmless."""
        known = type_name(state).startswith(("builtins.", "numpy.", "scipy.special.", "sklearn."))
        if not known and type_name(state) not in self.trusted:
            raise Refused(type_name(state), where, trustable=True)

    def array(self, state: dict[str, Any], where: str) -> None:
        """An array or a scalar of NumPy."""
        self.expect(state, {"numpy.ndarray"} | SCALARS, where)
        if state.get("type") == "json":  # objects
            self.expect(state, ["numpy.ndarray"], where)
            self.children(state.get("content"), where)
            self.node(state.get("shape"), where)
            return
        name = state.get("file")
        if state.get("type") != "numpy" or not isinstance(name, str) or name not in self.members:
            raise Refused("an array without data", where)
        self.files.add(name)
        problem = array_problem(self.members[name])
        if problem:
            raise Refused(f"an array {problem}", where)

    def masked(self, state: dict[str, Any], where: str) -> None:
        """An array with missing entries."""
        self.expect(state, ["numpy.ma.MaskedArray", "numpy.ma.core.MaskedArray"], where)
        content = state.get("content")
        if not isinstance(content, dict) or set(content) != {"data", "mask"}:
            raise Refused("a masked array without data", where)
        for part in content.values():
            self.node(part, where)

    def dtype(self, state: dict[str, Any], where: str) -> None:
        """The type of an array's entries, stored as an empty array."""
        self.expect(state, ["numpy.dtype"], where)
        self.node(state.get("content"), where)
        if state["content"]["__loader__"] != "NdArrayNode":
            raise Refused("a dtype that is none", where)

    def columns(self, state: dict[str, Any], where: str) -> None:
        """A slice of columns."""
        self.expect(state, ["builtins.slice"], where)
        content = state.get("content")
        plain = isinstance(content, dict) and all(isinstance(part, int | str | None) for part in content.values())
        if not plain or set(content or ()) != {"start", "stop", "step"}:
            raise Refused("a slice that is none", where)

    def random_state(self, state: dict[str, Any], where: str) -> None:
        """A random state, whose position must lie inside it."""
        self.expect(state, ["numpy.random.mtrand.RandomState"], where)
        self.node(state.get("content"), where)
        try:
            inner = state["content"]["content"]["state"]["content"]
            position, key = json.loads(inner["pos"]["content"]), self.members[inner["key"]["file"]]
        except (KeyError, TypeError, ValueError):
            raise Refused("a random state that is none", where) from None
        numbers = np.lib.format.read_array(io.BytesIO(key), allow_pickle=False)
        inside = isinstance(position, int) and 0 <= position <= STATE_LENGTH
        if not inside or numbers.shape != (STATE_LENGTH,) or numbers.dtype != np.uint32:
            raise Refused("a random state that is none", where)

    def instance(self, state: dict[str, Any], where: str) -> None:
        """An object that is made empty and then given its attributes."""
        name = type_name(state)
        if not name.startswith("sklearn."):  # of these skops knows which are estimators
            self.expect(state, OBJECTS | self.trusted, where, trustable=True)
        if "content" not in state:
            return
        content = state["content"]
        where = state["__class__"] if where == "the model" else f"{where}: {state['__class__']}"
        self.node(content, where)
        if content["__loader__"] == "DictNode":
            self.objects.append(Attributes(name, list(content["content"])))
        elif content["__loader__"] != "JsonNode" or content["content"] != "null":
            raise Refused(f"{name} with attributes that are no dict", where)

    def reduced(self, state: dict[str, Any], where: str) -> None:
        """A part of a scikit-learn estimator written in Cython; trees look up whatever index they are given."""
        if state["__loader__"] == "TreeNode":
            self.expect(state, self.trusted & TREES, where, trustable=type_name(state) in TREES)
        elif not type_name(state).startswith("sklearn."):
            raise Refused(type_name(state), where)
        arguments = state.get("__reduce__")
        self.node(arguments.get("args") if isinstance(arguments, dict) else None, where)
        self.node(state.get("content"), where)

    def constructed(self, state: dict[str, Any], where: str) -> None:
        """An object made by calling its type: only where the caller trusts it."""
        self.expect(state, self.trusted, where, trustable=True)
        self.node(state.get("content"), where)


LOADERS: dict[str, Callable[[_Walker, dict[str, Any], str], None]] = {
    "JsonNode": _Walker.value,
    "ListNode": _Walker.items,
    "SetNode": _Walker.items,
    "TupleNode": _Walker.fixed,
    "DictNode": _Walker.mapping,
    "TypeNode": _Walker.named,
    "FunctionNode": _Walker.named,
    "NdArrayNode": _Walker.array,
    "MaskedArrayNode": _Walker.masked,
    "DTypeNode": _Walker.dtype,
    "SliceNode": _Walker.columns,
    "RandomStateNode": _Walker.random_state,
    "ObjectNode": _Walker.instance,
    "TreeNode": _Walker.reduced,
    "LossNode": _Walker.reduced,
    "ConstructorFromReduceNode": _Walker.constructed,
}


def parse(content: bytes) -> Any:
    """A schema as written by skops; a sentence where it is none."""
    try:
        return parse_json(content)
    except (ValueError, RecursionError) as error:
        raise Refused(f"a schema that cannot be read ({error})", "the file") from None
