"""Arguments, names and classes that exports reject, and links and leaf types that they have in common."""

import pandas
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lhtree import LHTClassifier, _core, export_c, export_onnx, export_sql, save
from lhtree.export import _c_links, onnx, sql
from lhtree.tables.labels import check_labels
from support.clouds import fit_named, make_clouds


def test_arguments(model, tmp_path, rejects):
    rejects(export_onnx, model, tmp_path / "model.onnx", dtype="float16")
    rejects(export_onnx, model, tmp_path / "model.onnx", single_input="yes")
    rejects(export_sql, model, dialect="oracle")
    rejects(export_sql, model, table="")
    rejects(export_sql, model, keys=[3])
    rejects(export_sql, "model")


def test_text_that_cannot_be_written(tmp_path, rejects):
    zero, broken = fit_named(["a\0b", "c"]), fit_named(["a\ud800b", "c"])
    for bad in (zero, broken):
        rejects(export_c, bad, tmp_path / "model.c")
        rejects(export_sql, bad)
    rejects(export_c, fit_named(["x" * 5000, "y"]), tmp_path / "model.c")
    rejects(export_onnx, fit_named(["a", "b"], ["x\0y", "z"]), tmp_path / "model.onnx")
    assert not list(tmp_path.iterdir())


def test_an_empty_category_is_rejected_where_it_means_missing(tmp_path, rejects):
    X, y = make_clouds(60, 1, 2)
    X = pandas.DataFrame({"x": X[:, 0], "shop": ["", "a", "b"] * 20})
    for model in (LHTClassifier(max_one_hot=2).fit(X, y), LHTClassifier().fit(X, y)):
        rejects(export_onnx, model, tmp_path / "model.onnx")
        rejects(export_onnx, model, tmp_path / "model.onnx", single_input=True)
        export_c(model, tmp_path / "model.c")


def test_labels_that_cannot_be_written(rejects):
    rejects(check_labels, [b"x", b"y"], "C")
    rejects(check_labels, [1, 2**64 - 1], "SQL")


@pytest.mark.parametrize(
    "wrap",
    [
        lambda model: make_pipeline(StandardScaler(), model),
        lambda model: CalibratedClassifierCV(model, cv=2),
        lambda model: GridSearchCV(model, {}, cv=2),
    ],
)
def test_wrapped_models(wrap, tmp_path, rejects):
    wrapped = wrap(LHTClassifier()).fit(*make_clouds(90, 3, 3))
    for write in (save, export_c, export_onnx):
        rejects(write, wrapped, tmp_path / "file")


@pytest.mark.parametrize("links", [_c_links.LINKS, onnx.LINKS, sql.LINKS], ids=["c", "onnx", "sql"])
def test_every_link_of_the_core_is_exported(links):
    assert set(links) == set(_core.LINKS)
