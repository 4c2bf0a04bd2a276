"""How numbers are worded on the page; the script words those it changes in the same way."""

from __future__ import annotations

from typing import Any

NONE = "–"


def percent(share: float | None) -> str:
    """A share with one decimal, or two where one would round to 100 %.

    Examples
    --------
    >>> percent(0.9731), percent(0.9996), percent(None)
    ('97.3 %', '99.96 %', '–')
    """
    if share is None:
        return NONE
    digits = 2 if 0.9995 <= share < 1 else 1
    return f"{100 * share:.{digits}f} %"


def number(value: float | None, digits: int = 4) -> str:
    """Four significant digits, without exponents for the usual sizes.

    Examples
    --------
    >>> number(1234.5678), number(0.012345), number(3.0), number(2.5e-7), number(None)
    ('1235', '0.01235', '3', '2.5e-07', '–')
    """
    if value is None:
        return NONE
    if value and (abs(value) >= 1e7 or abs(value) < 1e-4):
        return f"{value:.3g}"
    return f"{value:.0f}" if abs(value) >= 10 ** (digits - 1) else f"{value:.{digits}g}"


def signed(share: float) -> str:
    """A share in percent with its sign.

    Examples
    --------
    >>> signed(0.123), signed(-0.5), signed(-0.001)
    ('+12 %', '−50 %', '0 %')
    """
    size = f"{abs(100 * share):.0f}"
    return f"{'' if size == '0' else '+' if share > 0 else '−'}{size} %"


def counted(count: int, one: str, many: str | None = None) -> str:
    """A number with its noun.

    Examples
    --------
    >>> counted(1, "sample"), counted(2, "class", "classes")
    ('1 sample', '2 classes')
    """
    return f"{count:,}".replace(",", " ") + f" {one if count == 1 else many or one + 's'}"


def cut(name: str, length: int = 40) -> str:
    """A name short enough for a line of text.

    Examples
    --------
    >>> cut("width"), cut("a very long name", 8)
    ('width', 'a very …')
    """
    return name if len(name) <= length else name[: length - 1] + "…"


def place(value: float | None, low: float | None, high: float | None) -> float:
    """Where a value lies between the bounds, from 0 to 1.

    Examples
    --------
    >>> place(5.0, 0.0, 10.0), place(99.0, 0.0, 10.0), place(1.0, 1.0, 1.0)
    (0.5, 1.0, 0.5)
    """
    if value is None or low is None or high is None or high <= low:
        return 0.5
    return min(1.0, max(0.0, (value - low) / (high - low)))


def ratio(width: float, height: float) -> str:
    """Width to height of the map, so that both axes have one scale, within what a page can hold.

    Examples
    --------
    >>> ratio(4.0, 2.0), ratio(3.0, 3.0)
    ('1.60', '1.00')
    """
    return f"{min(1.6, max(0.9, width / height)):.2f}"


FILTERS: dict[str, Any] = {"percent": percent, "number": number, "signed": signed}
