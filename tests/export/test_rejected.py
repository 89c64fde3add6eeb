"""Arguments, names and classes that exports reject, and links and leaf types that they have in common."""

import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lhtree import LHTClassifier, _core, export_c, export_onnx, export_sql, save
from lhtree.export import _c_links, onnx, sql
from lhtree.model.labels import find_labels
from support.clouds import fit_named, make_clouds


@pytest.fixture(scope="module")
def model():
    X, y = make_clouds(90, 3, 3)
    return LHTClassifier().fit(X, y)


def test_arguments(model, tmp_path):
    with pytest.raises(ValueError, match="dtype='float16'"):
        export_onnx(model, tmp_path / "model.onnx", dtype="float16")
    with pytest.raises(ValueError, match=r"dialect='oracle'.*'sqlite' or 'duckdb' or 'postgresql'"):
        export_sql(model, dialect="oracle")
    with pytest.raises(ValueError, match="table=''"):
        export_sql(model, table="")
    with pytest.raises(ValueError, match=r"keys=\[3\]"):
        export_sql(model, keys=[3])
    with pytest.raises(TypeError, match="pass a fitted"):
        export_sql("model")


def test_text_that_cannot_be_written(tmp_path):
    zero, broken = fit_named(["a\0b", "c"]), fit_named(["a\ud800b", "c"])
    for bad in (zero, broken):
        with pytest.raises(ValueError, match="cannot be written in C: rename it"):
            export_c(bad, tmp_path / "model.c")
        with pytest.raises(ValueError, match="cannot be written in SQL: rename it"):
            export_sql(bad)
    with pytest.raises(ValueError, match="has 5000 bytes, but C99 allows 4095: shorten it"):
        export_c(fit_named(["x" * 5000, "y"]), tmp_path / "model.c")
    with pytest.raises(ValueError, match="cannot be written in ONNX: rename it"):
        export_onnx(fit_named(["a", "b"], ["x\0y", "z"]), tmp_path / "model.onnx")
    assert not list(tmp_path.iterdir())


def test_an_empty_category_is_rejected_where_it_means_missing(tmp_path):
    pandas = pytest.importorskip("pandas")
    X, y = make_clouds(60, 1, 2)
    X = pandas.DataFrame({"x": X[:, 0], "shop": ["", "a", "b"] * 20})
    model = LHTClassifier(max_one_hot=2).fit(X, y)
    with pytest.raises(
        ValueError, match="the category '' of the column 'shop' means a missing value in ONNX"
    ):
        export_onnx(model, tmp_path / "model.onnx")
    export_onnx(LHTClassifier().fit(X, y), tmp_path / "model.onnx")
    export_c(model, tmp_path / "model.c")


class Labels:
    def __init__(self, labels):
        self.labels = labels


def test_labels_that_cannot_be_written():
    with pytest.raises(TypeError, match=r"the classes \[b'x', b'y'\] cannot be written in C"):
        find_labels(Labels([b"x", b"y"]), "C")
    with pytest.raises(ValueError, match="the class 18446744073709551615 does not fit into 64 bits"):
        find_labels(Labels([1, 2**64 - 1]), "SQL")


@pytest.mark.parametrize(
    ("wrap", "remedy"),
    [
        (lambda model: make_pipeline(StandardScaler(), model), r"last step.*pickle or joblib"),
        (lambda model: CalibratedClassifierCV(model, cv=2), r"calibrated_classifiers_.*pickle or joblib"),
        (lambda model: GridSearchCV(model, {}, cv=2), "best_estimator_"),
    ],
)
def test_wrapped_models(wrap, remedy, tmp_path):
    wrapped = wrap(LHTClassifier()).fit(*make_clouds(90, 3, 3))
    for write in (save, export_c, export_onnx):
        with pytest.raises(TypeError, match=f"model is of type {type(wrapped).__name__}: .*{remedy}"):
            write(wrapped, tmp_path / "file")


@pytest.mark.parametrize("links", [_c_links.LINKS, onnx.LINKS, sql.LINKS], ids=["c", "onnx", "sql"])
def test_every_link_of_the_core_is_exported(links):
    assert set(links) == set(_core.LINKS)
