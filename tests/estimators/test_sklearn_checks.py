"""scikit-learn's own checks, for every estimator and for some configurations far from the defaults."""

import pytest
from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import parametrize_with_checks

from lvq import GLVQ, LGMLVQ, LVQ1, LVQ3, LVQ21, OLVQ1, RLVQ, RSLVQ, LVQClassifier
from lvq.estimators.registry import estimator_types
from lvq.model.relevance import Matrix

STEP_TWICE = (
    "online learning multiplies a sample's step by its weight; a step twice as long is not two steps, as for "
    "SGDClassifier"
)
WINDOW = "samples outside the window move nothing, whatever their weight"

# a search of one candidate on two folds: more would take minutes
QUICK = {"cv": 2, "candidates": ({"relevance": Matrix(local="prototype", ridge=0.01), "n_prototypes": 1},)}


def quick(part: type[BaseEstimator]) -> BaseEstimator:
    """An estimator with its defaults, except a search, which is shortened."""
    known = part().get_params()
    return part(**{name: value for name, value in QUICK.items() if name in known})


EVERY_ESTIMATOR = [quick(part) for part in estimator_types().values()]
RULES = (LVQ1, OLVQ1, LVQ21, LVQ3, RLVQ)
CONFIGURATIONS = [
    LGMLVQ(solver="online", relevance=Matrix(local="prototype"), n_prototypes=2),
    RSLVQ(solver="adam", decision="posterior", kernel="inverse_multiquadric"),
]


def expected_failures(estimator: BaseEstimator) -> dict[str, str]:
    """Checks that an estimator cannot pass, and why; with `xfail_strict` one that passes after all is an error."""
    failures = {}
    if isinstance(estimator, RULES) or estimator.get_params().get("solver") == "online":
        failures["check_sample_weight_equivalence_on_dense_data"] = STEP_TWICE
        failures["check_sample_weight_equivalence_on_sparse_data"] = STEP_TWICE
    if isinstance(estimator, LVQ21 | LVQ3):
        failures["check_class_weight_classifiers"] = WINDOW
    return failures


def every_check(estimators: list[BaseEstimator]) -> pytest.MarkDecorator:
    """scikit-learn's `parametrize_with_checks`, as a list: from 1.6 it is a generator, which pytest 9 refuses."""
    mark = parametrize_with_checks(estimators, expected_failed_checks=expected_failures)
    names, checks = mark.args
    return pytest.mark.parametrize(names, list(checks), **mark.kwargs)


# neither unconverged L-BFGS nor too few samples for the prototypes is a failure of a check
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore:Fewer prototypes than requested")
@every_check(EVERY_ESTIMATOR + CONFIGURATIONS)
def test_check(estimator, check):
    check(estimator)


@pytest.mark.parametrize("estimator", EVERY_ESTIMATOR, ids=lambda estimator: type(estimator).__name__)
def test_tags(estimator):
    """A classifier of dense and sparse rows for two or more classes; a transformer only with one matrix for all."""
    tags = estimator.__sklearn_tags__()
    assert tags.estimator_type == "classifier"
    assert tags.target_tags.required
    assert tags.classifier_tags.multi_class
    assert tags.input_tags.sparse
    assert not tags.input_tags.allow_nan
    assert (tags.transformer_tags is not None) == hasattr(estimator, "transform")
    assert not tags.array_api_support


@pytest.mark.parametrize("relevance", ["matrix", "local_matrix", "local_diagonal", "gradient", None])
@pytest.mark.parametrize("fitted", [True, False])
def test_only_one_shared_matrix_is_a_transformer(relevance, fitted):
    """Once fitted, by the fitted model, whatever the parameters are by then."""
    estimator = GLVQ(relevance=relevance, max_iter=2, solver="online")
    if fitted:
        estimator.fit([[0.0, 1.0], [1.0, 0.0], [0.5, 0.1]], [0, 1, 1]).set_params(relevance="fc1")
    assert (estimator.__sklearn_tags__().transformer_tags is not None) == (relevance == "matrix")
    assert hasattr(estimator, "transform") == hasattr(estimator, "set_output") == (relevance == "matrix")


@pytest.mark.parametrize("cls", [GLVQ, LVQClassifier])
@pytest.mark.parametrize("wrong", [{"relevance": "fisher"}, {"relevance": 3}], ids=str)
def test_tags_and_methods_of_wrong_parameters(cls, wrong):
    """Only `fit` and `partial_fit` refuse parameters; tags, hasattr and the HTML view do not fail."""
    estimator = cls(**wrong)
    assert estimator.__sklearn_tags__().transformer_tags is None
    assert not hasattr(estimator, "transform")
    assert hasattr(estimator, "partial_fit")
    assert cls.__name__ in estimator._repr_html_()
