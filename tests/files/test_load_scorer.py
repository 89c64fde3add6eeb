"""`load_scorer`: prediction with NumPy alone."""

import pickle

import numpy as np
import pandas
import pytest

from lhtree import LHForestClassifier, LHTClassifier, Scorer, load_scorer, save
from support import bridge
from support.clouds import make_clouds
from support.fresh import loaded_after


@pytest.fixture
def path(tmp_path, three):
    X, y = three
    save(LHForestClassifier(5, random_state=0).fit(X, y), tmp_path / "model.lht", metadata={"a": 1})
    return tmp_path / "model.lht"


def test_pickled_scorers_predict_the_same(path, three):
    scorer = load_scorer(path)
    sent = pickle.loads(pickle.dumps(scorer))
    np.testing.assert_array_equal(sent.predict_proba(three[0]), scorer.predict_proba(three[0]))
    assert (sent.metadata, sent.unseen, sent.quantile) == ({"a": 1}, scorer.unseen, None)


def test_prediction_of_categories_imports_numpy_only(tmp_path):
    X, y = make_clouds(60, 1, 2)
    frame = pandas.DataFrame({"x": X[:, 0], "colour": np.array(["red", "blue"])[(X[:, 0] > 0).astype(int)]})
    model = LHTClassifier().fit(frame, y)
    save(model, tmp_path / "model.lht")
    row = "numpy.array([[0.5, 'red']], dtype=object)"
    load = f"lhtree.load_scorer({str(tmp_path / 'model.lht')!r})"
    code = f"import lhtree, numpy\n{load}.predict_proba({row})"
    assert loaded_after(code) == []
    scorer = load_scorer(tmp_path / "model.lht")
    row = np.array([[0.5, "red"]], dtype=object)
    expected = model.predict_proba(pandas.DataFrame({"x": [0.5], "colour": ["red"]}))
    assert scorer.predict_proba(row).tolist() == expected.tolist()


def test_attributes_of_a_scorer(path):
    scorer = load_scorer(path)
    assert isinstance(scorer, Scorer)
    assert repr(scorer) == "Scorer(3 classes, 5 features, 15 trees)"
    assert scorer.classes_.tolist() == [0, 1, 2]
    assert scorer.feature_names == ["x0", "x1", "x2", "x3", "x4"]
    assert scorer.feature_names_in_ is None
    assert scorer.n_features_in_ == 5
    assert scorer.metadata == {"a": 1}


def test_rows_of_any_type_give_the_same_scores(path, three):
    X = three[0]
    scorer = load_scorer(path)
    for method in bridge.MODEL_METHODS:
        ask = getattr(scorer, method)
        expected = ask(X)
        assert ask(X, n_threads=2).tobytes() == expected.tobytes()
        assert ask(X.tolist()).tobytes() == expected.tobytes()
        assert ask(X.astype(object)).tobytes() == expected.tobytes()
        assert ask(np.ma.masked_array(X)).tobytes() == expected.tobytes()
        assert ask(X.astype(np.float32)).tobytes() == ask(X.astype(np.float32).astype(">f4")).tobytes()


def test_invalid_rows_are_rejected(path, three, rejects):
    scorer = load_scorer(path)
    X = three[0].copy()
    X[3, 2] = np.inf
    rejects(scorer.predict, X)
    ragged, text = [[1.0], [2.0, 3.0]], [["a", "b", "c", "d", "e"]]
    for wrong in (X[:, :4], X[0], 5.0, X[:0], ragged, text, np.ones((1, 5)) * 1j):
        rejects(scorer.predict, wrong)
    assert scorer.predict(three[0], n_threads=10**30).tolist() == scorer.predict(three[0]).tolist()
    for n_threads in (0, -1, 1.5, None):
        rejects(scorer.predict, three[0], n_threads=n_threads)


def test_frames_are_read_as_the_model_reads_them(tmp_path, two, rejects):
    """Nullable types, text of digits and times, which NumPy reads differently or not at all."""
    frame = pandas.DataFrame({"a": two[0][:, 0], "b": two[0][:, 1] > 0, "c": np.arange(len(two[0])) % 7})
    frame = frame.astype({"b": "boolean", "c": "Int64"})
    frame.loc[::5, ["b", "c"]] = pandas.NA
    for numbers in (frame, frame.set_axis([0, 1, 2], axis=1)):
        model = LHTClassifier().fit(numbers, two[1])
        save(model, tmp_path / "model.lht")
        scorer = load_scorer(tmp_path / "model.lht")
        for same in (numbers, numbers.astype(object)):
            assert scorer.predict_proba(same).tobytes() == model.predict_proba(same).tobytes()
        for wrong in ("1.5", pandas.Timestamp(0)):
            other = numbers.copy()
            other[other.columns[0]] = wrong
            rejects(scorer.predict, other)
        rejects(scorer.predict, numbers.iloc[:, :2])


def test_a_scorer_is_independent_of_its_file(tmp_path):
    X, y = make_clouds(300, 9, 3)
    model = LHForestClassifier(8, random_state=0).fit(X, y)
    save(model, tmp_path / "model.lht")
    scorer = load_scorer(tmp_path / "model.lht")
    (tmp_path / "model.lht").write_bytes(b"")
    assert scorer.predict_proba(X).tobytes() == model.predict_proba(X).tobytes()
