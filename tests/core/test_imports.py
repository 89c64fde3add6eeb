"""Tests of the modules that `import lhtree` loads, and of missing names and extras."""

import pytest

import lhtree
from lhtree._extras import import_extra
from support.fresh import loaded_after, run


def test_importing_the_package_loads_neither_scikit_learn_nor_scipy_nor_pandas():
    assert loaded_after("import lhtree") == []
    assert loaded_after("import lhtree; lhtree.Scorer; dir(lhtree); lhtree.__version__") == []


def test_touching_an_estimator_loads_scikit_learn():
    assert "sklearn" in loaded_after("import lhtree; lhtree.LHTClassifier")


def test_fitting_and_predicting_needs_no_extra():
    code = "from lhtree import LHTClassifier\nLHTClassifier().fit([[0.0], [1.0]], [0, 1]).predict([[0.0]])"
    assert not {"matplotlib", "typer"} & set(loaded_after(code))


def test_public_names():
    assert dir(lhtree) == sorted(lhtree.__all__)
    for name in lhtree.__all__:
        value = getattr(lhtree, name)
        assert vars(lhtree)[name] is value  # found once, then there
    assert run("from lhtree import *; print(LHTClassifier.__name__)") == "LHTClassifier"


def test_unknown_names(rejects):
    with rejects:
        lhtree.LHTRegresor  # noqa: B018
    assert not hasattr(lhtree, "__path_to_nowhere__")


def test_missing_extra_raises_with_the_remedy(rejects):
    with rejects as caught:
        import_extra("no_such_module.part", "plots")
    assert caught.value.name == "no_such_module"


def test_installed_extra_is_imported():
    assert import_extra("json.decoder", "json").JSONDecoder


def test_broken_extra_raises_its_own_error(tmp_path, monkeypatch):
    (tmp_path / "half_installed.py").write_text("import no_such_module")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match=r"^No module named 'no_such_module'$"):
        import_extra("half_installed", "plots")
