"""The commands: each calls one function of `lvq.workflow` with its arguments and prints the result."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lvq.cli import console
from lvq.cli import options as given
from lvq.cli.console import progress_bar

if TYPE_CHECKING:
    from lvq.tables.header import Reading
    from lvq.workflow import TableOptions


app = typer.Typer(
    help="Interpretable classifiers from a table: fit, test, predict, and reject uncertain predictions.",
    epilog="To start: lvq demo. Each command has its own --help.",
    no_args_is_help=True,
    rich_markup_mode=None,  # plain help is shorter and faster
    pretty_exceptions_enable=False,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from lvq import __version__

        typer.echo(f"lvq {__version__}")
        raise typer.Exit


@app.callback()
def _lvq(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Options of the program itself."""


@contextmanager
def _computing() -> Iterator[Callable[[str, int, int | None], None]]:
    """A progress bar; matrix products use one thread, and blocks of rows the others."""
    from lvq.model.samples import product_threads, single_threaded_products

    with single_threaded_products(product_threads()), progress_bar() as progress:
        yield progress


@app.command()
@given.command
def fit(
    *,
    table: given.Table,
    target: given.Target,
    out: given.NewRun,
    group: given.Group = None,
    time: given.Time = None,
    model: given.Model = "lvq",
    prototypes: given.Prototypes = None,
    max_error: given.MaxError = None,
    confidence: given.Confidence = 0.95,
    coverage: given.Coverage = None,
    title: given.Title = None,
    options: "TableOptions",
    costs: given.Costs = None,
    test_size: given.TestSize = 0.25,
    folds: given.Folds = 5,
    seed: given.Seed = 0,
    force: given.Force = False,
) -> None:
    """Fit a model to a table; write model, report and metrics.

    Numbers are standardised, strings are one-hot encoded. A missing number becomes the median of its column, with an
    indicator feature; a missing string is a category. Rows without a class, and columns that are empty, constant,
    without a name or row numbers, are left out with a note.
    """
    from lvq import workflow
    from lvq._files import check_folder
    from lvq.workflow.pipeline import read_costs
    from lvq.workflow.runs import FILES

    estimator = workflow.make_model(model, prototypes=prototypes, seed=seed)
    cost_of = None if costs is None else read_costs(costs)
    check_folder(out, FILES, force=force)
    with _computing() as progress:
        run = workflow.fit(
            table, target, model=estimator, options=options, group=group, time=time, costs=cost_of,
            max_error=max_error, confidence=confidence, coverage=coverage, test_size=test_size, folds=folds,
            seed=seed, progress=progress,
        )  # fmt: skip
        if title is not None:
            named = replace(run.report.context, title=title)
            run = replace(run, report=replace(run.report, context=named))
        run.write(out, force=force)
    console.show_report(run.report, f"{out}: model.lvq, report.html, metrics.json")
    typer.echo("Next: open report.html in a browser; 'lvq predict' uses the model on new rows.")


@app.command()
@given.command
def predict(
    *,
    model: given.ModelFile,
    table: given.Table,
    out: given.PredictionFile,
    keep: given.Keep = None,
    probabilities: given.Probabilities = False,
    reading: "Reading",
    force: given.Force = False,
) -> None:
    """Predict the rows of a table of any length.

    Columns of the predictions: label; certainty (higher is more certain); accepted; reason (for rejection); because
    (the columns that support the label most, with the factor by which each alone multiplies its odds against the
    second class); winner (the nearest prototype, named as in the report).

    A row with an unknown category, or with a missing value in a column that had none in training, is rejected.
    """
    from lvq import workflow

    with _computing() as progress:
        result = workflow.predict(
            model, table, out, keep=keep or (), probabilities=probabilities, reading=reading, force=force,
            progress=lambda rows: progress("Rows predicted", rows, None),
        )  # fmt: skip
    console.show_predictions(result)


@app.command()
@given.command
def validate(
    *,
    run: given.Run,
    table: given.Table,
    target: given.OtherTarget = None,
    out: given.Folder = None,
    reading: "Reading",
    force: given.Force = False,
) -> None:
    """Report on a fitted model for a labelled table from elsewhere.

    Writes validation-TABLE.html and validation-TABLE.json to the folder of the run: a report on these rows, compared
    with the original test, that says whether the guarantee was kept.
    """
    from lvq import workflow

    with _computing():
        found = workflow.validate(run, table, target=target, out=out, reading=reading, force=force)
    console.show_report(found.report, found.page)


@app.command()
@given.command
def compare(
    *,
    table: given.Table,
    target: given.Target,
    group: given.Group = None,
    time: given.Time = None,
    model: given.Models = None,
    others: given.Others = True,
    folds: given.CompareFolds = 5,
    repeats: given.Repeats = None,
    options: "TableOptions",
    seed: given.Seed = 0,
    out: given.Ranking = None,
    force: given.Force = False,
) -> None:
    """Compare models on a table by repeated cross-validation.

    All models use the same splits: folds drawn at random, whole groups (--group), or each fold tested on later rows
    than it was trained on (--time). Logistic regression, a random forest and an RBF-SVM are compared too. A model is
    called worse than the best only if the corrected resampled t-test, adjusted for the number of models, shows it.
    """
    from lvq import workflow
    from lvq.tables.write import check_table_output, write_table

    path = None if out is None else check_table_output(out, force=force)
    chosen = {} if not model else {"models": model}
    with _computing() as progress:
        result = workflow.compare(
            table, target, group=group, time=time, others=others, folds=folds,
            repeats=repeats, options=options, seed=seed, progress=progress, **chosen,
        )  # fmt: skip
    if path is not None:
        write_table(path, [result.ranking])
    console.show_comparison(result)


@app.command()
@given.command
def export(
    *,
    run: given.Run,
    onnx: given.Onnx,
    force: given.Force = False,
) -> None:
    """Write a run's model as ONNX."""
    from lvq import workflow

    path = workflow.export_run(run, onnx, force=force)
    typer.echo(f"Written: {path}")


@app.command()
@given.command
def demo(
    *,
    out: given.DemoFolder = Path("lvq-demo"),
    force: given.Force = False,
) -> None:
    """Fit and predict on a table of breast tumours."""
    from sklearn.datasets import load_breast_cancer

    from lvq import workflow
    from lvq._files import check_folder, write_folder_atomically
    from lvq.workflow.runs import FILES

    check_folder(out, [*FILES, "wdbc.csv", "predictions.csv"], force=force)
    data = load_breast_cancer(as_frame=True)
    frame = data.data.assign(diagnosis=data.target_names[data.target])
    frame.insert(0, "tumour", [f"T{number:03}" for number in range(1, len(frame) + 1)])
    with write_folder_atomically(out, force=force) as folder, _computing() as progress:
        table, options = folder / "wdbc.csv", workflow.TableOptions(drop=["tumour"])
        frame.to_csv(table, index=False)
        run = workflow.fit(table, "diagnosis", options=options, max_error=0.05, progress=progress)
        run.write(folder)
        predictions = workflow.predict(run.model, table, folder / "predictions.csv", keep=["tumour"])
    predictions.path = out / "predictions.csv"
    typer.echo(f"$ lvq fit {out}/wdbc.csv --target diagnosis --drop tumour --max-error 0.05 --out {out}\n")
    console.show_report(run.report, f"{out}: model.lvq, report.html, metrics.json")
    typer.echo(f"\n$ lvq predict {out} {out}/wdbc.csv --keep tumour --out {out}/predictions.csv\n")
    console.show_predictions(predictions)
    typer.echo(f"\nNext: open {out}/report.html in a browser, or run 'lvq fit' on your own table.")
