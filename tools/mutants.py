"""Mutation testing: change one operator or constant of a file, and see whether the tests beside it fail.

    python tools/mutants.py src/lvq/model/costs.py tests/model/test_costs.py tests/model/test_gradients.py \
        --mutants 10 --seed 0 --out mutants.json

Mutants are drawn at random: comparisons (< and <=, == and !=), arithmetic (+ and -, * and /), constants (one more;
numbers with a point: twice and one), conditions (negated). Each runs in a copy of `src`, so that the checkout stays as
it is. A mutant that the tests do not notice survives. A survivor either needs a test or changes nothing that can be
observed, which must be judged by hand.
"""

import argparse
import ast
import copy
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
COMPARISONS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
ARITHMETIC = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Pow: ast.Mult,
}  # fmt: skip


def annotation_nodes(tree: ast.AST) -> set[int]:
    """All nodes inside annotations."""
    found: set[int] = set()
    for node in ast.walk(tree):
        for field in ("annotation", "returns"):
            inside = getattr(node, field, None)
            if inside is not None:
                found |= {id(part) for part in ast.walk(inside)}
    return found


def changed(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Each change of one node, with its description."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARISONS:
        new = copy.deepcopy(node)
        new.ops[0] = COMPARISONS[type(node.ops[0])]()
        yield "comparison", new
    if isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
        new_operation = copy.deepcopy(node)
        new_operation.op = ARITHMETIC[type(node.op)]()
        yield "arithmetic", new_operation
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        assert isinstance(node.value, int | float)
        yield (
            "constant",
            ast.copy_location(
                ast.Constant(node.value + 1 if isinstance(node.value, int) else 2 * node.value + 1), node
            ),
        )
    if isinstance(node, ast.If | ast.IfExp):
        negated = copy.deepcopy(node)
        negated.test = ast.UnaryOp(ast.Not(), negated.test)
        yield "condition", negated


class Replace(ast.NodeTransformer):
    """Replace one node by another."""

    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """The new node in place of the old one."""
        return self.new if node is self.old else super().generic_visit(node)


def mutants(source: str) -> list[tuple[str, int, str, str, str]]:
    """Kind, line, text before and after, and the whole new source, of every mutant of a file."""
    tree = ast.parse(source)
    annotations, found = annotation_nodes(tree), []
    for node in list(ast.walk(tree)):
        if id(node) in annotations:  # no test can notice a type
            continue
        for kind, new in changed(node):
            ast.copy_location(new, node)
            after = ast.unparse(ast.fix_missing_locations(Replace(node, new).visit(copy_with(tree, node, new))))
            assert isinstance(node, ast.expr | ast.stmt)
            before_text, after_text = (ast.unparse(part).splitlines()[0] for part in (node, new))
            found.append((kind, node.lineno, before_text, after_text, after))
    return found


def copy_with(tree: ast.Module, old: ast.AST, new: ast.AST) -> ast.Module:
    """A copy of the tree in which only `old` is still the same object, so that it can be found."""
    return copy.deepcopy(tree, {id(old): old})


def runs(folder: Path, tests: list[str], timeout: float) -> str:
    """The outcome of the tests with the package in the folder: "passed", "failed" or "timed out"."""
    environment = os.environ | {"PYTHONPATH": str(folder), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:cacheprovider", *tests]
    try:
        finished = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, timeout=timeout, check=False, text=True
        )
    except subprocess.TimeoutExpired:
        return "timed out"
    return "passed" if finished.returncode == 0 else "failed"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("tests", nargs="+")
    parser.add_argument("--mutants", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--timeout", type=float, default=600)
    parser.add_argument("--out", type=Path, help="add the results to this file")
    arguments = parser.parse_args()
    source = (ROOT / arguments.file).read_text(encoding="utf-8")
    every = mutants(source)
    chosen = random.Random(arguments.seed).sample(every, min(arguments.mutants, len(every)))
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "src"
        shutil.copytree(ROOT / "src", folder)  # with the times of the files, so that compiled code is found again
        target = folder / arguments.file.relative_to("src")
        if runs(folder, arguments.tests, arguments.timeout) != "passed":
            raise SystemExit("The tests fail, or take too long, without any mutation.")
        for kind, line, before, after, text in chosen:
            target.write_text(text, encoding="utf-8")
            outcome = runs(folder, arguments.tests, arguments.timeout)
            result = "survived" if outcome == "passed" else "killed"
            rows.append({"kind": kind, "line": line, "before": before, "after": after, "result": result})
            print(result, f"{arguments.file}:{line}", kind, before, "->", after, flush=True)
    killed = sum(row["result"] == "killed" for row in rows)
    print(f"{killed} of {len(rows)} killed, of {len(every)} possible mutants")
    if arguments.out:
        stored = json.loads(arguments.out.read_text()) if arguments.out.exists() else {}
        stored[arguments.file.as_posix()] = {
            "tests": arguments.tests, "seed": arguments.seed, "possible": len(every), "killed": killed, "mutants": rows,
        }  # fmt: skip
        arguments.out.write_text(json.dumps(stored, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
