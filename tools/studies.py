"""Run the studies of docs/studies and compare what they print with what they show.

`python tools/studies.py [NAME ...]` runs the documents and fails where an output differs; `--write` puts the outputs of
the run and the pictures into the documents instead. Without the data of a study, it is left out with a message. With
`--other-machine` differences are printed, and only an error that the document does not show is a failure: sums are
rounded otherwise on other processors, and a sample near a threshold may change its side.

A study is a Markdown file whose blocks are run in their order, in an empty folder:

- ``console``: lines that begin with ``$`` are commands (`lvq` and `head`), the others what they print;
- ``pycon``: examples as in docstrings. A figure that is saved as NAME.png is also a picture of the document.

Numbers of the text must be found in the blocks. Times, which differ from run to run, are shown as dots, and long
decimals with four digits.
"""

from __future__ import annotations

import argparse
import contextlib
import doctest
import io
import os
import re
import shlex
import shutil
import sys
import tempfile
import traceback
import warnings
from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # a study loads data of a paper from `experiments`
FOLDER = ROOT / "docs/studies"
PICTURES = FOLDER / "images"
#: Files of the folder LVQ_DATA that a study needs.
NEEDS = {
    "clinical": [],
    "spectra": ["tecator.csv.gz", "tecator_composition.csv.gz"],
    "business": ["german.csv.gz"],
}
BLOCK = re.compile(r"^```(console|pycon)\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)
LONG = re.compile(r"( *)(\d+\.\d{6,})")  # printed by pandas, or into a file of predictions
ERROR = re.compile(r"^(?:Traceback|Error|\w+Error)\b.*", flags=re.MULTILINE)
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


class Step(NamedTuple):
    """A command or an example: its lines in the document, its source, and what the document shows."""

    kind: str
    shown: str
    source: str
    want: str


def steps(kind: str, block: str) -> Iterator[Step]:
    """The steps of a block."""
    if kind == "pycon":
        for example in doctest.DocTestParser().get_examples(block):
            first, *more = example.source.rstrip("\n").split("\n")
            shown = "\n".join([f">>> {first}", *(f"... {line}".rstrip() for line in more)]) + "\n"
            yield Step(kind, shown, example.source, example.want)
        return
    for shown, want in re.findall(r"^(\$ (?:.*\\\n)*.*\n)((?:(?!\$ ).*\n)*)", block, flags=re.MULTILINE):
        yield Step(kind, shown, shown[2:].replace("\\\n", " "), want.rstrip("\n") + "\n" if want.strip() else "")


def missing(name: str) -> list[str]:
    """Files that a study needs and that are not in the folder LVQ_DATA."""
    folder = Path(os.environ.get("LVQ_DATA") or "no folder")
    return [file for file in NEEDS[name] if not (folder / file).exists()]


class Session:
    """Runs steps one after the other in the current folder, with the names of the steps before."""

    def __init__(self, pictures: Path | None = None) -> None:
        self.names: dict[str, object] = {"__name__": "__main__"}
        self.pictures = pictures

    def run(self, step: Step) -> str:
        """What a step prints; an error is part of it."""
        before = set(Path().glob("*.png"))
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            if step.kind == "console":
                command(*shlex.split(step.source))
            else:
                self._example(step.source)
        for path in set(Path().glob("*.png")) - before:
            self._keep(path)
        return stable(printed.getvalue())

    def _example(self, source: str) -> None:
        shown, sys.displayhook = sys.displayhook, sys.__displayhook__
        try:
            exec(compile(source, "study", "single"), self.names)
        except Exception:
            print("Traceback (most recent call last):\n    ...")
            print("".join(traceback.format_exception_only(sys.exception())), end="")
        finally:
            sys.displayhook = shown

    def _keep(self, path: Path) -> None:
        """The figure as a picture for light and for dark pages."""
        from matplotlib import pyplot as plt

        if self.pictures is not None:
            sys.path.insert(0, str(ROOT / "docs/extensions"))
            from two_themes import make_dark  # type: ignore[import-not-found]

            self.pictures.mkdir(exist_ok=True)
            small(path, self.pictures / path.name)
            make_dark(plt.gcf())
            plt.gcf().savefig(path, dpi=150, bbox_inches="tight")
            small(path, self.pictures / f"{path.stem}-dark.png")
        plt.close("all")


def small(source: Path, target: Path) -> None:
    """A picture with at most 256 colours."""
    from PIL import Image

    with Image.open(source) as image:
        image.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(target, optimize=True)


def command(program: str, *arguments: str) -> None:
    """Run `lvq`, in this process, or `head -NUMBER FILE`."""
    if program == "head":
        count, file = arguments
        if not Path(file).exists():  # an earlier command has failed
            print(f"FileNotFoundError: {file}")
            return
        with open(file, encoding="utf-8") as lines:
            print(*(line.rstrip("\n") for line, _ in zip(lines, range(-int(count)))), sep="\n")
    elif program == "lvq":
        from lvq.cli.app import app

        with contextlib.suppress(SystemExit):
            app(list(arguments), prog_name="lvq")
    else:
        raise ValueError(f"A study can run lvq and head, not {program}.")


def stable(text: str) -> str:
    """A printed text without what differs between runs and machines: seconds of `lvq compare`, long decimals."""
    text = LONG.sub(lambda found: f"{float(found[2]):.4g}".rjust(len(found[0]) if found[1] else 0), text)
    lines, column = text.split("\n"), None
    for number, line in enumerate(lines):
        if "  seconds" in line:
            column = line.index("seconds"), line.index("seconds") + len("seconds")
        elif not line.strip():
            column = None
        elif column is not None and line[column[0] : column[1]].strip():
            lines[number] = line[: column[0]] + "...".rjust(column[1] - column[0]) + line[column[1] :]
    return "\n".join(line.rstrip() for line in lines)


def run(text: str, pictures: Path | None = None) -> str:
    """The text of a document with what its steps print now; runs in the current folder."""
    session = Session(pictures)

    def block(match: re.Match[str]) -> str:
        parts = [step.shown + session.run(step) for step in steps(match[1], match[2])]
        return f"```{match[1]}\n{''.join(parts)}```"

    return BLOCK.sub(block, text)


def unfounded_numbers(text: str) -> list[str]:
    """Numbers of the text of a document that none of its blocks has."""
    blocks = " ".join(match[2] for match in BLOCK.finditer(text))
    known = set(NUMBER.findall(blocks)) | {word.replace(",", "") for word in NUMBER.findall(blocks)}
    prose = re.sub(r"`[^`\n]*`|\]\([^)]*\)", "", BLOCK.sub("", text))
    return [word for word in NUMBER.findall(prose) if word.replace(",", "") not in known]


def fresh(path: Path, pictures: Path | None = None) -> str:
    """The text of a document as a run in an empty folder gives it."""
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("error")
        for file in path.parent.glob("*.json"):
            shutil.copy(file, folder)
        os.chdir(folder)
        try:
            return run(path.read_text(encoding="utf-8"), pictures)
        finally:
            os.chdir(here)


def problems(path: Path) -> list[str]:
    """What is wrong with a document: lines that a run gives otherwise, and numbers that it does not give."""
    text = path.read_text(encoding="utf-8")
    differences = unified_diff(text.split("\n"), fresh(path).split("\n"), "document", "run", lineterm="")
    return [*differences, *(f"{word} is in the text, and in no output" for word in unfounded_numbers(text))]


def errors(lines: list[str]) -> list[str]:
    """Errors among the lines that a run gives and the document does not show."""
    return [line for line in lines if line.startswith("+") and ERROR.match(line[1:])]


def main() -> int:
    """Check or write the documents."""
    parser = argparse.ArgumentParser(description=str(__doc__).split("\n", 1)[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NEEDS)}; all by default")
    parser.add_argument("--write", action="store_true", help="put outputs and pictures into the documents")
    parser.add_argument("--other-machine", action="store_true", help="fail for errors only")
    arguments = parser.parse_args()
    os.environ.setdefault("MPLBACKEND", "Agg")
    failed = False
    for name in arguments.names or NEEDS:
        path = FOLDER / f"{name}.md"
        if files := missing(name):
            print(f"{path.name} was not run: {', '.join(files)} not found in the folder of LVQ_DATA.")
        elif arguments.write:
            path.write_text(fresh(path, PICTURES), encoding="utf-8")
            print(f"{path.name}: written. Numbers of the text without a source: {unfounded_numbers(path.read_text())}")
        elif found := problems(path):
            failed |= bool(errors(found)) or not arguments.other_machine
            print(f"{path.name}:", *found, "Read it again after python tools/studies.py --write.", sep="\n")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
