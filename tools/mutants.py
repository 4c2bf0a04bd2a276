"""Mutation testing of `model/`, `solvers/` and `rejection/`: change one thing of a file, and see whether a test fails.

    python tools/mutants.py reach                      # once: which tests enter which function, into out/reach.json
    python tools/mutants.py run                        # all files; `run src/lvq/model/costs.py` for some
    python tools/mutants.py run --survivors            # again, only what no test has noticed yet
    python tools/mutants.py page                       # the table in docs/mutants.md

A mutant changes a comparison (< and <=, == and !=), arithmetic (+ and -, * and /), a constant (one more; numbers with a
point: twice and one; True and False), a condition (negated), `and` and `or`, or a sign. Annotations and what stands
in a `raise` (messages) are left alone. The sample of a file is chosen by a hash of each mutant, so it stays the same
when lines or functions move. A mutant runs with the tests that enter its function, the quickest first, up to
`--seconds` of processor time; the first that fails kills it. Loops for numba run as plain Python, or they would have
to be compiled for each mutant.

A survivor either needs a test or changes nothing that can be observed. The latter is judged by hand: its `note` in
`experiments/results/mutants.json` says why, and is kept by later runs.
"""

import argparse
import ast
import copy
import hashlib
import json
import math
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import mutant_page
import mutant_tests
from mutant_tests import ROOT, walk

FOLDERS = ("src/lvq/model", "src/lvq/solvers", "src/lvq/rejection")
TESTS = ("tests/model", "tests/solvers", "tests/rejection")
RESULTS = ROOT / "experiments/results/mutants.json"
PAGE = ROOT / "docs/mutants.md"
REACH = ROOT / "out/reach.json"
GPU = ("src/lvq/model/fused.py",)  # its tests need a GPU
COMPARISONS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
ARITHMETIC = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Pow: ast.Mult,
}  # fmt: skip


def changed(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Each change of one node, with its kind."""
    new = copy.deepcopy(node)
    match new:
        case ast.Compare(ops=[first, *_]) if type(first) in COMPARISONS:
            new.ops[0] = COMPARISONS[type(first)]()
            yield "comparison", new
        case ast.BinOp(op=operation) if type(operation) in ARITHMETIC:
            new.op = ARITHMETIC[type(operation)]()
            yield "arithmetic", new
        case ast.AugAssign(op=operation) if type(operation) in ARITHMETIC:
            new.op = ARITHMETIC[type(operation)]()
            yield "arithmetic", new
        case ast.Constant(value=bool(value)):
            yield "constant", ast.Constant(not value)
        case ast.Constant(value=int(number)):
            yield "constant", ast.Constant(number + 1)
        case ast.Constant(value=float(real)):
            yield "constant", ast.Constant(2 * real + 1)
        case ast.If(test=test) | ast.IfExp(test=test):
            new.test = ast.UnaryOp(ast.Not(), test)
            yield "condition", new
        case ast.BoolOp(op=operation):
            new.op = ast.Or() if isinstance(operation, ast.And) else ast.And()
            yield "and, or", new
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            yield "sign", operand


def left_alone(tree: ast.AST) -> set[int]:
    """All nodes inside annotations and `raise`, and imports for types: a type, or the text of a message."""
    found: set[int] = set()
    for node in ast.walk(tree):
        inside = [getattr(node, "annotation", None), getattr(node, "returns", None)]
        inside += [node.exc] if isinstance(node, ast.Raise) else []
        inside += [node] if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING" else []
        found |= {id(part) for outer in inside if outer is not None for part in ast.walk(outer)}
    return found


@dataclass
class Mutant:
    """One change of a file."""

    file: str
    function: str
    inside: bool  # inside of a function
    name: str  # outside functions, what the changed statement assigns
    kind: str
    line: int
    before: str
    after: str
    key: str  # random and always the same for the same change
    old: ast.AST
    new: ast.AST

    @property
    def short(self) -> str:
        """The beginning of the key."""
        return self.key[:12]

    def tree(self, whole: ast.Module) -> ast.Module:
        """The whole file with the change."""
        copied = copy.deepcopy(whole, {id(self.old): self.new})
        return ast.fix_missing_locations(copied)


def mutants(file: str, tree: ast.Module, seed: int = 0) -> list[Mutant]:
    """Every mutant of a file, in the random order of the keys."""
    alone, found, seen = left_alone(tree), [], Counter[tuple[str, ...]]()
    names = {id(part): assigned_name(statement) for statement in tree.body for part in ast.walk(statement)}
    for node, function, inside in walk(tree):
        if id(node) in alone:
            continue
        for kind, new in changed(node):
            assert isinstance(node, ast.expr | ast.stmt)
            ast.copy_location(new, node)
            before, after = (ast.unparse(part).splitlines()[0] for part in (node, new))
            number = seen[(function, kind, before, after)]
            seen[(function, kind, before, after)] += 1
            text = "|".join((str(seed), function, kind, before, after, str(number)))
            key = hashlib.sha256(text.encode()).hexdigest()
            found.append(
                Mutant(file, function, inside, names[id(node)], kind, node.lineno, before, after, key, node, new)
            )
    return sorted(found, key=lambda mutant: mutant.key)


def assigned_name(statement: ast.stmt) -> str:
    """The name that a statement assigns, or nothing."""
    target = statement.targets[0] if isinstance(statement, ast.Assign) else getattr(statement, "target", None)
    return target.id if isinstance(target, ast.Name) else ""


@cache
def users(name: str) -> frozenset[str]:
    """All functions, by file and name, that use a name; it may be imported from another file."""
    found = set()
    for file in all_files():
        text = (ROOT / file).read_text(encoding="utf-8")
        for node, function, inside in walk(ast.parse(text)) if name in text else ():
            if inside and name in (getattr(node, "id", ""), getattr(node, "attr", "")):
                found.add(f"{file}:{function}")
    return frozenset(found)


def entered_by(mutant: Mutant, functions: list[str]) -> bool:
    """Whether a test that enters these functions can notice the mutant."""
    if mutant.inside:
        return f"{mutant.file}:{mutant.function}" in functions
    if mutant.name and users(mutant.name):
        return not users(mutant.name).isdisjoint(functions)
    return any(function.startswith(mutant.file) for function in functions)


def sample_size(possible: int, fraction: float, least: int) -> int:
    """How many mutants of a file are drawn."""
    return min(possible, max(least, math.ceil(fraction * possible)))


def tests_of(mutant: Mutant, reached: dict[str, dict], seconds: float, most: int) -> Iterator[tuple[list[str], float]]:
    """Two lists of tests that enter the mutant's function, with their seconds: those in the mirrored file, and others.

    One case of each test comes before second cases, and quick ones come first.
    """
    mirrored = f"test_{Path(mutant.file).stem}.py::"
    entering = [(test["seconds"], name) for name, test in reached.items() if entered_by(mutant, test["functions"])]
    for beside in (True, False):
        cases, ranked = Counter[str](), []
        for needed, name in sorted(entering):
            if (mirrored in name) == beside:
                ranked.append((cases[name.split("[")[0]], needed, name))
                cases[name.split("[")[0]] += 1
        chosen, total = [], 0.0
        for _, needed, name in sorted(ranked)[:most]:
            if total + needed <= seconds:
                chosen.append(name)
                total += needed
        if chosen:
            yield chosen, total


def is_killed(mutant: Mutant, tree: ast.Module, reached: dict[str, dict], options: argparse.Namespace) -> bool:
    """Whether a test fails with the mutant."""
    changed_tree = mutant.tree(tree)
    return any(
        not mutant_tests.passes(ROOT / mutant.file, changed_tree, tests, 6 + 4 * seconds)
        for tests, seconds in tests_of(mutant, reached, options.seconds, options.tests)
    )


def check_unchanged(
    drawn: list[Mutant], tree: ast.Module, reached: dict[str, dict], options: argparse.Namespace
) -> None:
    """The tests of the drawn mutants must pass without any change."""
    lists = [tests for mutant in drawn for tests in tests_of(mutant, reached, options.seconds, options.tests)]
    needed = {name: reached[name]["seconds"] for tests, _ in lists for name in tests}
    total = sum(needed.values())
    if needed and not mutant_tests.passes(ROOT / drawn[0].file, tree, sorted(needed), 20 + 4 * total):
        message = f"The tests of {drawn[0].file} fail, or take too long, without any mutation; is `reach` up to date?"
        raise SystemExit(message)


def all_files() -> list[str]:
    """The files that are tested."""
    found = [path.relative_to(ROOT).as_posix() for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
    return [file for file in found if file not in GPU]


def is_compiled(file: str) -> bool:
    """Whether numba compiles the file."""
    return "import numba" in (ROOT / file).read_text(encoding="utf-8")


def row_of(mutant: Mutant, killed: bool, before: dict | None) -> dict:
    """What is stored of a mutant: its result now and, where it is another, at first; a note judged by hand."""
    row = {"function": mutant.function, "line": mutant.line, "kind": mutant.kind}
    row |= {"before": mutant.before, "after": mutant.after, "key": mutant.short}
    row["result"] = "killed" if killed else "survived"
    row["first"] = before["first"] if before else row["result"]
    if before and "note" in before and not killed:
        row["note"] = before["note"]
    return row


def run_file(file: str, stored: dict, reached: dict[str, dict], options: argparse.Namespace) -> dict:
    """Run the sample of one file."""
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    every = mutants(file, tree, options.seed)
    known = {row["key"]: row for row in stored.get(file, {}).get("mutants", [])}
    drawn = every[: sample_size(len(every), options.fraction, options.least)]
    decided = {key for key, row in known.items() if options.survivors and (row["result"] == "killed" or "note" in row)}
    check_unchanged([mutant for mutant in drawn if mutant.short not in decided], tree, reached, options)
    rows = []
    for mutant in drawn:
        before = known.get(mutant.short)
        if before and mutant.short in decided:
            rows.append({**before, "line": mutant.line})
            continue
        rows.append(row_of(mutant, is_killed(mutant, tree, reached, options), before))
        text = f"{mutant.file}:{mutant.line} {mutant.kind}: {mutant.before} -> {mutant.after}"
        print(rows[-1]["result"], text, flush=True)
    return {"possible": len(every), "mutants": sorted(rows, key=lambda row: (row["line"], row["key"]))}


def run(options: argparse.Namespace) -> None:
    """Run the samples of the files and store the results after each."""
    files = [file for file in options.files or all_files() if is_compiled(file) != options.compiled]
    mutant_tests.prepare(compiled=options.compiled)
    reached = json.loads(options.reach.read_text())
    for file in files:
        stored = json.loads(options.out.read_text()) if options.out.exists() else {}
        result = run_file(file, stored, reached, options)
        if result["possible"]:
            stored[file] = result
            options.out.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")


def reach(options: argparse.Namespace) -> None:
    """Run the tests once and store what they enter."""
    mutant_tests.prepare(compiled=options.compiled)
    found = json.loads(options.reach.read_text()) if options.reach.exists() else {}
    files = [ROOT / file for file in all_files() if not (options.compiled and is_compiled(file))]
    found |= mutant_tests.reach(files, options.files or TESTS, options.cases, options.longest)
    options.reach.parent.mkdir(exist_ok=True)
    options.reach.write_text(json.dumps(found))


def write_page(options: argparse.Namespace) -> None:
    """Write the page of the results."""
    every = [file for file in all_files() if mutants(file, ast.parse((ROOT / file).read_text(encoding="utf-8")))]
    PAGE.write_text(mutant_page.page(options.out, [*every, *GPU]), encoding="utf-8")


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("reach", "run", "page"))
    parser.add_argument("files", nargs="*", help="tests for `reach`, source files for `run`")
    parser.add_argument(
        "--plain", dest="compiled", action="store_false", help="without numba's compiler, for its loops"
    )
    parser.add_argument("--reach", type=Path, default=REACH)
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--fraction", type=float, default=0.1, help="of a file's mutants that are drawn")
    parser.add_argument("--least", type=int, default=5, help="drawn of each file at least")
    parser.add_argument("--seconds", type=float, default=20.0, help="of tests for each mutant")
    parser.add_argument("--tests", type=int, default=60, help="for each mutant at most")
    parser.add_argument("--cases", type=int, default=40, help="of a test at most, for `reach`")
    parser.add_argument("--longest", type=float, default=8.0, help="seconds of a test that is used, for `reach`")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--survivors", action="store_true", help="run only survivors without a note again")
    options = parser.parse_args()
    {"reach": reach, "run": run, "page": write_page}[options.command](options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
