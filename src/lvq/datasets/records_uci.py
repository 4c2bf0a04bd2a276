"""The records of the data sets of the UCI repository.

Rules: facts only; the numbers are those that every copy is checked against, whatever its source. OpenML
numbers are given only where that set has the same rows (its satimage and soybean do not).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from lvq.datasets.dataset import Dataset, counts_of

_LETTERS = "A B C D E F G H I J K L M N O P Q R S T U V W X Y Z"


def _uci(
    name: str,
    title: str,
    n_features: int,
    class_counts: Mapping[str, int],
    mean_magnitude: float,
    citation: str,
    *,
    sklearn_loader: str | None = None,
    openml_id: int | None = None,
    openml_labels: Mapping[str, str] | None = None,
    train_counts: Mapping[str, int] | None = None,
    papers: tuple[str, ...] = (),
) -> Dataset:
    """Make the record of a set of the UCI repository, one table of numbers in one file."""
    return Dataset(
        name,
        title,
        n_features,
        class_counts,
        mean_magnitude,
        "UCI Machine Learning Repository",
        "CC BY 4.0",
        citation,
        files=() if sklearn_loader else (f"{name}.csv.gz",),
        sklearn_loader=sklearn_loader,
        openml_id=openml_id,
        openml_labels=openml_labels or {},
        train_counts=train_counts,
        papers=papers,
    )


_GLASS = _uci(
    "glass",
    "Glass splinters: six kinds of glass from the content of oxides",
    9,
    {"1": 70, "2": 76, "3": 17, "5": 13, "6": 9, "7": 29},
    11.2659,
    "I. W. Evett, E. J. Spiehler (1987). Rule induction in forensic science. KBS in Government, 107-118.",
    openml_id=41,
    openml_labels={
        "build wind float": "1",
        "build wind non-float": "2",
        "vehic wind float": "3",
        "containers": "5",
        "tableware": "6",
        "headlamps": "7",
    },
)

UCI_RECORDS = (
    _uci(
        "iris",
        "Three species of iris flowers",
        4,
        {"setosa": 50, "versicolor": 50, "virginica": 50},
        3.4645,
        "R. A. Fisher (1936). The use of multiple measurements in taxonomic problems. Annals of Eugenics 7, 179-188.",
        sklearn_loader="load_iris",
        papers=("jin", "ridge"),
    ),
    _uci(
        "wine",
        "Wines of three growers by chemical analysis",
        13,
        {"class_0": 59, "class_1": 71, "class_2": 48},
        69.1337,
        "S. Aeberhard, M. Forina. Wine. UCI Machine Learning Repository.",
        sklearn_loader="load_wine",
        papers=("jin", "ridge"),
    ),
    _uci(
        "wdbc",
        "Breast tumours, malignant or benign, from images of cell nuclei (Wisconsin, diagnostic)",
        30,
        {"malignant": 212, "benign": 357},
        61.8907,
        "W. N. Street, W. H. Wolberg, O. L. Mangasarian (1993). Nuclear feature extraction for breast tumor diagnosis. "
        "SPIE 1905, 861-870.",
        sklearn_loader="load_breast_cancer",
        papers=("jin", "kaestner", "ridge"),
    ),
    _uci(
        "digits",
        "Handwritten digits, 8 x 8 (the test part of the optical digits)",
        64,
        counts_of("0 1 2 3 4 5 6 7 8 9", "178 182 177 183 181 182 181 179 174 180"),
        4.88416,
        "E. Alpaydin, C. Kaynak (1998). Optical Recognition of Handwritten Digits. UCI Machine Learning Repository.",
        sklearn_loader="load_digits",
    ),
    _uci(
        "diabetes",
        "Diabetes among Pima women; zeros that stand for missing values are kept",
        8,
        {"negative": 500, "positive": 268},
        44.9858,
        "J. W. Smith et al. (1988). Using the ADAP learning algorithm to forecast the onset of diabetes mellitus. "
        "Symposium on Computer Applications and Medical Care, 261-265.",
        openml_id=37,
        openml_labels={"tested_negative": "negative", "tested_positive": "positive"},
        papers=("jin", "kaestner"),
    ),
    _GLASS,
    replace(
        _GLASS,
        name="glass2",
        title="Window glass, float processed (types 1 and 3) or not (type 2)",
        class_counts={"float": 87, "non_float": 76},
        mean_magnitude=11.2648,
        files=("glass2.csv.gz",),
        openml_labels={
            "build wind float": "float",
            "vehic wind float": "float",
            "build wind non-float": "non_float",
        },
        papers=("jin",),
    ),
    replace(
        _uci(
            "heart",
            "Heart disease, absent or present (Statlog)",
            13,
            {"absent": 150, "present": 120},
            46.036,
            "D. Michie, D. J. Spiegelhalter, C. C. Taylor, editors (1994). Machine Learning, Neural and Statistical "
            "Classification. Ellis Horwood.",
            openml_id=53,
            papers=("jin",),
        ),
        files=("heart_statlog.csv.gz",),
    ),
    _uci(
        "ionosphere",
        "Radar returns from the ionosphere, good or bad; the second feature is constant",
        34,
        {"good": 225, "bad": 126},
        0.489205,
        "V. G. Sigillito et al. (1989). Classification of radar returns from the ionosphere using neural networks. "
        "Johns Hopkins APL Technical Digest 10, 262-266.",
        openml_id=59,
        openml_labels={"g": "good", "b": "bad"},
        papers=("jin", "ridge"),
    ),
    _uci(
        "sonar",
        "Sonar returns of a metal cylinder or of rocks",
        60,
        {"mine": 111, "rock": 97},
        0.281321,
        "R. P. Gorman, T. J. Sejnowski (1988). Analysis of hidden units in a layered network trained to classify sonar "
        "targets. Neural Networks 1, 75-89.",
        openml_id=40,
        openml_labels={"Mine": "mine", "Rock": "rock"},
        papers=("jin",),
    ),
    _uci(
        "vehicle",
        "Silhouettes of four vehicles (Statlog)",
        18,
        {"bus": 218, "opel": 212, "saab": 217, "van": 199},
        117.635,
        "J. P. Siebert (1987). Vehicle recognition using rule based methods. Turing Institute, TIRM-87-018.",
        openml_id=54,
        papers=("jin",),
    ),
    _uci(
        "segment",
        "Patches of outdoor images in seven classes; the third feature is constant, 224 rows are repeated",
        19,
        dict.fromkeys(("brickface", "cement", "foliage", "grass", "path", "sky", "window"), 330),
        27.3832,
        "Vision Group, University of Massachusetts (1990). Image Segmentation. UCI Machine Learning Repository.",
        openml_id=36,
        papers=("fischer",),
    ),
    _uci(
        "haberman",
        "Survival of five years after breast cancer surgery",
        3,
        {"survived_5y": 225, "died_within_5y": 81},
        39.7789,
        "S. J. Haberman (1976). Generalized residuals for log-linear models. International Biometrics Conference, "
        "104-122.",
        openml_id=43,
        openml_labels={"1": "survived_5y", "2": "died_within_5y"},
        papers=("fischer",),
    ),
    _uci(
        "soybean_small",
        "Four diseases of soybeans; features are integer codes of categories, 14 of them constant",
        35,
        {"D1": 10, "D2": 10, "D3": 10, "D4": 17},
        0.843769,
        "R. S. Michalski, R. L. Chilausky (1980). Learning by being told and learning from examples. International "
        "Journal of Policy Analysis and Information Systems 4, 125-161.",
        papers=("ridge",),
    ),
    _uci(
        "letter",
        "Printed capital letters of twenty fonts; the first 16000 rows are the usual training part",
        16,
        counts_of(
            _LETTERS,
            "789 766 736 805 768 775 773 734 755 747 739 761 792 783 753 803 783 758 748 796 813 764 752 787 786 734",
        ),
        5.92547,
        "P. W. Frey, D. J. Slate (1991). Letter recognition using Holland-style adaptive classifiers. Machine Learning "
        "6, 161-182.",
        openml_id=6,
        train_counts=counts_of(
            _LETTERS,
            "633 630 594 638 616 622 609 583 590 599 593 604 648 617 614 635 615 597 587 645 645 628 613 628 641 576",
        ),
    ),
    _uci(
        "satimage",
        "Landsat pixels of six kinds of ground (Statlog)",
        36,
        {
            "red_soil": 1533,
            "cotton_crop": 703,
            "grey_soil": 1358,
            "damp_grey_soil": 626,
            "vegetation_stubble": 707,
            "very_damp_grey_soil": 1508,
        },
        83.4718,
        "A. Srinivasan (1993). Statlog (Landsat Satellite). UCI Machine Learning Repository.",
        train_counts={
            "red_soil": 1072,
            "cotton_crop": 479,
            "grey_soil": 961,
            "damp_grey_soil": 415,
            "vegetation_stubble": 470,
            "very_damp_grey_soil": 1038,
        },
    ),
)
