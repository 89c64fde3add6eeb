"""A tree of seven rows, every number worked out by hand.

Features f and g, `normalize=None`, gamma = 2, min_samples_split = 2; T marks the targets ("b").

    row   0    1    2    3    4    5    6
    f     0    1    2    3    4    5    6
    g     0    0    4    0    0    4    4
    T     a    a    b    a    b    b    a

N1 and N2 count the targets below and above all others, N3 and N4 the others below and above all targets.
"""

import numpy as np
import pytest

from lhtree import LHTClassifier

X = np.array([[0, 0], [1, 0], [2, 4], [3, 0], [4, 0], [5, 4], [6, 4]], dtype=np.float64)
Y = np.array(list("aababba"))


def test_two_levels_and_a_leaf_with_slopes():
    # Root: E[f|T] = (2+4+5)/3 = 11/3, E[f|N] = (0+1+3+6)/4 = 5/2, SD_f = 7/6.
    # E[g|T] = 8/3, E[g|N] = 1, SD_g = 5/3 = 10/6. So the weights are f: 7/10, g: 1; v = float32(0.7):
    #     row   0    1    2      3    4    5      6
    #     FS    0    v    2v+4   3v   4v   5v+4   6v+4        (0, .7, 5.4, 2.1, 2.8, 7.5, 8.2)
    # N1 = 0, N2 = 0 (row 6 is above), N3 (below 4v) = rows 0, 1, 3 = 3, N4 (above 5v+4) = row 6 = 1.
    # N3 = 3 >= gamma: c midway between 3v and 4v.
    # Block 2 holds rows 2, 4, 5 (T) and 6: E[f|T] = 11/3, f of row 6 = 6: SD_f = -7/3. SD_g = 8/3 - 4 = -4/3.
    # Weights f: -1, g: -4/7; s = float32(4/7), FS = -f - s·g:
    #     row   2        4    5        6
    #     FS    -2-4s    -4   -5-4s    -6-4s      (-4.29, -4, -7.29, -8.29)
    # N2 (targets above -6-4s) = 3 >= gamma: c midway between -6-4s and -5-4s. Both sides are pure.
    model = LHTClassifier(gamma=2, normalize=None).fit(X, Y)
    tree = model.trees_[0]
    v, s = float(np.float32(7 / 10)), float(np.float32(4 / 7))
    assert tree.target == "b"
    assert tree.left.tolist() == [1, -1, 3, -1, -1]
    assert tree.right.tolist() == [2, -1, 4, -1, -1]
    assert tree.depth.tolist() == [0, 1, 1, 2, 2]
    assert tree.n_samples.tolist() == [7, 3, 4, 1, 3]
    assert tree.n_target.tolist() == [3.0, 0.0, 3.0, 0.0, 3.0]
    assert tree.weights(0) == {"x0": v, "x1": 1.0}
    assert tree.weights(2) == {"x0": -1.0, "x1": -s}
    low, high = -6.0 - 4 * s, -5.0 - 4 * s
    assert tree.offset.tolist() == [3 * v + (4 * v - 3 * v) / 2, 0.0, low + (high - low) / 2, 0.0, 0.0]

    # Root: balance 3·4/7 = 12/7; cov(f) 12/7 · 7/6 = 2 of 28: 1/14. cov(g) 12/7 · 5/3 = 20/7 of 192/7: 5/48.
    # Intercept 3/7 - 3/14 - 5/48 · 12/7 = 3/7 - 3/14 - 5/28 = 1/28.
    # Block 2: f = 2, 4, 5, 6: mean 17/4, n·var = 81 - 289/4 = 35/4; balance 3/4; cov = 3/4 · -7/3 = -7/4: -1/5.
    # g = 4, 0, 4, 4: mean 3, n·var = 48 - 36 = 12; cov = 3/4 · -4/3 = -1: -1/12.
    # Intercept 3/4 + 17/20 + 1/4 = 37/20.
    assert tree.slopes(0) == pytest.approx({"x0": 1 / 14, "x1": 5 / 48}, rel=1e-13)
    assert tree.slopes(2) == pytest.approx({"x0": -1 / 5, "x1": -1 / 12}, rel=1e-13)
    assert tree.intercept == pytest.approx([1 / 28, 0.0, 37 / 20, 0.0, 1.0], rel=1e-13)

    # d of rows 0, 1, 3 is |FS - 3.5v| at the root: beyond 1 for row 0 and 1 (2.45, 1.75), v/2 for row 3. The others
    # are measured in block 2, from c = -5.5-4s: row 2: 3.5, row 4: 1.5+4s, row 5: 0.5, row 6: 0.5.
    d = np.array([1, 1, 1, v / 2, 1, 0.5, 0.5])
    mu = np.array([0, 0, 1, 0, 1, 1, 0])
    np.testing.assert_allclose(model.predict_confidence(X)[:, 1], d, 1e-14)
    np.testing.assert_allclose(model.predict_wolf(X), np.column_stack([d * (1 - mu), d * mu]), 1e-14)
    np.testing.assert_array_equal(model.predict(X), Y)
    np.testing.assert_array_equal(model.apply(X)[:, 0], [1, 1, 4, 1, 4, 4, 3])

    # On the way the least is: row 4 has v/2 from the root, the others beyond 1 there.
    path = LHTClassifier(gamma=2, normalize=None, confidence="path").fit(X, Y)
    np.testing.assert_allclose(path.predict_confidence(X)[:, 0], [1, 1, 1, v / 2, v / 2, 0.5, 0.5], 1e-14)


def test_leaf_without_a_useful_cut_keeps_its_slopes():
    # One level only: block 2 is a leaf, whose membership 37/20 - f/5 - g/12 is clipped to [0, 1].
    #     row   2              4       5              6
    #     p     37/20 - 44/60  21/20   37/20 - 80/60  37/20 - 92/60      = 67/60, 63/60, 31/60, 19/60
    model = LHTClassifier(gamma=2, normalize=None, max_depth=1).fit(X, Y)
    mu = np.array([0, 0, 1, 0, 1, 31 / 60, 19 / 60])
    np.testing.assert_allclose(model.predict_membership(X)[:, 1], mu, 1e-13, 1e-13)
    # d = |FS - 3.5v|, FS = 5.4, 2.8, 7.5, 8.2: 2.95, 0.35, beyond 1.
    v = float(np.float32(7 / 10))
    d = np.array([1, 1, 1, v / 2, v / 2, 1, 1])
    np.testing.assert_allclose(model.predict_wolf(X)[:, 1], d * mu, 1e-13, 1e-13)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], mu, 1e-13, 1e-13)
    # A new row: f = 4, g = 3 has FS = 2.8 + 3 beyond 1, p = 37/20 - 4/5 - 1/4 = 4/5.
    np.testing.assert_allclose(model.predict_wolf([[4.0, 3.0]]), [[1 / 5, 4 / 5]], 1e-7)


def test_gini_cut():
    # f alone of rows 0 to 6 with classes a a b a b b a: cuts after row 0..5 have on their sides (t, u)
    #     after 0: (0,1) (3,3)  0 + 9/6      = 1.5
    #     after 1: (0,2) (3,2)  0 + 6/5      = 1.2    the least
    #     after 2: (1,2) (2,2)  2/3 + 1      = 1.67
    #     after 3: (1,3) (2,1)  3/4 + 2/3    = 1.42
    #     after 4: (2,3) (1,1)  6/5 + 1/2    = 1.7
    #     after 5: (3,3) (0,1)  9/6 + 0      = 1.5
    # SD_f = 7/6 > 0, so the weight is 1, and c is midway between 1 and 2.
    tree = (
        LHTClassifier(offset="gini", normalize=None, max_depth=1, min_samples_split=2)
        .fit(X[:, :1], Y)
        .trees_[0]
    )
    assert tree.weights(0) == {"x0": 1.0}
    assert tree.offset.tolist() == [1.5, 0.0, 0.0]
    assert tree.n_samples.tolist() == [7, 2, 5]


def test_normalised_by_hand():
    # f = 0 … 6: lower median 3; p5 is the least value that 1/7 >= .05 of the rows reach, 0; p95 likewise 6.
    model = LHTClassifier().fit(X, Y)
    centre, scale = model._model.normalisation
    assert centre.tolist() == [3.0, 0.0]
    assert scale == pytest.approx([6 / 3.29, 4 / 3.29], rel=1e-15)
