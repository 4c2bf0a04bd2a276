"""Places of short labels beside points, so that labels overlap neither each other nor other points."""

from __future__ import annotations

from collections.abc import Sequence

PLACES = ((0, -17), (0, 19), (22, 0), (-22, 0))  # of a label beside its point, in pixels
SIZE = (26, 15)  # width and height of a label with a margin
MARK = 9  # half the size of a point


def label_places(points: Sequence[tuple[float, float]]) -> list[int | None]:
    """Index of the place of each label, for points in pixels; None where no place is free.

    Examples
    --------
    >>> label_places([(0, 0), (2, 0), (200, 0)])
    [0, 1, 0]
    """
    taken: list[tuple[float, float]] = []
    found: list[int | None] = []
    for x, y in points:
        free = [place for place, (dx, dy) in enumerate(PLACES) if _is_free(x + dx, y + dy, (x, y), taken, points)]
        found.append(free[0] if free else None)
        if free:
            dx, dy = PLACES[free[0]]
            taken.append((x + dx, y + dy))
    return found


def _is_free(
    x: float, y: float, own: tuple[float, float], taken: Sequence[tuple[float, float]],
    points: Sequence[tuple[float, float]],
) -> bool:  # fmt: skip
    width, height = SIZE
    if any(abs(x - other) < width and abs(y - above) < height for other, above in taken):
        return False
    near = (width / 2 + MARK / 2, height / 2 + MARK / 2)
    return not any(abs(x - a) < near[0] and abs(y - b) < near[1] for a, b in points if (a, b) != own)
