"""The commands: each calls one function of `lvq.workflow` with its arguments and prints the result."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lvq.cli import options as given
from lvq.cli import output
from lvq.cli.console import check_model, print_json, progress_bar, report_errors
from lvq.cli.quick_checks import check_model_name, check_names, check_tables, need_target

if TYPE_CHECKING:
    from lvq.typing import Argument

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


@app.command()
def fit(
    table: given.Tables,
    target: given.Target = None,
    out: given.NewRun = None,
    group: given.Group = None,
    time: given.Time = None,
    test: given.TestTable = None,
    model: given.Model = "lvq",
    prototypes: given.Prototypes = None,
    rank: given.Rank = None,
    kernel: given.Kernel = None,
    sample_prototypes: given.SamplePrototypes = False,
    missing: given.Missing = "auto",
    max_error: given.MaxError = None,
    confidence: given.Confidence = 0.95,
    coverage: given.Coverage = None,
    features: given.Features = None,
    drop: given.Drop = None,
    categorical: given.Categorical = None,
    date: given.Date = None,
    missing_mark: given.MissingMark = None,
    encoding: given.Encoding = None,
    class_weight: given.ClassWeight = None,
    prices: given.Prices = None,
    test_size: given.TestSize = 0.25,
    folds: given.Folds = 5,
    seed: given.Seed = 0,
    threads: given.Threads = None,
    force: given.Force = False,
    json: given.Json = False,
    debug: given.Debug = False,
) -> None:
    """Fit a model to a table; write model, report and metrics.

    Numbers are standardised, texts are one-hot encoded. A missing number becomes the median of its column, with an
    indicator feature, or is ignored where that is better on the folds; a missing text is a category. Rows without a
    class, and columns that are empty, constant, without a name or row numbers, are left out with a note.
    """
    with report_errors(debug):
        check_tables(*table, *([] if test is None else [test]))
        check_model_name(model)
        target = need_target(target, table[0], encoding)
        named = (target, group, time, *(features or ()), *(drop or ()), *(categorical or ()), *(date or ()))
        check_names(table[0], named, encoding)
        if out is None:
            raise typer.BadParameter("name a folder for model, report and metrics.", param_hint="'--out'")
        from lvq.workflow import fit_table

        ways = {"auto": "raise", "impute": "raise", "ignore": "ignore"}
        if missing not in ways:
            raise typer.BadParameter(f"--missing must be one of {', '.join(ways)}, got {missing!r}.")
        check_model(
            model, prototypes=prototypes, rank=rank, kernel=kernel, sample_prototypes=sample_prototypes,
            missing=ways[missing],
        )  # fmt: skip
        if max_error is not None and coverage is not None:
            raise typer.BadParameter("give --max-error or --coverage, not both: a guarantee sets the coverage.")
        with progress_bar() as progress:
            result = fit_table(
                table if len(table) > 1 else table[0],
                target,
                out=out,
                group=group,
                time=time,
                test=test,
                model=model,
                prototypes=prototypes,
                rank=rank,
                kernel=kernel,
                sample_prototypes=sample_prototypes,
                missing=missing,
                max_error=max_error,
                confidence=confidence,
                coverage=coverage,
                features=features or (),
                drop=drop or (),
                categorical=categorical or (),
                dates=date or (),
                missing_marks=missing_mark or (),
                encoding=encoding,
                class_weight=class_weight,
                prices=prices,
                test_size=test_size,
                folds=folds,
                seed=seed,
                threads=threads,
                force=force,
                progress=progress,
            )
        output.show_fit(result, as_json=json)


@app.command()
def predict(
    model: given.ModelFile,
    table: given.Table,
    out: given.PredictionFile,
    keep: given.Keep = None,
    probabilities: given.Probabilities = False,
    missing_mark: given.MissingMark = None,
    encoding: given.Encoding = None,
    raw_text: given.RawText = False,
    threads: given.Threads = None,
    force: given.Force = False,
    json: given.Json = False,
    debug: given.Debug = False,
) -> None:
    """Predict the rows of a table of any length.

    Columns of the predictions: label; certainty (higher is more certain); accepted; reason (for rejection); winner (the
    nearest prototype, named as in the report); certified_radius (no smaller change of the row changes the label, in
    standardised units, with 0 or 1 for a category; empty where the model has none).

    A row with an unknown category, or with a missing value in a column that had none in training, is rejected.
    """
    with report_errors(debug):
        check_tables(table)
        from lvq.workflow import predict_table

        with progress_bar() as progress:
            result = predict_table(
                model,
                table,
                out,
                keep=keep or (),
                probabilities=probabilities,
                missing_marks=missing_mark or (),
                encoding=encoding,
                escape_formulas=not raw_text,
                threads=threads,
                force=force,
                progress=lambda rows: progress("Rows predicted", rows, None),
            )
        output.show_predictions(result, as_json=json)


@app.command()
def validate(
    run: given.Run,
    table: given.Table,
    target: given.OtherTarget = None,
    out: given.Folder = None,
    encoding: given.Encoding = None,
    force: given.Force = False,
    json: given.Json = False,
    debug: given.Debug = False,
) -> None:
    """Test a fitted model on a labelled table from elsewhere.

    Writes validation-TABLE.html and validation-TABLE.json into the folder of the run: accuracy, coverage, metrics by
    class, whether the guarantee was kept, and the drift of the features and of the certainty since the fit.
    """
    with report_errors(debug):
        check_tables(run, table)
        from lvq.workflow import validate_table

        with progress_bar() as progress:
            result = validate_table(
                run,
                table,
                target=target,
                out=out,
                encoding=encoding,
                force=force,
                progress=lambda rows: progress("Rows validated", rows, None),
            )
        output.show_validation(result, as_json=json)


@app.command()
def compare(
    table: given.Tables,
    target: given.Target = None,
    group: given.Group = None,
    time: given.Time = None,
    model: given.Models = None,
    prototypes: given.PrototypeNumbers = None,
    rivals: given.Rivals = True,
    missing: given.Missing = "auto",
    folds: given.CompareFolds = 5,
    repeats: given.Repeats = None,
    features: given.Features = None,
    drop: given.Drop = None,
    categorical: given.Categorical = None,
    date: given.Date = None,
    missing_mark: given.MissingMark = None,
    encoding: given.Encoding = None,
    seed: given.Seed = 0,
    threads: given.Threads = None,
    json: given.Json = False,
    debug: given.Debug = False,
) -> None:
    """Compare models on a table by repeated cross-validation.

    All models use the same splits: folds drawn at random, whole groups (--group), or each fold tested on later rows
    than it was trained on (--time). Logistic regression, a random forest and an RBF-SVM are among the models. A model
    is called worse than the best only where the corrected resampled t-test, adjusted for the number of models, says so.
    Missing numbers are filled or ignored for each model, as by 'lvq fit'. The Pareto set holds the models for which no
    other is better in accuracy and in number of prototypes.
    """
    with report_errors(debug):
        check_tables(*table)
        for name in model or ():
            check_model_name(name)
        target = need_target(target, table[0], encoding)
        named = (target, group, time, *(features or ()), *(drop or ()), *(categorical or ()), *(date or ()))
        check_names(table[0], named, encoding)
        from lvq.workflow import compare_table

        given_options: dict[str, Argument] = {"models": model, "prototypes": prototypes}
        with progress_bar() as progress:
            result = compare_table(
                table if len(table) > 1 else table[0],
                target,
                group=group,
                time=time,
                rivals=rivals,
                missing=missing,
                folds=folds,
                repeats=repeats,
                features=features or (),
                drop=drop or (),
                categorical=categorical or (),
                dates=date or (),
                missing_marks=missing_mark or (),
                encoding=encoding,
                seed=seed,
                threads=threads,
                progress=progress,
                **{name: value for name, value in given_options.items() if value},
            )
        output.show_comparison(result, as_json=json)


@app.command()
def report(run: given.Run, json: given.Json = False, debug: given.Debug = False) -> None:
    """Write a run's report.html again, from its metrics.json."""
    with report_errors(debug):
        from lvq.workflow import report_run

        output.show_file(report_run(run), as_json=json)


@app.command()
def export(
    run: given.Run,
    onnx: given.Onnx,
    force: given.Force = False,
    json: given.Json = False,
    debug: given.Debug = False,
) -> None:
    """Write a run's model as ONNX."""
    with report_errors(debug):
        from lvq.workflow import export_run

        output.show_file(export_run(run, onnx, force=force), as_json=json)


@app.command()
def demo(
    out: given.DemoFolder = Path("lvq-demo"),
    force: given.Force = False,
    json: given.Json = False,
    debug: given.Debug = False,
) -> None:
    """Fit and predict on a table of breast tumours."""
    with report_errors(debug):
        from lvq.workflow import run_demo

        with progress_bar() as progress:
            result = run_demo(out, force=force, progress=progress)
        if json:
            predictions = output.predictions_as_dict(result.predictions)
            print_json({**output.fit_as_dict(result.fit), "predictions": predictions})
            return
        typer.echo(f"$ lvq fit {out}/wdbc.csv --target diagnosis --drop tumour --max-error 0.05 --out {out}\n")
        output.show_fit(result.fit, as_json=False)
        typer.echo(f"\n$ lvq predict {out} {out}/wdbc.csv --keep tumour --out {out}/predictions.csv\n")
        output.show_predictions(result.predictions, as_json=False)
        typer.echo(f"\nNext: open {out}/report.html in a browser, or run 'lvq fit' on your own table.")
