"""The paper's nine data sets: names, classes, sources and citations."""

from __future__ import annotations

from dataclasses import dataclass

LICENCE = "CC BY 4.0 (https://creativecommons.org/licenses/by/4.0/)"


@dataclass(frozen=True)
class Source:
    """UCI's file: folder and name of the archive, the file inside it, and the sha256 of the values."""

    number: int
    archive: str
    member: str
    delimiter: str | None
    digest: str


@dataclass(frozen=True)
class About:
    """What a data set is; `classes` maps published labels to names, in the order of the targets 0 … K-1."""

    name: str
    title: str
    page: str
    features: tuple[str, ...]
    classes: dict[str, str]
    description: str
    citation: str

    def describe(self, counts: list[int]) -> str:
        """DESCR of the Bunch."""
        classes = ", ".join(
            f"{number} {name} ({label!r}: {n_rows} rows)"
            for number, ((label, name), n_rows) in enumerate(zip(self.classes.items(), counts, strict=True))
        )
        return (
            f"{self.title}\n{'=' * len(self.title)}\n{self.description}\n\n"
            f"Rows: {sum(counts)}\nFeatures: {len(self.features)} ({', '.join(self.features)})\n"
            f"Targets (published label): {classes}\n"
            f"Page: {self.page}\nLicence: {LICENCE}\nCitation: {self.citation}\n"
        )


def _about(
    name: str,
    title: str,
    number: int,
    features: str,
    classes: dict[str, str],
    description: str,
    citation: str,
) -> About:
    page = f"https://archive.ics.uci.edu/dataset/{number}"
    return About(name, title, page, tuple(features.split()), classes, description, citation)


WINE = _about(
    "wine",
    "Wine",
    109,
    "alcohol malic_acid ash alcalinity_of_ash magnesium total_phenols flavanoids nonflavanoid_phenols "
    "proanthocyanins color_intensity hue od280/od315_of_diluted_wines proline",
    {"1": "Barolo", "2": "Grignolino", "3": "Barbera"},
    "Chemical analyses of wines of three cultivars from one region of Italy. The donors number the cultivars; "
    "their names are those of Forina's original study.",
    "Aeberhard, S. and Forina, M. (1992). Wine. UCI Machine Learning Repository. "
    "https://doi.org/10.24432/C5PC7J",
)
_NUCLEI = (
    "radius texture perimeter area smoothness compactness concavity concave_points symmetry fractal_dimension"
)
WDBC = _about(
    "wdbc",
    "Breast Cancer Wisconsin (Diagnostic)",
    17,
    " ".join(
        [f"mean_{name}" for name in _NUCLEI.split()]
        + [f"{name}_error" for name in _NUCLEI.split()]
        + [f"worst_{name}" for name in _NUCLEI.split()]
    ),
    {"M": "malignant", "B": "benign"},
    "Shapes of cell nuclei in images of fine needle aspirates of breast masses: mean, standard error and mean "
    "of the three largest values. Targets are those of scikit-learn's load_breast_cancer.",
    "Wolberg, W., Mangasarian, O., Street, N. and Street, W. (1993). Breast Cancer Wisconsin (Diagnostic). "
    "UCI Machine Learning Repository. https://doi.org/10.24432/C5DW2B",
)
SEEDS = _about(
    "seeds",
    "Seeds",
    236,
    "area perimeter compactness length_of_kernel width_of_kernel asymmetry_coefficient length_of_kernel_groove",
    {"1": "Kama", "2": "Rosa", "3": "Canadian"},
    "Geometry of kernels of three varieties of wheat, from soft X-ray images.",
    "Charytanowicz, M., Niewczas, J., Kulczycki, P., Kowalski, P. and Lukasik, S. (2010). Seeds. "
    "UCI Machine Learning Repository. https://doi.org/10.24432/C5H30K",
)
BANKNOTE = _about(
    "banknote",
    "Banknote Authentication",
    267,
    "variance skewness curtosis entropy",
    {"0": "0", "1": "1"},
    "Wavelet statistics of images of genuine and forged banknotes. The donor does not say which class is which. "
    "24 rows repeat an earlier row.",
    "Lohweg, V. (2012). Banknote Authentication. UCI Machine Learning Repository. "
    "https://doi.org/10.24432/C55P57",
)
RICE = _about(
    "rice",
    "Rice (Cammeo and Osmancik)",
    545,
    "Area Perimeter Major_Axis_Length Minor_Axis_Length Eccentricity Convex_Area Extent",
    {"Cammeo": "Cammeo", "Osmancik": "Osmancik"},
    "Shapes of grains of two varieties of rice, from images.",
    "Cinar, I. and Koklu, M. (2019). Rice (Cammeo and Osmancik). UCI Machine Learning Repository. "
    "https://doi.org/10.24432/C5MW4Z",
)
_WORDS = (
    "make address all 3d our over remove internet order mail receive will people report addresses free business "
    "email you credit your font 000 money hp hpl george 650 lab labs telnet 857 data 415 85 technology 1999 parts "
    "pm direct cs meeting original project re edu table conference"
)
SPAMBASE = _about(
    "spambase",
    "Spambase",
    94,
    " ".join(
        [f"word_freq_{word}" for word in _WORDS.split()]
        + [f"char_freq_{character}" for character in ";([!$#"]
        + [f"capital_run_length_{name}" for name in ("average", "longest", "total")]
    ),
    {"0": "not spam", "1": "spam"},
    "Frequencies of words and characters, in percent, and runs of capital letters in e-mails. "
    "391 rows repeat an earlier row.",
    "Hopkins, M., Reeber, E., Forman, G. and Suermondt, J. (1999). Spambase. UCI Machine Learning Repository. "
    "https://doi.org/10.24432/C53G6X",
)
EEG_EYE_STATE = _about(
    "eeg_eye_state",
    "EEG Eye State",
    264,
    "AF3 F7 F3 FC5 T7 P7 O1 O2 P8 T8 FC6 F4 F8 AF4",
    {"0": "open", "1": "closed"},
    "117 seconds of one person's EEG, 14 electrodes, in order of time: rows close in time are alike, so random "
    "splits flatter every model. Four rows (898, 10386, 11509, 13179) hold values far outside the range.",
    "Roesler, O. (2013). EEG Eye State. UCI Machine Learning Repository. https://doi.org/10.24432/C57G7J",
)
MAGIC = _about(
    "magic",
    "MAGIC Gamma Telescope",
    159,
    "fLength fWidth fSize fConc fConc1 fAsym fM3Long fM3Trans fAlpha fDist",
    {"g": "gamma", "h": "hadron"},
    "Simulated images of showers of particles in a Cherenkov telescope: gamma rays (signal) and hadrons "
    "(background). 115 rows repeat an earlier row.",
    "Bock, R. (2004). MAGIC Gamma Telescope. UCI Machine Learning Repository. https://doi.org/10.24432/C52C8B",
)
SKIN = _about(
    "skin",
    "Skin Segmentation",
    229,
    "B G R",
    {"1": "skin", "2": "not skin"},
    "Colours of pixels of skin and of other things, sorted by class. Only 51444 of the 245057 rows are distinct, "
    "so random splits share most rows between training and test.",
    "Bhatt, R. and Dhall, A. (2012). Skin Segmentation. UCI Machine Learning Repository. "
    "https://doi.org/10.24432/C5T30C",
)

SOURCES = {
    "seeds": Source(
        236,
        "seeds.zip",
        "seeds_dataset.txt",
        None,
        "41b352d2968d69187c70399b3a4bc2bf559415f03f54b448cc22f02263bf2e0e",
    ),
    "banknote": Source(
        267,
        "banknote+authentication.zip",
        "data_banknote_authentication.txt",
        ",",
        "c8b1119eb083379bd2f3a6832ecff82d63042f0097ea0c237eda326aac6b596c",
    ),
    "rice": Source(
        545,
        "rice+cammeo+and+osmancik.zip",
        "Rice_Cammeo_Osmancik.arff",
        ",",
        "ddb5f27355f708a26ebcca9c2c455a6bef406099de65f2a296b2bee20b0ea846",
    ),
    "spambase": Source(
        94,
        "spambase.zip",
        "spambase.data",
        ",",
        "e3b33ef009af0f1c3965732caf95580e4f8fa2e68d9696397f28e8a98a62d447",
    ),
    "eeg_eye_state": Source(
        264,
        "eeg+eye+state.zip",
        "EEG Eye State.arff",
        ",",
        "f79ad2a6ab1f628e6be1a3ad6007b46a72762a160f8f9bc256ad198ffbb261ad",
    ),
    "magic": Source(
        159,
        "magic+gamma+telescope.zip",
        "magic04.data",
        ",",
        "21977d8fa5a8efd969467c0e533810acdc934dd4b9a6697a2e620e5459a6e919",
    ),
    "skin": Source(
        229,
        "skin+segmentation.zip",
        "Skin_NonSkin.txt",
        None,
        "223c928b3a7369808e25db11f620ab6c341275f02fe189b49d1f3a7aec6ff118",
    ),
}
