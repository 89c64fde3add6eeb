"""The paper's nine data sets, in the form of scikit-learn's loaders.

``load_wine`` and ``load_wdbc`` come with scikit-learn. The others are looked up in the folder that the environment
variable ``LHTREE_DATA`` names, then in the user's cache (``LHTREE_CACHE``, or the platform's folder for caches), then
downloaded from the UCI Machine Learning Repository and kept in the cache. Wherever a table comes from, the sha256 of
its values must be the expected one. It covers the values, not the file, since UCI may repack its files.

Each loader returns scikit-learn's ``Bunch``: ``data`` (n, m), ``target`` (n,) of 0 … K-1, ``frame`` (features and
``target``; None with ``as_frame=False``), ``feature_names``, ``target_names``, ``DESCR``, ``licence``, ``citation`` and
``url``. With ``return_X_y=True`` it returns ``(data, target)``; with ``as_frame=False`` arrays, which need no pandas.
"""

from __future__ import annotations

from typing import Any

from sklearn import datasets as _bundled

from . import _sets
from ._bunch import load, wrap

__all__ = [
    "load_banknote",
    "load_eeg_eye_state",
    "load_magic",
    "load_rice",
    "load_seeds",
    "load_skin",
    "load_spambase",
    "load_wdbc",
    "load_wine",
]


def load_wine(*, return_X_y: bool = False, as_frame: bool = True) -> Any:
    """Wine: 178 analyses, 13 features, 3 cultivars. Comes with scikit-learn.

    Examples
    --------
    >>> from lhtree.datasets import load_wine
    >>> wine = load_wine()
    >>> wine.data.shape, wine.target_names.tolist()
    ((178, 13), ['Barolo', 'Grignolino', 'Barbera'])
    """
    X, y = _bundled.load_wine(return_X_y=True)
    return wrap(_sets.WINE, X, y, return_X_y=return_X_y, as_frame=as_frame)


def load_wdbc(*, return_X_y: bool = False, as_frame: bool = True) -> Any:
    """Breast Cancer Wisconsin (Diagnostic): 569 masses, 30 features, malignant or benign. Comes with scikit-learn.

    Examples
    --------
    >>> from lhtree.datasets import load_wdbc
    >>> X, y = load_wdbc(return_X_y=True)
    >>> X.shape
    (569, 30)
    """
    X, y = _bundled.load_breast_cancer(return_X_y=True)
    return wrap(_sets.WDBC, X, y, return_X_y=return_X_y, as_frame=as_frame)


def load_seeds(*, return_X_y: bool = False, as_frame: bool = True, download_if_missing: bool = True) -> Any:
    """Seeds: 210 kernels of wheat, 7 features, 3 varieties.

    Examples
    --------
    >>> from lhtree.datasets import load_seeds
    >>> load_seeds(return_X_y=True, as_frame=False)[0].shape
    (210, 7)
    """
    return load(
        _sets.SEEDS, return_X_y=return_X_y, as_frame=as_frame, download_if_missing=download_if_missing
    )


def load_banknote(
    *, return_X_y: bool = False, as_frame: bool = True, download_if_missing: bool = True
) -> Any:
    """Banknote Authentication: 1372 images, 4 features, 2 classes.

    Examples
    --------
    >>> from lhtree.datasets import load_banknote
    >>> load_banknote(return_X_y=True, as_frame=False)[0].shape
    (1372, 4)
    """
    return load(
        _sets.BANKNOTE, return_X_y=return_X_y, as_frame=as_frame, download_if_missing=download_if_missing
    )


def load_rice(*, return_X_y: bool = False, as_frame: bool = True, download_if_missing: bool = True) -> Any:
    """Rice: 3810 grains, 7 features, Cammeo or Osmancik.

    Examples
    --------
    >>> from lhtree.datasets import load_rice
    >>> load_rice(return_X_y=True, as_frame=False)[0].shape
    (3810, 7)
    """
    return load(_sets.RICE, return_X_y=return_X_y, as_frame=as_frame, download_if_missing=download_if_missing)


def load_spambase(
    *, return_X_y: bool = False, as_frame: bool = True, download_if_missing: bool = True
) -> Any:
    """Spambase: 4601 e-mails, 57 features, spam or not.

    Examples
    --------
    >>> from lhtree.datasets import load_spambase
    >>> load_spambase(return_X_y=True, as_frame=False)[0].shape
    (4601, 57)
    """
    return load(
        _sets.SPAMBASE, return_X_y=return_X_y, as_frame=as_frame, download_if_missing=download_if_missing
    )


def load_eeg_eye_state(
    *, return_X_y: bool = False, as_frame: bool = True, download_if_missing: bool = True
) -> Any:
    """EEG Eye State: 14980 moments in order, 14 features, eyes open or closed.

    Examples
    --------
    >>> from lhtree.datasets import load_eeg_eye_state
    >>> load_eeg_eye_state(return_X_y=True, as_frame=False)[0].shape
    (14980, 14)
    """
    return load(
        _sets.EEG_EYE_STATE, return_X_y=return_X_y, as_frame=as_frame, download_if_missing=download_if_missing
    )


def load_magic(*, return_X_y: bool = False, as_frame: bool = True, download_if_missing: bool = True) -> Any:
    """MAGIC Gamma Telescope: 19020 showers, 10 features, gamma or hadron.

    Examples
    --------
    >>> from lhtree.datasets import load_magic
    >>> load_magic(return_X_y=True, as_frame=False)[0].shape
    (19020, 10)
    """
    return load(
        _sets.MAGIC, return_X_y=return_X_y, as_frame=as_frame, download_if_missing=download_if_missing
    )


def load_skin(*, return_X_y: bool = False, as_frame: bool = True, download_if_missing: bool = True) -> Any:
    """Skin Segmentation: 245057 pixels, 3 features, skin or not; most rows repeat.

    Examples
    --------
    >>> from lhtree.datasets import load_skin
    >>> load_skin(return_X_y=True, as_frame=False)[0].shape
    (245057, 3)
    """
    return load(_sets.SKIN, return_X_y=return_X_y, as_frame=as_frame, download_if_missing=download_if_missing)
