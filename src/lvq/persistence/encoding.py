"""Objects as nested lists of JSON, and back.

None, booleans, numbers and strings are stored as they are. Everything else is a list: a kind, then the nodes of its
parts, such as ``["tuple", 1, 2]`` or ``["object", "lvq.GLVQ", ["dict", "max_iter", 100, ...]]``. Only exact types are
written, and nothing is lost. Reading makes objects empty and sets their attributes; no method is called, except
the validation of this library's own classes.
"""

import copyreg
import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields
from itertools import chain

import numpy as np

from lvq.persistence.consistency import check, require
from lvq.persistence.trusted import find, is_class, is_part, is_value, name_of, public_types
from lvq.typing import JSONValue

PLAIN = (type(None), bool, int, float, str)
STATE_LENGTH = 624  # length of the state of numpy.random.RandomState


class Encoder:
    """Writes objects as nested lists, and collects their arrays."""

    def __init__(self, trusted: frozenset[str]) -> None:
        self.trusted = trusted
        self.arrays: list[np.ndarray] = []
        self.path: list[object] = []  # objects that are being written, from the outermost on
        self._written: dict[int, tuple[object, JSONValue]] = {}  # by id: the object, kept alive, and its node

    def node(self, value: object) -> JSONValue:
        """The node of an object; UntrustedError or ValueError where it has none."""
        if type(value) in PLAIN:
            return value
        if id(value) in self._written:
            return self._written[id(value)][1]
        if any(value is other for other in self.path):
            raise ValueError("it contains itself")
        self.path.append(value)
        kind, *parts = self._parts(value)
        node = [kind, *(self.node(part) for part in parts)]
        self.path.pop()
        if isinstance(value, np.ndarray | np.random.RandomState):
            self._written[id(value)] = (value, node)
        return node

    def _parts(self, value: object) -> list[object]:
        """The kind of an object, and the objects that it consists of."""
        if type(value) is list or type(value) is tuple:
            return [type(value).__name__, *value]
        if type(value) is dict:
            return ["dict", *chain.from_iterable(value.items())]
        if type(value) is slice:
            return ["slice", value.start, value.stop, value.step]
        if type(value) is np.ndarray and value.dtype == object:
            return ["objects", value.shape, *value.ravel().tolist()]
        if type(value) is np.ndarray and not value.dtype.hasobject:
            return ["array", self._number(value)]
        if isinstance(value, np.generic):
            return ["scalar", np.asarray(value)]
        if isinstance(value, np.dtype):
            return ["dtype", np.empty(0, value)]
        if type(value) is np.ma.MaskedArray:
            return ["masked", np.asarray(value.data), np.ma.getmaskarray(value)]
        if type(value) is np.random.RandomState:
            state = value.get_state(legacy=False)
            if state["bit_generator"] == "MT19937":
                key, position = state["state"].values()
                return ["random_state", self._number(np.array([*key, position, state["has_gauss"], state["gauss"]]))]
        if isinstance(value, type | np.ufunc) or inspect.isroutine(value):
            find(name_of(value), is_value, self.trusted)
            return ["name", name_of(value)]
        return self._instance(value, type(value))

    def _number(self, array: np.ndarray) -> int:
        self.arrays.append(array)
        return len(self.arrays) - 1

    def _instance(self, value: object, kind: type) -> list[object]:
        name = name_of(kind)
        if find(name, is_class, self.trusted) is not kind:
            raise ValueError(f"{name} is another class where it is imported")
        if hasattr(kind, "_fields") and isinstance(value, tuple):
            return ["named_tuple", name, *value]
        how, arguments, _, *items = (*value.__reduce_ex__(2), None)[:5]
        if how is not copyreg.__newobj__ or len(arguments) > 1 or any(items) or not hasattr(value, "__dict__"):  # type: ignore[attr-defined]
            raise ValueError(f"{name} has other content than attributes")
        attributes = {part.name: getattr(value, part.name) for part in fields(kind)} if is_part(kind) else vars(value)
        return ["object", name, attributes]


class Decoder:
    """Builds the objects that nested lists describe, with their arrays."""

    def __init__(self, arrays: list[np.ndarray], trusted: frozenset[str]) -> None:
        self.arrays, self.trusted = arrays, trusted
        self.used: set[int] = set()  # arrays
        self.uses_sklearn = False
        self._random_states: dict[int, np.random.RandomState] = {}

    def build(self, node: JSONValue) -> object:
        """The object of a node; any error means that the node does not describe one."""
        if isinstance(node, list):
            return BUILDERS[node[0]](self, *map(self.build, node[1:]))
        require(type(node) in PLAIN, "a JSON object in the place of a node")
        return node

    def _array(self, number: int) -> np.ndarray:
        require(type(number) is int and number >= 0, "an array without a number")
        self.used.add(number)
        return self.arrays[number]

    def _dict(self, *parts: object) -> dict[object, object]:
        result = dict(zip(parts[::2], parts[1::2]))
        require(2 * len(result) == len(parts), "a key that occurs twice")
        return result

    def _objects(self, shape: tuple[int, ...], *items: object) -> np.ndarray:
        result = np.empty(len(items), dtype=object)
        for index, item in enumerate(items):
            result[index] = item
        return result.reshape(shape)

    def _random_state(self, number: int) -> np.random.RandomState:
        """The same object for the same number."""
        *key, position, has_gauss, cached = self._array(number).tolist()
        require(len(key) == STATE_LENGTH and 0 <= position <= STATE_LENGTH, "a random state that is not valid")
        state = np.random.RandomState()
        state.set_state(("MT19937", np.array(key).astype(np.uint32), int(position), int(has_gauss), cached))
        return self._random_states.setdefault(number, state)

    def _object(self, name: str, state: dict[str, object]) -> object:
        kind = find(name, is_class, self.trusted)
        self.uses_sklearn |= name.startswith("sklearn.")
        for attribute in state:
            member = getattr(kind, attribute, None)
            hides = callable(member) or isinstance(member, property) or attribute.startswith("__")
            require(not hides, f"an attribute {attribute!r} in the place of a method of {kind.__name__}")
        if name in public_types():  # parameters that were added after the file was written get their defaults
            parameters = inspect.signature(kind).parameters.items()
            state |= {key: p.default for key, p in parameters if key not in state and p.default is not p.empty}
        result = kind.__new__(kind)
        result.__dict__.update(state)
        if is_part(kind):
            known = {part.name: part.default is MISSING and part.default_factory is MISSING for part in fields(kind)}
            needed = {part for part in known if known[part]}
            require(needed <= set(state) <= set(known), f"other fields than {kind.__name__} has")
            getattr(result, "__post_init__", bool)()
        check(result)
        return result


BUILDERS: dict[str, Callable[..., object]] = {
    "list": lambda _, *items: list(items),
    "tuple": lambda _, *items: items,
    "slice": lambda _, *bounds: slice(*bounds),
    "scalar": lambda _, array: array[()],
    "dtype": lambda _, array: array.dtype,
    "name": lambda decoder, name: find(name, is_value, decoder.trusted),
    "named_tuple": lambda decoder, name, *items: find(name, is_class, decoder.trusted)._make(items),
    "array": Decoder._array,
    "dict": Decoder._dict,
    "objects": Decoder._objects,
    "masked": lambda _, data, mask: np.ma.MaskedArray(data, mask.reshape(data.shape)),
    "random_state": Decoder._random_state,
    "object": Decoder._object,
}
