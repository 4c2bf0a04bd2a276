"""Mutation testing of `model/`, `solvers/` and `rejection/`: change one thing of a file, and see whether a test fails.

    python tools/mutants.py reach                      # once: which tests enter which function, into out/reach.json
    python tools/mutants.py reach tests/estimators     # more tests, for what these do not kill
    python tools/mutants.py run --seed 1               # a sample; a run that was stopped goes on where it was
    python tools/mutants.py run --seed 1 --survivors   # again, only what no test has noticed yet
    python tools/mutants.py page                       # the page docs/mutants.md

With `--plain` both `reach` and `run` are about the loops for numba, which run as plain Python, or they would have to
be compiled for each mutant.

A mutant changes a comparison (< and <=, == and !=), arithmetic (+ and -, * and /), a constant (one more; numbers with a
point: twice and one; True and False), a condition (negated), `and` and `or`, or a sign. Annotations and what stands
in a `raise` (messages) are left alone. A sample is the first `--number` of all mutants of all files in the order of a
hash of each and the seed, so it stays the same when lines or functions move; `--least` of each file are added, and
marked as added. A mutant runs with the tests that enter its function, the quickest first: those of the mirrored file,
of the folder of the same name, and all others, each up to `--seconds` of processor time. The first that fails kills it,
if it passes without the change.

A survivor either needs a test or changes nothing that can be observed. The latter is judged by hand: its `note` in
`experiments/results/mutants_SEED.json` says why, and is kept by later runs.
"""

import argparse
import ast
import copy
import hashlib
import json
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import mutant_page
import mutant_tests
from mutant_tests import ROOT, walk

FOLDERS = ("src/lvq/model", "src/lvq/solvers", "src/lvq/rejection")
TESTS = ("tests/model", "tests/solvers", "tests/rejection")
RESULTS = ROOT / "experiments/results"
PAGE = ROOT / "docs/mutants.md"
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
    names: tuple[str, ...]  # outside functions, what the changed statement assigns
    kind: str
    line: int
    before: str
    after: str
    key: str  # random and always the same for the same change
    old: ast.AST
    new: ast.AST
    added: bool = False  # not of the random sample of all files, but so that its file has some

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
    names = {id(part): assigned_names(statement) for statement in tree.body for part in ast.walk(statement)}
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


def assigned_names(statement: ast.stmt) -> tuple[str, ...]:
    """The names that a statement assigns."""
    target = statement.targets[0] if isinstance(statement, ast.Assign) else getattr(statement, "target", None)
    parts = target.elts if isinstance(target, ast.Tuple) else [target]
    return tuple(part.id for part in parts if isinstance(part, ast.Name))


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
    using = frozenset[str]().union(*(users(name) for name in mutant.names))
    if using:
        return not using.isdisjoint(functions)
    return any(function.startswith(mutant.file) for function in functions)


def drawn(every: dict[str, list[Mutant]], number: int, least: int) -> dict[str, list[Mutant]]:
    """The sample by file: the first of all mutants, then as many of each file as are needed for the least."""
    keys = sorted(mutant.key for found in every.values() for mutant in found)[:number]
    sample = {}
    for file, found in every.items():
        counted = [mutant for mutant in found if mutant.key <= keys[-1]]
        sample[file] = counted + [replace(mutant, added=True) for mutant in found[len(counted) : least]]
    return sample


def tests_of(mutant: Mutant, reached: dict[str, dict], seconds: float, most: int) -> Iterator[tuple[list[str], float]]:
    """Lists of tests that enter the mutant's function, with their seconds: of the mirrored file, the folder, others.

    One case of each test comes before second cases, and quick ones come first.
    """
    mirrored, folder = f"test_{Path(mutant.file).stem}.py::", f"tests/{mutant.file.split('/')[2]}/"
    entering = [
        (test["seconds"], name)
        for name, test in reached.items()
        if entered_by(mutant, test["functions"]) or (not mutant.inside and mirrored in name)
    ]
    cases, ranked = Counter[str](), []
    for needed, name in sorted(entering):
        distance = 0 if mirrored in name else 1 if name.startswith(folder) else 2
        ranked.append((distance, cases[name.split("[")[0]], needed, name))
        cases[name.split("[")[0]] += 1
    for distance in range(3):
        chosen, total = [], 0.0
        for _, _, needed, name in sorted(row for row in ranked if row[0] == distance)[:most]:
            if total + needed <= seconds:
                chosen.append(name)
                total += needed
        if chosen:
            yield chosen, total


def killing_test(mutant: Mutant, tree: ast.Module, reached: dict[str, dict], options: argparse.Namespace) -> str:
    """The test that fails with the mutant and passes without it, or nothing."""
    changed_tree = mutant.tree(tree)
    for tests, seconds in tests_of(mutant, reached, options.seconds, options.tests):
        failed = mutant_tests.failing(ROOT / mutant.file, changed_tree, tests, 6 + 4 * seconds)
        if failed and mutant_tests.failing(ROOT / mutant.file, tree, failed, 6 + 4 * seconds):
            raise SystemExit(f"{failed[0]} fails, or takes too long, without any mutation; is `reach` up to date?")
        if failed:
            return failed[0] if len(failed) == 1 else f"{len(failed)} tests, which end early"
    return ""


def all_files() -> list[str]:
    """The files that are tested."""
    found = [path.relative_to(ROOT).as_posix() for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
    return [file for file in found if file not in GPU]


def tree_of(file: str) -> ast.Module:
    """The code of a file."""
    return ast.parse((ROOT / file).read_text(encoding="utf-8"))


def is_compiled(file: str) -> bool:
    """Whether numba compiles the file; the options with which it does can only be tested compiled."""
    return "kernels" in file and not file.endswith("/compiling.py")


def row_of(mutant: Mutant, test: str, before: dict | None) -> dict:
    """What is stored of a mutant: its result now and, where it is another, at first; a note judged by hand."""
    row: dict = {"function": mutant.function, "line": mutant.line, "kind": mutant.kind}
    row |= {"before": mutant.before, "after": mutant.after, "key": mutant.short}
    row["result"] = "killed" if test else "survived"
    row["first"] = before["first"] if before else row["result"]
    row |= {"test": test} if test else {}
    row |= {"added": True} if mutant.added or (before and "added" in before) else {}
    return row


def is_due(before: dict | None, *, survivors: bool) -> bool:
    """Whether a mutant is to be run: not yet run or, for survivors, not killed yet and without a note."""
    if not survivors:
        return before is None
    return before is not None and before["result"] == "survived" and "note" not in before


def run(options: argparse.Namespace) -> None:
    """Run the sample and store each result at once."""
    trees = {file: tree_of(file) for file in all_files()}
    every = {file: mutants(file, tree, options.seed) for file, tree in trees.items()}
    sample = every if options.survivors else drawn(every, options.number, options.least)
    mutant_tests.prepare(compiled=options.compiled)
    reached = json.loads(reach_file(options).read_text())
    out = results_file(options.seed)
    stored = json.loads(out.read_text()) if out.exists() else {}
    for file in [file for file in options.files or sample if is_compiled(file) != options.compiled]:
        rows = {row["key"]: row for row in stored.get(file, {}).get("mutants", [])}
        for mutant in sample[file]:
            before = rows.get(mutant.short)
            if not is_due(before, survivors=options.survivors):
                continue
            rows[mutant.short] = row_of(mutant, killing_test(mutant, trees[file], reached, options), before)
            ordered = sorted(rows.values(), key=lambda row: (row["line"], row["key"]))
            stored[file] = {"possible": len(every[file]), "mutants": ordered}
            out.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
            change = f"{mutant.file}:{mutant.line} {mutant.kind}: {mutant.before} -> {mutant.after}"
            print(rows[mutant.short]["result"], change, flush=True)


def results_file(seed: int) -> Path:
    """The results of a sample."""
    return RESULTS / f"mutants_{seed}.json"


def reach_file(options: argparse.Namespace) -> Path:
    """Which tests enter which function, compiled or as plain Python."""
    return ROOT / "out" / ("reach.json" if options.compiled else "reach_plain.json")


def reach(options: argparse.Namespace) -> None:
    """Run the tests once and store what they enter."""
    mutant_tests.prepare(compiled=options.compiled)
    out = reach_file(options)
    found = json.loads(out.read_text()) if out.exists() else {}
    files = [ROOT / file for file in all_files() if not (options.compiled and is_compiled(file))]
    found |= mutant_tests.reach(files, options.files or TESTS, options.cases, options.longest)
    out.parent.mkdir(exist_ok=True)
    out.write_text(json.dumps(found))


def write_page(options: argparse.Namespace) -> None:
    """Write the page of the results of all samples."""
    every = [file for file in all_files() if mutants(file, tree_of(file))]
    samples = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(RESULTS.glob("mutants_*.json"))]
    PAGE.write_text(mutant_page.page(samples, [*every, *GPU]), encoding="utf-8")


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("reach", "run", "page"))
    parser.add_argument("files", nargs="*", help="tests for `reach`, source files for `run`")
    parser.add_argument(
        "--plain", dest="compiled", action="store_false", help="without numba's compiler, for its loops"
    )
    parser.add_argument("--number", type=int, default=120, help="of mutants that are drawn from all files")
    parser.add_argument("--least", type=int, default=1, help="of each file, added where fewer are drawn")
    parser.add_argument("--seconds", type=float, default=20.0, help="of tests for each mutant")
    parser.add_argument("--tests", type=int, default=60, help="for each mutant at most")
    parser.add_argument("--cases", type=int, default=40, help="of a test at most, for `reach`")
    parser.add_argument("--longest", type=float, default=8.0, help="seconds of a test that is used, for `reach`")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--survivors", action="store_true", help="run only survivors without a note again")
    options = parser.parse_intermixed_args()
    {"reach": reach, "run": run, "page": write_page}[options.command](options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
