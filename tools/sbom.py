"""The software bill of materials, CycloneDX 1.6, from the lock file: `python tools/sbom.py`.

Components are the packages of `requirements-dev.lock`: "required" is what `pip install lvq` installs, "optional" what
an extra for users adds, "excluded" what only development needs. torch, of the extra "gpu", is not in the lock. The same
lock gives the same bytes.
"""

import hashlib
import json
import re
import tomllib
import uuid
from pathlib import Path

ROOT = Path(__file__).parents[1]
LOCK, TARGET = ROOT / "requirements-dev.lock", ROOT / "sbom.cdx.json"
FOR_DEVELOPMENT = {"test", "test-all", "check", "docs"}


def normal(requirement: str) -> str:
    """The normalised name of a package in a requirement."""
    name = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert name, requirement
    return re.sub(r"[-_.]+", "-", name[0]).lower()


def locked(text: str) -> list[tuple[str, str, str, set[str]]]:
    """Name, version, marker and the packages that ask for it, of every entry of a lock file."""
    entries = []
    for block in re.split(r"^(?=[a-z0-9])", text, flags=re.MULTILINE)[1:]:
        head = re.match(r"(\S+)==(\S+)(?: ; (.*?))?(?: \\)?\n", block)
        assert head, block
        asking = re.findall(r"^ {4}# +(?:via )?([a-z0-9._-]+)", block, flags=re.MULTILINE)
        entries.append((head[1], head[2], head[3] or "", {name for name in asking if name != "via"}))
    return entries


def reached(start: set[str], entries: list[tuple[str, str, str, set[str]]]) -> set[str]:
    """The packages that these need, directly or not."""
    found: set[str] = set()
    fresh = start
    while fresh:
        found |= fresh
        fresh = {name for name, _, _, asking in entries if asking & fresh} - found
    return found


def bill(text: str, project: dict[str, object], version: str) -> dict[str, object]:
    """The document, of a lock file's text and the table `project` of pyproject.toml."""
    entries = locked(text)
    extras = project["optional-dependencies"]
    assert isinstance(extras, dict)
    required = reached({normal(name) for name in project["dependencies"]}, entries)  # type: ignore[attr-defined]
    for_users = {normal(name) for key, names in extras.items() if key not in FOR_DEVELOPMENT for name in names}
    optional = reached(for_users - {"lvq"}, entries) - required

    def reference(name: str, number: str) -> str:
        return f"pkg:pypi/{name}@{number}"

    components = [
        {
            "type": "library",
            "bom-ref": reference(name, number),
            "name": name,
            "version": number,
            "scope": "required" if name in required else "optional" if name in optional else "excluded",
            "purl": reference(name, number),
        }
        | ({"properties": [{"name": "lvq:marker", "value": marker}]} if marker else {})
        for name, number, marker, _ in entries
    ]
    own = reference("lvq", version)
    needs = {own: [reference(name, number) for name, number, _, asking in entries if "lvq" in asking]}
    for parent, number, _, _ in entries:
        needs[reference(parent, number)] = [reference(n, v) for n, v, _, asking in entries if parent in asking]
    digest = hashlib.sha256(text.encode()).hexdigest()
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, digest)}",
        "version": 1,
        "metadata": {
            "component": {
                "type": "library",
                "bom-ref": own,
                "name": "lvq",
                "version": version,
                "licenses": [{"license": {"id": project["license"]}}],
                "purl": own,
            },
            "properties": [{"name": "lvq:lock-sha256", "value": digest}],
        },
        "components": components,
        "dependencies": [{"ref": key, "dependsOn": sorted(values)} for key, values in sorted(needs.items())],
    }


def current() -> str:
    """The document of the present lock file, as text."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    source = (ROOT / "src/lvq/__init__.py").read_text(encoding="utf-8")
    version = re.search(r'^__version__ = "(.+)"$', source, flags=re.MULTILINE)
    assert version
    return json.dumps(bill(LOCK.read_text(encoding="utf-8"), project, version[1]), indent=1) + "\n"


if __name__ == "__main__":
    TARGET.write_text(current(), encoding="utf-8")
