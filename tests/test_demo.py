"""`make demo` is what a newcomer sees first: it says what it promises, fits a terminal, and warns of nothing."""

import re
import subprocess
import sys

import pytest
from sklearn.datasets import load_breast_cancer

import lvq


@pytest.fixture(scope="module")
def shown():
    """What `python -m lvq.demo` prints."""
    result = subprocess.run([sys.executable, "-m", "lvq.demo"], check=True, capture_output=True, text=True)
    assert result.stderr == ""
    return result.stdout


def section(shown, title):
    """The lines under a title, to the next empty line."""
    found = re.search(rf"^{title}.*(\n.+)*", shown, flags=re.MULTILINE)
    assert found, f"no section {title!r} in:\n{shown}"
    return found.group().splitlines()


def test_fits_a_terminal(shown):
    assert max(map(len, shown.splitlines())) <= 80
    assert shown.isascii()


def test_tells_version_model_and_data(shown):
    assert shown.startswith(f"lvq {lvq.__version__}")
    assert re.search(r"^Model: .*LVQClassifier\(", shown, flags=re.MULTILINE)
    learned, held_out = map(int, re.search(r"learned from (\d+) .* (\d+) were held out", shown).groups())
    assert learned + held_out == len(load_breast_cancer().target)


def test_accuracy_is_that_of_its_counts_and_good(shown):
    """Every model here has more than 0.9 on this set, whatever the split; the surest answers are no worse."""
    shares = []
    for line in section(shown, "Accuracy")[:2]:
        share, right, count = re.search(r"([\d.]+)%  \((\d+) of (\d+)\)", line).groups()
        assert float(share) == pytest.approx(100 * int(right) / int(count), abs=0.05)
        shares.append(int(right) / int(count))
    assert 0.9 < shares[0] <= shares[1]


def test_prototypes_are_counted_by_class(shown):
    total, benign, malignant = map(
        int, re.search(r"Prototypes .* (\d+) +\((\d+) benign, (\d+) malignant\)", shown).groups()
    )
    assert total == benign + malignant


def test_relevances_are_named_and_sum_to_all(shown):
    _, *rows, rest = section(shown, "What it looks at")
    names = [re.match(r"  (.+?) {2,}", row).group(1) for row in rows]
    assert set(names) <= set(load_breast_cancer().feature_names)
    shares = [float(re.search(r"([\d.]+)%", row).group(1)) for row in [*rows, rest]]
    assert sum(shares) == pytest.approx(100, abs=0.5)
    assert shares[:-1] == sorted(shares[:-1], reverse=True)


@pytest.mark.parametrize("title", ["A sure answer", "An unsure answer"])
def test_an_answer_is_explained(shown, title):
    first, who, header, *rows, balance = section(shown, title)
    label, certainty = re.search(r": (\w+), certainty ([\d.]+) \((right|wrong: it was \w+)\)", first).groups()[:2]
    assert 0 <= float(certainty) <= 1
    winner, rival = re.search(r"prototype \d+ \((\w+)\); of the other class, prototype \d+ \((\w+)\)", who).groups()
    assert label == winner != rival
    assert header.split() == ["tumour", winner, rival, "speaks", "for"]
    assert {re.match(r"  (.+?) {2,}", row).group(1) for row in rows} <= set(load_breast_cancer().feature_names)
    assert all(re.search(rf"({winner}|{rival}) +\d+\.\d\d$", row) for row in rows)
    assert re.search(rf"{winner} +\d+\.\d\d$", balance)


def test_the_sure_answer_is_surer(shown):
    sure, unsure = (float(re.search(r"certainty ([\d.]+)", section(shown, f"A{a} answer")[0]).group(1))
                    for a in (" sure", "n unsure"))  # fmt: skip
    assert sure > unsure


def test_says_where_to_go_on(shown):
    assert len(section(shown, "Next")) > 2
