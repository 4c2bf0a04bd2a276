"""The records of all data sets: those of the UCI repository, and the others defined here.

Rules: facts only; the numbers are those that every copy is checked against, whatever its source. Licences
are stated as far as known and are not legal advice: check the source before you redistribute data.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from lvq.datasets.dataset import Dataset, counts_of
from lvq.datasets.records_uci import UCI_RECORDS

_DIGITS = "0 1 2 3 4 5 6 7 8 9"
_NO_LICENCE = "none stated"
_GROUPS = (
    "alt.atheism comp.graphics comp.os.ms-windows.misc comp.sys.ibm.pc.hardware comp.sys.mac.hardware comp.windows.x "
    "misc.forsale rec.autos rec.motorcycles rec.sport.baseball rec.sport.hockey sci.crypt sci.electronics sci.med "
    "sci.space soc.religion.christian talk.politics.guns talk.politics.mideast talk.politics.misc talk.religion.misc"
)

_TECATOR = Dataset(
    "tecator",
    "Near-infrared spectra of meat: fat content at least the median, or below it",
    100,
    {"low_fat": 107, "high_fat": 108},
    3.19085,
    "StatLib, data set tecator",
    "free use with credit to Tecator",
    "H. H. Thodberg (1995). Tecator data set, contained in StatLib Datasets Archive.",
    files=("tecator.csv.gz", "tecator_composition.csv.gz"),
    extras=("composition",),
    papers=("fischer",),
)
_AFFORDANCE = Dataset(
    "affordance",
    "Household objects that roll or do not roll when pushed: shape features of eight objects",
    11,
    {"rolling": 80, "non_rolling": 80},
    9679.5,
    "EU project CogX",
    _NO_LICENCE,
    "B. Ridge, D. Skocaj, A. Leonardis (2010). Self-supervised cross-modal online learning of basic object "
    "affordances for developmental robotic systems. ICRA.",
    files=("affordance.csv.gz",),
    papers=("ridge",),
)
_COIL = Dataset(
    "coil20",
    "Grey images, 128 x 128, of twenty objects turned in steps of five degrees",
    16384,
    {str(number): 72 for number in range(1, 21)},
    76.8967,
    "Columbia University, Columbia Object Image Library, processed images",
    "non-commercial research only",
    "S. A. Nene, S. K. Nayar, H. Murase (1996). Columbia Object Image Library (COIL-20). CUCS-005-96.",
    files=("coil20.npz",),
    extras=("pose",),
    papers=("fischer",),
)

_OTHER_RECORDS = (
    _TECATOR,
    replace(
        _TECATOR,
        name="tecator_20",
        title="Near-infrared spectra of meat: fat content at least 20 %, or below",
        class_counts={"low_fat": 138, "high_fat": 77},
        files=("tecator.csv.gz",),
        extras=(),
        papers=(),
    ),
    _AFFORDANCE,
    replace(
        _AFFORDANCE,
        name="affordance_full",
        title="Household objects that roll or do not roll when pushed: shape and result features of fourteen objects",
        n_features=24,
        class_counts={"rolling": 140, "non_rolling": 140},
        mean_magnitude=3552.98,
        files=("affordance_full.csv.gz",),
        extras=("object",),
        papers=(),
    ),
    Dataset(
        "usps",
        "Handwritten digits of letters of the US post, 16 x 16, values in [-1, 1]",
        256,
        counts_of(_DIGITS, "1553 1269 929 824 852 716 834 792 708 821"),
        0.877732,
        "The Elements of Statistical Learning, data set ZIP code",
        _NO_LICENCE,
        "Y. LeCun et al. (1990). Handwritten digit recognition with a back-propagation network. NIPS 2, 396-404.",
        files=("usps.npz",),
        openml_id=41082,
        openml_labels={str(number + 1): str(number) for number in range(10)},
        train_counts=counts_of(_DIGITS, "1194 1005 731 658 652 556 664 645 542 644"),
        papers=("jin",),
    ),
    Dataset(
        "20newsgroups",
        "Posts to twenty newsgroups, as raw texts with headers, split by date",
        None,
        counts_of(_GROUPS, "799 973 985 982 963 988 975 990 996 994 999 991 984 990 987 997 910 940 775 628"),
        None,
        "20 Newsgroups, version by date",
        _NO_LICENCE,
        "K. Lang (1995). NewsWeeder: learning to filter netnews. ICML, 331-339.",
        files=("20newsgroups_bydate.jsonl.xz",),
        train_counts=counts_of(
            _GROUPS, "480 584 591 590 578 593 585 594 598 597 600 595 591 594 593 599 546 564 465 377"
        ),
        papers=("jin",),
    ),
    _COIL,
    replace(
        _COIL,
        name="coil20_32x32",
        title="The images of coil20 in 32 x 32, means of blocks of 4 x 4",
        n_features=1024,
        mean_magnitude=76.8957,
        files=("coil20_32x32.npz",),
        papers=(),
    ),
    Dataset(
        "coffee",
        "Infrared spectra of Arabica and Robusta; not the (unpublished) coffee spectra of Kaestner et al.",
        286,
        {"0": 29, "1": 27},
        0.855373,
        "UCR Time Series Classification Archive, data set Coffee",
        _NO_LICENCE,
        "R. Briandet, E. K. Kemsley, R. H. Wilson (1996). Discrimination of Arabica and Robusta in instant coffee by "
        "Fourier transform infrared spectroscopy and chemometrics. Journal of Agricultural and Food Chemistry 44, "
        "170-174.",
        files=("coffee.npz",),
        train_counts={"0": 14, "1": 14},
    ),
    Dataset(
        "mnist",
        "Handwritten digits, 28 x 28, values 0 to 255",
        784,
        counts_of(_DIGITS, "6903 7877 6990 7141 6824 6313 6876 7293 6825 6958"),
        33.386,
        "MNIST database of handwritten digits",
        "CC BY-SA 3.0",
        "Y. LeCun, L. Bottou, Y. Bengio, P. Haffner (1998). Gradient-based learning applied to document recognition. "
        "Proceedings of the IEEE 86, 2278-2324.",
        files=("mnist.npz",),
        openml_id=554,
        train_counts=counts_of(_DIGITS, "5923 6742 5958 6131 5842 5421 5918 6265 5851 5949"),
    ),
)

#: All data sets by name.
DATASETS: Mapping[str, Dataset] = MappingProxyType({record.name: record for record in (*UCI_RECORDS, *_OTHER_RECORDS)})

#: Names in papers and other libraries, and the names here.
ALIASES: Mapping[str, str] = MappingProxyType(
    {
        "pima": "diabetes",
        "heart_statlog": "heart",
        "breast_cancer": "wdbc",
        "20ng": "20newsgroups",
        "20_newsgroups": "20newsgroups",
        "segmentation": "segment",
        "image_segmentation": "segment",
        "coil": "coil20",
    }
)
