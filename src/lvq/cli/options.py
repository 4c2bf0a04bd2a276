"""Arguments and options of the commands, each described once."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer.models import ArgumentInfo, OptionInfo

from lvq.cli.console import report_errors

if TYPE_CHECKING:
    from lvq.typing import Argument


def _argument(metavar: str, text: str) -> ArgumentInfo:
    return typer.Argument(metavar=metavar, help=text, show_default=False)


def _needed(metavar: str, text: str) -> OptionInfo:
    return typer.Option(metavar=metavar, help=text, show_default=False)


def _number(text: str, least: int) -> OptionInfo:
    return typer.Option(metavar="NUMBER", help=text, min=least)


def _checked(fraction: float | None) -> float | None:
    if fraction is not None and not 0 <= fraction <= 1:
        raise typer.BadParameter(f"{fraction:g} is not between 0 and 1; 5 % is 0.05.")
    return fraction


def _fraction(text: str) -> OptionInfo:
    return typer.Option(metavar="FRACTION", help=text, callback=_checked)


def _columns(text: str) -> OptionInfo:
    return typer.Option(metavar="COLUMN", help=f"{text}; may be repeated.")


def _model(text: str) -> OptionInfo:
    return typer.Option(metavar="NAME", help=text)


# files
Table = Annotated[Path, _argument("TABLE", "CSV (also .gz), Parquet or Excel file.")]
Run = Annotated[Path, _argument("RUN", "Folder that 'lvq fit' wrote.")]
ModelFile = Annotated[Path, _argument("MODEL", "model.lvq, or the folder of its run.")]
NewRun = Annotated[Path, _needed("RUN", "Folder for model, report and metrics.")]
PredictionFile = Annotated[Path, _needed("FILE", "Predictions: .csv, .csv.gz, .parquet or .xlsx.")]
Ranking = Annotated[Path | None, _needed("FILE", "File for the ranking: .csv, .csv.gz, .parquet or .xlsx.")]
Title = Annotated[str | None, _needed("TEXT", "Title of the report. [default: the model's name]")]
Onnx = Annotated[Path, _needed("FILE", "File to write.")]
Folder = Annotated[Path | None, typer.Option(metavar="FOLDER", help="Folder for the results.")]
DemoFolder = Annotated[Path, typer.Option(metavar="RUN", help="Folder for the run.")]
Force = Annotated[bool, typer.Option("--force", help="Replace existing files.")]

# columns
Target = Annotated[str, _needed("COLUMN", "Column of classes.")]
OtherTarget = Annotated[str | None, _needed("COLUMN", "Column of classes. [default: the one used to fit]")]
Group = Annotated[str | None, _needed("COLUMN", "Groups that are never split, such as patients.")]
Time = Annotated[str | None, _needed("COLUMN", "Train on the past, test on the future.")]
Features = Annotated[list[str] | None, _columns("Column to use as a feature, or a pattern such as 'lab_*'")]
Drop = Annotated[list[str] | None, _columns("Column not to use as a feature, or a pattern")]
Categorical = Annotated[list[str] | None, _columns("Column of numbers or strings to treat as categories")]
Date = Annotated[list[str] | None, _columns("Column of dates to convert to a number of days")]
DetectionLimit = Annotated[list[str] | None, _columns("Column in which '<0.5' becomes half the detection limit")]
MissingMark = Annotated[
    list[str] | None,
    typer.Option(metavar="MARK", help="String or number that marks a missing value, or COLUMN=MARK; may be repeated."),
]
Encoding = Annotated[
    str | None, typer.Option(metavar="NAME", help="Encoding of CSV files, such as latin-1. Detected by default.")
]
Sheet = Annotated[str | None, _needed("NAME", "Sheet of an Excel file. [default: the first with values]")]
HeaderRow = Annotated[
    int | None,
    typer.Option(metavar="ROW", min=0, help="Row with the names of the columns; 0: none. [default: the first]"),
]
Keep = Annotated[list[str] | None, _columns("Column to copy into the predictions")]

Probabilities = Annotated[bool, typer.Option("--probabilities", help="Add the probability of each class.")]

# the model
Model = Annotated[str, _model("lvq, gmlvq, glvq, rslvq, ...")]
Models = Annotated[list[str] | None, _model("Model to compare; may be repeated. All by default.")]
Prototypes = Annotated[int | None, _number("Prototypes per class.", 1)]
Others = Annotated[bool, typer.Option(help="Compare logistic regression, a random forest and an RBF-SVM too.")]
Costs = Annotated[
    str | None,
    typer.Option("--costs", metavar="COSTS", help="Costs of mistakes, true:predicted, as in bad:good=5,good:bad=1."),
]
# rejection and testing
MaxError = Annotated[float | None, _fraction("Guaranteed bound on the error rate of accepted predictions.")]
Confidence = Annotated[float, _fraction("Confidence of the guarantee.")]
Coverage = Annotated[float | None, _fraction("Without a guarantee: fraction of predictions to accept. [default: 0.9]")]
TestSize = Annotated[float, _fraction("Fraction of rows held out for the test.")]
Folds = Annotated[int, _number("Folds of the cross-validation; 0 for none.", 0)]
CompareFolds = Annotated[int, _number("Folds of the cross-validation.", 2)]
Repeats = Annotated[int | None, _number("Repetitions with different folds. [default: 3; 1 with --time]", 1)]
Seed = Annotated[int, _number("Seed of all random numbers.", 0)]
# all commands
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]

# the options that make a `Reading` and `TableOptions`
READING = {"encoding": Encoding, "sheet": Sheet, "header_row": HeaderRow}
COLUMNS = {
    "features": Features, "drop": Drop, "categorical": Categorical, "date": Date, "detection_limit": DetectionLimit,
    "missing_mark": MissingMark,
}  # fmt: skip


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Replace a command's parameter `reading` or `options` by the options of tables, and report its errors."""
    shared = {"reading": READING, "options": COLUMNS | READING}
    names, parameters = signature(function).parameters, []
    for own in names.values():
        kinds = shared.get(own.name, {own.name: own.annotation})
        default = None if own.name in shared else own.default
        parameters += [own.replace(name=name, default=default, annotation=kind) for name, kind in kinds.items()]
    parameters.append(Parameter("debug", Parameter.KEYWORD_ONLY, default=False, annotation=Debug))

    @wraps(function)
    def reporting(**given: Argument) -> None:
        with report_errors(given.pop("debug")):
            if "reading" in names or "options" in names:
                from lvq.tables.header import Reading

                given["reading"] = Reading(*(given.pop(name) for name in READING))
            if "options" in names:
                from lvq.workflow import TableOptions

                values: list[Argument] = [given.pop(name) or () for name in COLUMNS]
                given["options"] = TableOptions(*values, *[given.pop("reading")])
            function(**given)

    reporting.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    reporting.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return reporting
