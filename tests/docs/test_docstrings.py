"""Every public name has an example in its docstring, and the output of every example is correct."""

import doctest
import importlib
import inspect
import pkgutil

import pytest

import lhtree
from lhtree import dask
from support.pages import Trimmed

NAMES = [getattr(lhtree, name) for name in lhtree.__all__ if name != "__version__"]
ON_DASK = [getattr(dask, name) for name in dask.__all__]


def find_examples() -> list[doctest.DocTest]:
    """The examples of all modules, each once."""
    finder = doctest.DocTestFinder()
    modules = [
        importlib.import_module(found.name)
        for found in pkgutil.walk_packages(lhtree.__path__, "lhtree.")
        if not found.name.endswith("_core")
    ]
    found = [test for module in [lhtree, *modules] for test in finder.find(module, module.__name__)]
    return [test for test in found if test.examples]


EXAMPLES = find_examples()


@pytest.mark.usefixtures("closing")
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_examples(example, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # for what examples save
    failures = []
    doctest.DocTestRunner(Trimmed()).run(example, out=failures.append)
    assert not failures, "".join(failures)


@pytest.mark.parametrize("public", [*NAMES, *ON_DASK], ids=lambda public: public.__name__)
def test_every_public_name_has_an_example(public):
    assert "Examples\n--------\n>>> " in inspect.getdoc(public)
