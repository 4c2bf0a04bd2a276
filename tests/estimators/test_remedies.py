"""Errors about samples say what to do."""

import numpy as np
import pandas as pd
import pytest

import lvq

X, Y = np.array([[0.0, 1.0], [1.0, 0.0], [3.0, 2.0], [4.0, 3.0]]), np.array([0, 0, 1, 1])
HOLES = np.where(np.eye(4, 2, dtype=bool), np.nan, X)


def test_text_names_the_estimator_and_encoders():
    with pytest.raises(ValueError, match=r"GLVQ needs X of numbers, got text: .*'red'.*OneHotEncoder"):
        lvq.GLVQ().fit([["red", 1], ["blue", 2]], [0, 1])


def test_na_among_objects_names_the_type_that_holds_it():
    frame = pd.DataFrame({"a": [0.0, pd.NA, 3.0, 4.0], "b": X[:, 1]})
    model = lvq.GLVQ(missing="ignore").fit(frame.astype("Float64"), Y)
    for use in (lambda: lvq.GLVQ(missing="ignore").fit(frame, Y), lambda: model.predict(frame)):
        with pytest.raises(ValueError, match=r"GLVQ needs X of numbers, got pandas.NA .* by X.astype\('Float64'\)"):
            use()


def test_missing_values_name_both_ways_out():
    with pytest.raises(ValueError, match=r"contains NaN.*GLVQ does not accept.*SimpleImputer.*missing='ignore'"):
        lvq.GLVQ().fit(HOLES, Y)
    model = lvq.GLVQ().fit(X, Y)
    with pytest.raises(ValueError, match=r"contains NaN.*or fit with missing='ignore'"):
        model.predict(HOLES)


def test_missing_values_name_row_and_column():
    late = X.copy()
    late[2, 1] = np.nan
    for model in (lvq.GLVQ(), lvq.GLVQ(solver="online")):
        with pytest.raises(ValueError, match=r"contains NaN\. The first is in row 2, counted from 0, column 1\. GLVQ"):
            model.fit(late, Y)
    with pytest.raises(ValueError, match="row 2, counted from 0, column 'b'"):
        lvq.GLVQ().partial_fit(pd.DataFrame(late, columns=["a", "b"]), Y, classes=[0, 1])


@pytest.mark.parametrize(
    "y",
    [
        [0.0, 0.0, np.nan, 1.0],
        np.array(["a", "a", np.nan, "b"], dtype=object),
        pd.Series(["a", "a", pd.NA, "b"], dtype="string"),
    ],
)
def test_missing_classes(y):
    with pytest.raises(
        ValueError, match=r"^Input y contains NaN\. GLVQ needs the class of every sample; leave out the rows"
    ):
        lvq.GLVQ().fit(X, y)


@pytest.mark.parametrize("y", [["a", "a", None, "b"], [None, "a", "a", "b"]])
def test_classes_of_several_kinds(y):
    y = np.array(y, dtype=object)
    with pytest.raises(ValueError, match=r"GLVQ needs y of one kind.*got NoneType, str; leave out the rows without"):
        lvq.GLVQ().fit(X, y)


def test_without_the_parameter_the_message_stays():
    with pytest.raises(ValueError, match="contains NaN"):
        lvq.LVQ1().fit(HOLES, Y)
