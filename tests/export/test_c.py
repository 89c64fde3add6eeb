"""Exports to C: names, programs and compilers."""

import re
import subprocess
from pathlib import Path

import numpy as np
import pandas
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine

from lhtree import LHBoostClassifier, LHForestClassifier, LHTClassifier, export_c
from support import exports
from support.clouds import fit_named, make_clouds
from support.exports import spoil

PAGE = Path(__file__).parents[2] / "docs" / "exports.md"
pytestmark = pytest.mark.skipif(exports.COMPILER is None, reason="no C compiler")


def test_infinities_are_refused_in_c(model, tmp_path):
    program = exports.compile_c(model, tmp_path)
    row = np.array([0.0, np.inf, 1.0]).tobytes()
    done = subprocess.run([program], input=row, capture_output=True, check=True)
    assert np.frombuffer(done.stdout).tolist() == [-1.0, 0.0, 0.0, 0.0]


def test_c_without_ieee_arithmetic_is_refused(model, tmp_path):
    export_c(model, tmp_path / "model.c")
    command = [exports.COMPILER, "-ffast-math", "-c", "model.c"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "compile without -ffast-math" in done.stderr


def test_names_in_c(tmp_path):
    names, labels = ['a"??/b', "größe\n*/", "\\0 %d"], ["ja", "nein '?'"]
    program = exports.compile_c(fit_named(names, labels), tmp_path)
    done = subprocess.run([program, "names"], capture_output=True, check=True)
    assert done.stdout.decode().split("\0")[:-1] == names + labels


def test_several_models_in_one_program(model, tmp_path):
    for name in ("one", "n"):  # the file has names like n_targets of its own
        export_c(model, tmp_path / f"{name}.c", name=name)
    (tmp_path / "main.c").write_text(
        "int one_predict(const double*, double*); int n_predict(const double*, double*);"
        "int main(void) { double x[3] = {0}; return one_predict(x, 0) - n_predict(x, 0); }"
    )
    command = [exports.COMPILER, "one.c", "n.c", "main.c", "-o", "both"]
    subprocess.run(command, cwd=tmp_path, check=True)
    subprocess.run([tmp_path / "both"], check=True)


@pytest.mark.parametrize("name", ["", "2x", "a-b", "a" * 40, 3, "Größe"])
def test_names_that_c_does_not_take(model, name, tmp_path, rejects):
    rejects(export_c, model, tmp_path / "model.c", name=name)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "estimator",
    [LHForestClassifier(n_estimators=5, membership="least_squares"), LHBoostClassifier(max_iter=10)],
)
def test_c_equals_under_other_compilers_and_flags(estimator, tmp_path):
    X, y = make_clouds(200, 20, 3)
    model = clone(estimator).fit(X, y)
    proba = model.predict_proba(spoil(X))
    for flags in (["-O3"], ["-std=c11", "-O3", "-march=native", "-Wall", "-Werror"]):
        np.testing.assert_array_equal(exports.run_c(model, spoil(X), tmp_path, flags).proba, proba)


def test_the_c_of_the_documentation(tmp_path):
    text = PAGE.read_text(encoding="utf-8")
    (tmp_path / "main.c").write_text(re.search(r"^```c\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)[1])
    console = re.search(r"^```console\n\$ cc (.*)\n\$ (.*)\n(.*)\n```$", text, re.MULTILINE)
    X, y = load_wine(return_X_y=True)
    export_c(LHTClassifier().fit(X, load_wine().target_names[y]), tmp_path / "wine.c", name="wine")
    subprocess.run([exports.COMPILER, *console[1].split()], cwd=tmp_path, check=True)
    done = subprocess.run([console[2]], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == console[3] + "\n"


def test_c_looks_up_categories(tmp_path):
    names = [f"Ω{i % 30}\\" if i % 2 else f"a{i % 30}" for i in range(900)]
    X = pandas.DataFrame({"x": np.arange(900) % 7, "name": names})
    model = LHTClassifier().fit(X, np.arange(900) % 30 % 3)
    export_c(model, tmp_path / "model.c", name="model")
    statistic = model._model.encoding.encoders[1]
    known = [*statistic.categories, "nobody", "a"]
    lines = "".join(f'    puts_number({f}, "{name}");\n' for f in (1, 2, 3) for name in map(escape, known))
    (tmp_path / "main.c").write_text(
        "#include <stdio.h>\n#include <math.h>\ndouble model_look_up(int feature, const char *category);\n"
        'static void puts_number(int f, const char *name) { printf("%.17g\\n", model_look_up(f, name)); }\n'
        f"int main(void) {{\n{lines}    return model_look_up(1, NULL) == model_look_up(1, NULL);\n}}\n"
    )
    subprocess.run(
        [exports.COMPILER, *exports.FLAGS, "model.c", "main.c", "-o", "model"], cwd=tmp_path, check=True
    )
    done = subprocess.run([tmp_path / "model"], capture_output=True, text=True, check=True)
    codes = np.r_[np.arange(len(known) - 2), [len(known) - 2] * 2]
    np.testing.assert_array_equal(
        np.array(done.stdout.split(), dtype=float), statistic.values[:, codes].ravel()
    )


def escape(text):
    """Text as a C string."""
    return "".join(f"\\{byte:03o}" for byte in text.encode())
