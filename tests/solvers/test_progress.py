"""The progress line of `verbose`: on a terminal it is redrawn, elsewhere a line is printed for every tenth."""

import sys

import pytest

from lvq.solvers import progress
from lvq.solvers.progress import progress_bar, silent


class Clock:
    """The time of `progress`, which a test sets."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(progress, "time", clock)
    return clock


def write_to(monkeypatch, *, terminal):
    """Whether the output of this test goes to a terminal; a fixture would change another stdout."""
    monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal, raising=False)


def printed_after(report, capsys, total):
    """The numbers of iterations after which something is printed."""
    found = []
    for done in range(1, total + 1):
        report(done, 1.0)
        if capsys.readouterr().out:
            found.append(done)
    return found


def test_nothing_is_printed_without_verbose(capsys):
    silent(3, 0.5)
    silent(3, 0.5, last=True)
    assert capsys.readouterr().out == ""


def test_a_line_has_the_name_the_objective_and_the_time_left(clock, capsys):
    report = progress_bar("fit", 8)
    clock.now += 30
    report(2, 0.123456789)
    assert capsys.readouterr().out == "fit [#####               ] 2/8  objective 0.12346  90 s left\n"
    clock.now += 10
    report(8, 0.1)
    assert capsys.readouterr().out == f"fit [{'#' * 20}] 8/8  objective 0.1  0 s left\n"


def test_a_file_gets_a_line_for_every_tenth(capsys):
    assert printed_after(progress_bar("fit", 64), capsys, 64) == [*range(7, 64, 7), 64]


def test_the_last_iteration_has_a_line_also_when_the_last_line_is_near(capsys):
    assert printed_after(progress_bar("fit", 16), capsys, 16)[-2:] == [14, 16]
    assert printed_after(progress_bar("fit", 15), capsys, 15)[-2:] == [14, 15]


def test_a_terminal_is_redrawn_for_every_hundredth(clock, capsys, monkeypatch):
    write_to(monkeypatch, terminal=True)
    assert printed_after(progress_bar("fit", 250), capsys, 11) == [3, 6, 9]


def test_a_terminal_has_one_line_until_the_end(clock, capsys, monkeypatch):
    write_to(monkeypatch, terminal=True)
    report = progress_bar("fit", 2)
    report(1, 0.5)
    assert capsys.readouterr().out == "\rfit [##########          ] 1/2  objective 0.5  0 s left"
    report(2, 0.5)
    assert capsys.readouterr().out == f"\rfit [{'#' * 20}] 2/2  objective 0.5  0 s left\n"


@pytest.mark.parametrize("live", [True, False])
def test_a_fit_that_stops_early_ends_its_line(live, clock, capsys, monkeypatch):
    write_to(monkeypatch, terminal=live)
    report = progress_bar("fit", 100)
    report(20, 0.5)
    capsys.readouterr()
    report(21, 0.5, last=True)  # not shown yet
    line = "fit [####                ] 21/100  objective 0.5  0 s left\n"
    assert capsys.readouterr().out == ("\r" + line if live else line)
    report(21, 0.5, last=True)  # already shown: the cursor goes to the next line of a terminal
    assert capsys.readouterr().out == ("\n" if live else "")


def test_the_end_is_printed_once(clock, capsys, monkeypatch):
    write_to(monkeypatch, terminal=True)
    report = progress_bar("fit", 4)
    report(4, 0.5)
    assert capsys.readouterr().out.endswith("\n")
    report(4, 0.5, last=True)
    assert capsys.readouterr().out == ""
