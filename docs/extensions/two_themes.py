"""Examples: their order, and their pictures for light and for dark pages; every figure is saved twice.

For dark pages the colours of the classes become those of the report on a dark page, and greys are inverted; other
colours, such as those of heat maps, stay.
"""

import os
from pathlib import Path

import numpy as np
from matplotlib import colors
from matplotlib import pyplot as plt
from matplotlib.artist import Artist
from matplotlib.collections import Collection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Annotation, Text

# the order of the gallery
EXAMPLES = [
    "voronoi", "relevances", "planes", "rings", "local_metrics", "reject", "guarantee", "digits", "certified",
    "counterfactual", "intervals", "spectra", "text", "missing", "report",
]  # fmt: skip
BACKGROUND, TEXT = colors.to_rgb("#14181e"), colors.to_rgb("#eef1f4")
GREY = 0.06  # difference of the channels below which a colour is a grey
# the palette of lvq.plots, and what the report makes of it on a dark page
DARK = {
    "#0072b2": "#4aa8e8", "#e69f00": "#eab541", "#009e73": "#33c79c", "#cc79a7": "#e39bc8", "#56b4e9": "#a6dcff",
    "#d55e00": "#f0813a",
}  # fmt: skip


def dark(rgba: tuple[float, ...]) -> tuple[float, ...]:
    """A colour on a dark page."""
    *rgb, alpha = colors.to_rgba(rgba)
    if (name := colors.to_hex(rgb)) in DARK:
        rgb = colors.to_rgb(DARK[name])
    elif max(rgb) - min(rgb) < GREY:
        light = sum(rgb) / 3
        rgb = [light * b + (1 - light) * t for b, t in zip(BACKGROUND, TEXT)]
    return (*rgb, alpha)


def recolour(artist: Artist) -> None:
    """Set the colours of an artist to those of a dark page."""
    if isinstance(artist, Text):
        artist.set_color(dark(artist.get_color()))
        if isinstance(artist, Annotation) and artist.arrow_patch is not None:
            recolour(artist.arrow_patch)
    elif isinstance(artist, Line2D):
        face, edge = artist.get_markerfacecolor(), artist.get_markeredgecolor()
        artist.set_color(dark(artist.get_color()))
        artist.set_markerfacecolor(dark(face) if face not in ("none", "None") else face)
        artist.set_markeredgecolor(dark(edge) if edge not in ("none", "None") else edge)
    elif isinstance(artist, Patch):
        face, edge = artist.get_facecolor(), artist.get_edgecolor()
        artist.set_facecolor(dark(face))
        artist.set_edgecolor(dark(edge))
    elif isinstance(artist, Collection) and artist.get_array() is None:
        faces, edges = artist.get_facecolor(), artist.get_edgecolor()
        artist.set_facecolor([dark(face) for face in faces] if len(faces) else "none")
        artist.set_edgecolor([dark(edge) for edge in edges] if len(edges) else "none")


def make_dark(figure: Figure) -> None:
    """Recolour a whole figure, its images with the colours of classes too."""
    heat_maps = [axes for axes in figure.axes if any(np.ndim(image.get_array()) == 2 for image in axes.images)]
    cells = {text for axes in heat_maps for text in axes.texts}  # on colours that stay
    for artist in figure.findobj():
        if artist not in cells:
            recolour(artist)
    for axes in figure.axes:
        axes.set_facecolor(BACKGROUND)
        for image in axes.images:
            pixels = np.asarray(image.get_array())
            if pixels.ndim == 3 and pixels.shape[2] == 4:  # regions: a colour per class, transparent
                kinds, index = np.unique(pixels[..., :3].reshape(-1, 3), axis=0, return_inverse=True)
                shown = np.array([dark((*kind, 1.0))[:3] for kind in kinds])[index.ravel()]
                image.set_data(np.dstack([shown.reshape(*pixels.shape[:2], 3), pixels[..., 3]]))
    figure.set_facecolor(BACKGROUND)


class Order:
    """Sorts the examples of the gallery; one that is not in the list comes last."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __call__(self, file: str) -> tuple[int, str]:
        name = Path(file).stem.removeprefix("plot_")
        return (EXAMPLES.index(name) if name in EXAMPLES else len(EXAMPLES), name)


def scraper(block: tuple, block_vars: dict, gallery_conf: dict) -> str:
    """The pictures of a block of an example, as reStructuredText."""
    parts = []
    for number, path in zip(plt.get_fignums(), block_vars["image_path_iterator"]):
        figure, light = plt.figure(number), Path(path)
        other = light.with_name(f"{light.stem}_dark.png")
        title = next((axes.get_title() for axes in figure.axes if axes.get_title()), "")
        suptitle = figure.get_suptitle()
        figure.savefig(light, dpi=150, bbox_inches="tight")
        make_dark(figure)
        figure.savefig(other, dpi=150, bbox_inches="tight")
        alt = " ".join((suptitle or title or light.stem).split())
        for file, kind in (light, "only-light"), (other, "only-dark"):
            where = os.path.relpath(file, gallery_conf["src_dir"])
            parts.append(f".. image:: /{where}\n   :alt: {alt}\n   :class: example-picture {kind}\n")
    plt.close("all")
    return "\n" + "\n".join(parts) + "\n" if parts else ""
