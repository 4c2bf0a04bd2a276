"""The commands. Each reads its arguments, makes one call of `lvq.workflow`, and shows what came back."""

from pathlib import Path
from typing import Annotated, Any

import typer

from lvq.cli import options as given
from lvq.cli import results
from lvq.cli.running import check_model, explained, print_json, progress_bar

app = typer.Typer(
    help="Readable classifiers from a table: learn, test, predict, and know when not to answer.",
    epilog="A first look: lvq demo. Each command has its own --help.",
    no_args_is_help=True,
    rich_markup_mode=None,  # plain help is shorter, and quicker
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
    table: given.Table,
    target: given.Target,
    out: given.NewRun,
    model: given.Model = "lvq",
    prototypes: given.Prototypes = None,
    rank: given.Rank = None,
    kernel: given.Kernel = None,
    max_error: given.MaxError = None,
    confidence: given.Confidence = 0.95,
    coverage: given.Coverage = None,
    drop: given.Drop = None,
    categorical: given.Categorical = None,
    test_share: given.TestShare = 0.25,
    folds: given.Folds = 5,
    seed: given.Seed = 0,
    force: given.Force = False,
    json: given.Json = False,
    debug: given.Debug = False,
) -> None:
    """Learn from a table; write a model, a report and metrics.

    Numbers are standardised, texts become a 0 or 1 for each category. A missing number becomes the median of its
    column, with a feature that says so; a missing text is a category. Rows without a class, and columns that are empty,
    constant, nameless or count the rows, are left out with a note.
    """
    with explained(debug):
        from lvq.workflow import fit_table

        check_model(model, prototypes=prototypes, rank=rank, kernel=kernel)
        if max_error is not None and coverage is not None:
            raise typer.BadParameter("give --max-error or --coverage: a guarantee sets the coverage itself.")
        with progress_bar() as progress:
            result = fit_table(
                table,
                target,
                out=out,
                model=model,
                prototypes=prototypes,
                rank=rank,
                kernel=kernel,
                max_error=max_error,
                confidence=confidence,
                coverage=coverage,
                drop=drop or (),
                categorical=categorical or (),
                test_share=test_share,
                folds=folds,
                seed=seed,
                force=force,
                progress=progress,
            )
        results.show_fit(result, as_json=json)


@app.command()
def predict(
    model: given.ModelFile,
    table: given.Table,
    out: given.Answers,
    keep: given.Keep = None,
    force: given.Force = False,
    json: given.Json = False,
    debug: given.Debug = False,
) -> None:
    """Answer the rows of a table, however long it is.

    The answers' columns: label; certainty (higher is surer); accepted (whether to use the label); reason (why not);
    winner (the nearest prototype, as the report calls it); certified_radius (no smaller change of the row changes the
    label, in standardised units, a category counting 0 or 1; empty where the model has none).

    A row with a category that is new, or without a value that was never missing, is not accepted.
    """
    with explained(debug):
        from lvq.workflow import predict_table

        with progress_bar() as progress:
            found = predict_table(
                model,
                table,
                out,
                keep=keep or (),
                force=force,
                progress=lambda rows: progress("Rows answered", rows, None),
            )
        results.show_predictions(found, as_json=json)


@app.command()
def compare(
    table: given.Table,
    target: given.Target,
    model: given.Models = None,
    prototypes: given.PrototypeNumbers = None,
    folds: given.SomeFolds = 5,
    repeats: given.Repeats = 3,
    drop: given.Drop = None,
    categorical: given.Categorical = None,
    seed: given.Seed = 0,
    json: given.Json = False,
    debug: given.Debug = False,
) -> None:
    """Compare models on a table by repeated cross-validation.

    All models get the same splits. Each is tested against the best by a t-test that knows that the splits overlap,
    adjusted for the number of models. The Pareto set are the models that no other beats in accuracy and in number of
    prototypes at once.
    """
    with explained(debug):
        from lvq.workflow import compare_table

        for name in model or ():
            check_model(name)
        asked: dict[str, Any] = {"models": model, "prototypes": prototypes}
        with progress_bar() as progress:
            found = compare_table(
                table,
                target,
                folds=folds,
                repeats=repeats,
                drop=drop or (),
                categorical=categorical or (),
                seed=seed,
                progress=progress,
                **{name: value for name, value in asked.items() if value},
            )
        results.show_comparison(found, as_json=json)


@app.command()
def report(run: given.Run, json: given.Json = False, debug: given.Debug = False) -> None:
    """Write a run's report.html again, from its metrics.json."""
    with explained(debug):
        from lvq.workflow import report_run

        results.show_file(report_run(run), as_json=json)


@app.command()
def export(
    run: given.Run,
    onnx: given.Onnx,
    force: given.Force = False,
    json: given.Json = False,
    debug: given.Debug = False,
) -> None:
    """Write a run's model as ONNX."""
    with explained(debug):
        from lvq.workflow import export_run

        results.show_file(export_run(run, onnx, force=force), as_json=json)


@app.command()
def reproduce(
    paper: given.Paper,
    quick: given.Quick = False,
    jobs: given.Jobs = None,
    out: given.Folder = None,
    debug: given.Debug = False,
) -> None:
    """Repeat a paper's experiments (in a checkout)."""
    with explained(debug):
        from lvq.workflow import reproduce as run_experiments

        arguments = ["--quick"] * quick
        arguments += [] if jobs is None else ["--jobs", str(jobs)]
        arguments += [] if out is None else ["--out", str(out.absolute())]
        raise typer.Exit(run_experiments(paper, tuple(arguments)))


@app.command()
def demo(
    out: given.DemoFolder = Path("lvq-demo"),
    force: given.Force = False,
    json: given.Json = False,
    debug: given.Debug = False,
) -> None:
    """Show the whole job on a table of breast tumours."""
    with explained(debug):
        from lvq.workflow import demonstrate

        with progress_bar() as progress:
            shown = demonstrate(out, force=force, progress=progress)
        if json:
            answers = results.predictions_as_dict(shown.predictions)
            print_json({**results.fit_as_dict(shown.fit), "predictions": answers})
            return
        typer.echo(f"$ lvq fit {out}/wdbc.csv --target diagnosis --drop tumour --max-error 0.05 --out {out}\n")
        results.show_fit(shown.fit, as_json=False)
        typer.echo(f"\n$ lvq predict {out} {out}/wdbc.csv --keep tumour --out {out}/predictions.csv\n")
        results.show_predictions(shown.predictions, as_json=False)
        typer.echo(f"\nNext: open {out}/report.html in a browser, or try 'lvq fit' on a table of your own.")
