"""The model document has the headings of validators, the known facts, and marked gaps."""

import re

import numpy as np
import pandas as pd
import pytest

import lhtree
from lhtree.reports._document import GAPS
from support.reports import HOSTILE


@pytest.fixture(scope="module")
def loans(tmp_path_factory):
    """Return a folder with a model file and a challenger, the challenger, and rows with their classes."""
    generator = np.random.default_rng(0)
    n = 600
    X = pd.DataFrame({"income": generator.normal(30, 8, n), "home": generator.choice(["own", "rent"], n)})
    X.loc[::3, "income"] = np.nan
    lost = X["income"].fillna(25) + 9 * (X["home"] == "own") + generator.normal(0, 6, n) < 28
    y = pd.Series(np.where(lost, "bad", "good"), name="status")
    folder = tmp_path_factory.mktemp("loans")
    settings = {"positive": "bad", "random_state": 0}
    model = lhtree.LHBoostClassifier(20, monotonic_cst={"income": -1}, **settings).fit(X[:400], y[:400])
    other = lhtree.LHTClassifier(positive="bad").fit(X[:400], y[:400])
    lhtree.save(model, folder / "loans.lht", metadata={"Purpose": "Loans of a shop", "owner": "risk"})
    lhtree.save(other, folder / "tree.lht")
    return folder, model, other, X[400:], y[400:]


def read_sections(path):
    """Return the texts of the sections of a Markdown document by heading."""
    parts = re.split(r"^## (.*)$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_sections_hold_what_is_known(loans):
    folder, model, other, X, y = loans
    drift = lhtree.monitor(model, X, period="May")
    path = lhtree.document(
        folder / "loans.lht",
        folder / "full.md",
        X,
        y,
        by="home",
        challenger=folder / "tree.lht",
        periods=[drift],
        texts={"changes": "The first version."},
    )
    sections = read_sections(path)
    assert list(sections) == list(GAPS)
    measured, compared = (
        lhtree.evaluate(model, X, y, by="home"),
        lhtree.compare(model, other, X, y, by="home"),
    )
    facts = lhtree.inspect(folder / "loans.lht")
    expected = {
        "Purpose": ["Loans of a shop", "status: one of the classes bad, good", "| owner | risk |"],
        "Data": [facts["provenance"]["fingerprint"], "33.5 %", "own", "400"],
        "Method": [
            "LHBoostClassifier",
            "income: -1",
            f"| {facts['provenance']['settings']['learning_rate']} |",
        ],
        "Performance": [f"{measured.event.gini:.4f}", *measured.event.rows()[0]],
        "Limits": ["income (33.5 %)", "counts as missing"],
        "Groups": [cell for _, _, rows in measured.groups.tables() for cell in rows[1]],
        "Stability": ["200 rows"],
        "Monitoring": ["May: 200 rows"],
        "Challengers": [cell for _, _, rows in compared.tables() for cell in rows[1]],
        "Changes": ["The first version.", facts["sha256"], "numpy"],
    }
    for heading, texts in expected.items():
        own = sections[heading].replace("\\", "")
        assert [text for text in texts if text.rstrip(" *") not in own] == []
        assert ("To be completed" in own) == (heading not in ("Purpose", "Changes"))


def test_settings_in_use_are_those_that_a_race_chose(loans):
    _, model, *_ = loans
    kept = model._model.provenance.settings
    assert {name: kept[name] for name in model.chosen_["settings"]} == model.chosen_["settings"]


def test_a_model_alone_leaves_gaps(loans):
    folder = loans[0]
    text = lhtree.document(folder / "tree.lht", folder / "alone.html").read_text(encoding="utf-8")
    assert text.count("class='gap'") == len(GAPS) + 5
    assert "15 places are marked" in text
    assert [f"<h2 id='{heading.lower()}'>" in text for heading in GAPS] == [True] * len(GAPS)
    assert "<script" not in text


def test_other_models_have_documents(tmp_path):
    generator = np.random.default_rng(1)
    X = generator.normal(size=(300, 3))
    numbers = X[:, 0] + generator.normal(0, 0.1, 300)
    lhtree.save(
        lhtree.LHBoostRegressor(max_iter=10, random_state=0).fit(X, numbers), tmp_path / "numbers.lht"
    )
    assert "R²" in lhtree.document(tmp_path / "numbers.lht", tmp_path / "a.md", X, numbers).read_text(
        encoding="utf-8"
    )
    curves = lhtree.AdditiveLHTClassifier(random_state=0).fit(X, numbers > 0)
    lhtree.save(curves.edit().flatten("x1", reason="noise").finish(), tmp_path / "curves.lht")
    sections = read_sections(lhtree.document(tmp_path / "curves.lht", tmp_path / "b.md"))
    assert "Edits of curves" in sections["Changes"]
    assert "noise" in sections["Changes"]


def test_names_are_never_markup(tmp_path):
    generator = np.random.default_rng(0)
    X = pd.DataFrame(generator.normal(size=(200, len(HOSTILE))), columns=pd.Index(HOSTILE, dtype=object))
    y = np.array(["<b>bold</b>", "| a |\n# b"])[generator.integers(0, 2, 200)]
    lhtree.save(lhtree.LHTClassifier().fit(X, y), tmp_path / "hostile.lht")
    text = lhtree.document(tmp_path / "hostile.lht", tmp_path / "a.html", X, y, title="<h1>").read_text(
        encoding="utf-8"
    )
    assert "<b>bold" not in text
    assert "<img" not in text
    plain = lhtree.document(tmp_path / "hostile.lht", tmp_path / "a.md", X, y).read_text(encoding="utf-8")
    assert [line for line in plain.splitlines() if line.startswith("# ")] == ["# Model document: hostile"]
    assert re.search(r"(?<!\\)<b>", plain) is None


def test_columns_without_values_have_no_range(tmp_path):
    X = pd.DataFrame(
        {
            "number": np.full(40, np.nan),
            "date": pd.Series([pd.NaT] * 40, dtype="datetime64[s]"),
            "text": pd.Series([None] * 40, dtype="string"),
            "known": np.arange(40.0),
        }
    )
    lhtree.save(lhtree.LHBoostClassifier(2, random_state=0).fit(X, X["known"] > 20), tmp_path / "model.lht")
    data = read_sections(lhtree.document(tmp_path / "model.lht", tmp_path / "model.md"))["Data"]
    rows = {
        row[1]: row[-3:-1]
        for row in (re.split(r" *\| *", line) for line in data.splitlines())
        if len(row) > 4
    }
    assert [rows[name] for name in X] == [["–", "100.0 %"]] * 3 + [["0 to 39", "0.0 %"]]


def test_wrong_arguments_are_rejected(loans, tmp_path, monkeypatch, rejects):
    folder, model, _, X, y = loans
    monkeypatch.chdir(tmp_path)
    file = folder / "loans.lht"
    rejects(lhtree.document, model, tmp_path / "x.md")
    rejects(lhtree.document, file, "a.pdf")
    rejects(lhtree.document, file, "a.md", X)
    rejects(lhtree.document, file, "a.md", by="home")
    rejects(lhtree.document, file, "a.md", challenger=model)
    rejects(lhtree.document, file, "a.md", texts={"porpose": "x"})
    rejects(lhtree.document, file, "a.md", texts={"purpose": 3})
    rejects(lhtree.document, file, "a.md", periods=["May"])
    rejects(lhtree.document, file, "a.md", X, y, by="sex")
