"""Files without memory addresses: what skops numbers by where it lay in memory is numbered by the order of meeting."""

from typing import Any


def renumbered(schema: Any, members: dict[str, bytes]) -> tuple[Any, dict[str, bytes]]:
    """Schema and members without memory addresses: small numbers, which tell who is the same object as before.

    Numbers and strings are never the same object, as that depends on the interpreter alone. Of an object that is met
    again the first description counts; that is the one skops reads, and others may hold copies made for the occasion.
    """
    rewriter = _Rewriter()
    renamed = rewriter.follow(schema)
    return renamed, {new: members[old] for old, new in rewriter.files.items()}


class _Rewriter:
    def __init__(self) -> None:
        self.done: dict[int, Any] = {}
        self.files: dict[str, str] = {}
        self.count = 0

    def follow(self, state: Any) -> Any:
        """The same with other numbers."""
        if isinstance(state, list):
            return [self.follow(item) for item in state]
        if not isinstance(state, dict):
            return state
        if "__loader__" not in state:
            return {key: self.follow(value) for key, value in state.items()}
        if state["__id__"] in self.done:
            return self.done[state["__id__"]]
        self.count += 1
        result = {"__id__": self.count}
        if state["__loader__"] != "JsonNode":
            self.done[state["__id__"]] = result
        result |= {name: self._entry(state, name) for name in state if name != "__id__"}
        return result

    def _entry(self, state: dict[str, Any], name: str) -> Any:
        if name == "file":
            return self.files.setdefault(state[name], f"{len(self.files) + 1}.npy")
        if name != "content" or state["__loader__"] != "DictNode":
            return self.follow(state[name])
        kinds = [kind["__class__"] for kind in state["key_types"]["content"]]
        # skops makes the key False by bool("false"), which is True; bool("") is what it must be
        return {
            "" if key == "false" and kind in ("bool", "bool_") else key: self.follow(value)
            for (key, value), kind in zip(state["content"].items(), kinds)
        }
