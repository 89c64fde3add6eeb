"""Reasons of decisions against the contributions of explain_batch, row by row."""

import numpy as np
import pandas as pd
import pytest

import lhtree
from lhtree import CompactLHTClassifier, LHBoostClassifier, LHBoostRegressor, LHForestClassifier, reasons
from support.clouds import make_clouds


def make_table(n_classes=2):
    X, y = make_clouds(300, 4, n_classes, seed=5)
    frame = pd.DataFrame(
        X.round(3), columns=["income", "debt", "age", "noise"], index=[f"r{i}" for i in range(300)]
    )
    frame["job"] = np.where(frame["debt"] > 0, "office", "field")
    frame.loc[frame.index[::7], "age"] = np.nan
    return frame, np.array(["paid", "default", "late"])[y]


@pytest.mark.parametrize(
    "model",
    [LHBoostClassifier(20, random_state=0), LHForestClassifier(5, random_state=0), CompactLHTClassifier()],
    ids=["boost", "forest", "compact"],
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_reasons_are_the_largest_contributions_towards_the_decision(model, n_classes):
    X, y = make_table(n_classes)
    model = model.fit(X, y)
    every = model.explain_batch(X[:20])
    for positive in (None, "default"):
        found = reasons(model, X[:20], n=3, positive=positive)
        for row in X.index[:20]:
            label = model.predict(X.loc[[row]])[0]
            own = every.loc[(row, label if positive is None else positive)]
            sign = 1.0 if positive is None or label == positive else -1.0
            pushes = {name: sign * own[f"contribution.{name}"] for name in X}
            expected = sorted((push for push in pushes.values() if push > 0), reverse=True)[:3]
            lines = found.loc[row] if row in found.index.get_level_values(0) else found[:0]
            assert lines["contribution"].tolist() == pytest.approx(expected)
            for column, amount, decision in zip(
                lines["column"], lines["contribution"], lines["decision"], strict=True
            ):
                assert pushes[column] == pytest.approx(amount)
                assert decision == label


def test_groups_add_contributions_and_take_the_value_of_the_largest():
    X, y = make_table()
    model = LHBoostClassifier(20, random_state=0, positive="default").fit(X, y)
    alone = reasons(model, X, n=5)
    found = reasons(model, X, n=5, groups={"money": ["income", "debt"]})
    assert "money" in set(found["column"])
    assert not {"income", "debt"} & set(found["column"])
    every = model.explain_batch(X).xs("default", level="class")
    lines = found[found["column"] == "money"].reset_index()
    for row, amount, value in zip(lines["row"], lines["contribution"], lines["value"], strict=True):
        sign = 1.0 if model.predict(X.loc[[row]])[0] == "default" else -1.0
        own = {name: sign * every.loc[row, f"contribution.{name}"] for name in ("income", "debt")}
        assert amount == pytest.approx(sum(own.values()))
        assert value == X.loc[row, max(own, key=own.get)]
    assert len(alone) >= len(found)


def test_comparisons_are_those_of_the_reference_rows():
    X, y = make_table()
    model = LHBoostClassifier(20, random_state=0, positive="default").fit(X, y)
    approved = X[model.predict(X) == "paid"]
    found = reasons(model, X, reference=approved).reset_index()
    for _, line in found.iterrows():
        text, own = line["comparison"], approved[line["column"]].dropna()
        if text.startswith("high: above") and "all" not in text:
            share = (own < line["value"]).mean()
        elif text.startswith("low: below") and "all" not in text:
            share = (own > line["value"]).mean()
        elif text.startswith("like ") and line["column"] == "job":
            share = (own == line["value"]).mean()
        else:
            continue
        assert f"{int(100 * share + 1e-9)} % of reference rows" in text


def test_comparisons_with_training_rows_are_lower_bounds():
    X, y = make_table()
    model = LHBoostClassifier(20, random_state=0).fit(X, y)
    for _, line in reasons(model, X).reset_index().iterrows():
        text, own = line["comparison"], X[line["column"]].dropna()
        if text.startswith("high: above") and "all" not in text:
            assert int(text.split()[2]) <= 100 * (own < line["value"]).mean() + 1e-6
        if text.startswith("low: below") and "all" not in text:
            assert int(text.split()[2]) <= 100 * (own > line["value"]).mean() + 1e-6


def make_columns_of_all_kinds():
    generator = np.random.default_rng(3)
    zips = [f"z{number}" for number in range(150)]
    frame = pd.DataFrame(
        {
            "amount": generator.normal(100.0, 30.0, 500).round(1),
            "home": generator.choice(["own", "rent", "private"], 500, p=[0.5, 0.45, 0.05]),
            "zip": np.append(zips, generator.choice(zips[:3], 350)),
            "insured": generator.random(500) < 0.3,
            "since": pd.Timestamp("2024-01-01") + pd.to_timedelta(generator.integers(0, 600, 500), "D"),
        }
    )
    frame.loc[::9, ["amount", "home"]] = None
    score = (
        1.0 * (frame["amount"] > 110) + (frame["home"] == "rent") + frame["insured"] + generator.random(500)
    )
    score += (frame["since"] > "2025-01-01") + 1.0 * frame["zip"].isin(zips[::2])
    return frame, np.where(score > score.median(), "yes", "no")


def test_sentences_read_plainly_for_every_kind_of_column():
    X, y = make_columns_of_all_kinds()
    model = LHBoostClassifier(30, random_state=0).fit(X, y)
    unseen = X[:40].assign(zip="elsewhere", amount=1e6)
    kinds = {
        "amount": r"amount (is missing|\S+ is (typical|(high: above|low: below) (all|\d+ % of) training rows))",
        "home": r"home is (missing|(own|rent|private), like \d+ % of training rows)",
        "zip": r"zip is (a category not seen in training|z\d+, like ((\d+|fewer than 1) % of|few) training rows)",
        "insured": r"insured is [01], like \d+ % of training rows",
        "since": r"since \S+ is (typical|(early: before|late: after) (all|\d+ % of) training rows)",
    }
    found = reasons(model, pd.concat([X, unseen], ignore_index=True), n=5)
    for name, pattern in kinds.items():
        own = found.loc[found["column"] == name, "text"]
        assert own.str.fullmatch(pattern).all()
        assert own.nunique() > 1
    for column in ("home", "insured"):
        own = found[(found["column"] == column) & found["value"].notna()]
        for value, text in set(zip(own["value"], own["comparison"], strict=True)):
            assert text == f"like {int(100 * (X[column].dropna() == value).mean())} % of training rows"
    assert {"not seen in training"} <= set(found["comparison"])
    assert "amount 1,000,000 is high: above all training rows" in set(found["text"])


def test_sentences_count_reference_rows():
    X, y = make_columns_of_all_kinds()
    model = LHBoostClassifier(30, random_state=0).fit(X, y)
    owners = X[(X["home"] == "own") & ~X["insured"]]
    texts = set(reasons(model, X, n=5, reference=owners)["text"])
    expected = {"home is own, like all reference rows", "home is rent, like no reference rows"}
    expected |= {
        f"insured is {value}, like {share} reference rows" for value, share in [(0, "all"), (1, "no")]
    }
    assert expected <= texts


def test_texts_thresholds_and_missing_values(tmp_path):
    X, y = make_table()
    model = LHBoostClassifier(30, random_state=0, positive="default").fit(X, y)
    texts = {"income": ("R1", "Income of {value} is too low"), "age": "Age matters"}
    found = reasons(model, X, texts=texts, threshold=0.1)
    decided = model.predict_proba(X)[:, list(model.classes_).index("default")] >= 0.1
    by_row = found.groupby(level="row")["decision"].first()
    assert ((by_row == "default") == pd.Series(decided, X.index)[by_row.index]).all()
    income = found[found["column"] == "income"].iloc[0]
    assert (income["code"], income["text"]) == ("R1", f"Income of {income['value']:g} is too low")
    assert set(found.loc[found["column"] == "age", "code"]) == {"age"}
    gone = found[(found["column"] == "age") & found["value"].isna()]
    assert set(gone["comparison"]) <= {"missing"}
    lhtree.save(model, tmp_path / "model.lht")
    scorer = lhtree.load_scorer(tmp_path / "model.lht")
    pd.testing.assert_frame_equal(reasons(scorer, X, texts=texts, threshold=0.1), found)


def test_reasons_of_a_regression_point_towards_its_side():
    X, _ = make_table()
    response = X["income"] - X["debt"]
    model = LHBoostRegressor(max_iter=20, random_state=0).fit(X, response)
    found, every = reasons(model, X[:10], n=1), model.explain_batch(X[:10])
    for (row, _), line in found.iterrows():
        pushes = every.loc[row, [f"contribution.{name}" for name in X]]
        sign = -1.0 if pushes.sum() < 0 else 1.0
        assert line["contribution"] == pytest.approx((sign * pushes).max())


def test_bad_arguments_name_the_remedy(rejects):
    X, y = make_table()
    model = LHBoostClassifier(5, random_state=0).fit(X, y)
    for arguments in (
        {"n": 0},
        {"positive": "repaid"},
        {"texts": {"incom": "x"}},
        {"texts": {"income": "{amount}"}},
        {"groups": {"money": ["incom"]}},
        {"groups": {"a": ["income"], "b": ["income"]}},
        {"groups": {"age": ["income"]}},
        {"threshold": 2},
    ):
        rejects(reasons, model, X, **arguments)
