"""Responses of the service equal predictions of the model, for models of all kinds."""

import json
from dataclasses import replace

import numpy as np
import pytest

import lhtree
from lhtree.serve.app import describe_api
from lhtree.serve.rows import describe_columns, make_example
from lhtree.serve.service import Limits, Loaded, Refused, Service, load_model
from support.serving import MODELS, ROW, fit_model, make_loans, save_dated, save_model

ROWS = [ROW, ROW | {"income": None, "purpose": "house"}, ROW | {"age": 61, "town": None, "owns home": False}]


@pytest.fixture(scope="module", params=MODELS)
def loaded(request, tmp_path_factory):
    return load_model(save_model(request.param, tmp_path_factory.mktemp("model")))


@pytest.fixture(scope="module")
def loans(tmp_path_factory):
    return load_model(save_model("boost", tmp_path_factory.mktemp("model")))


@pytest.fixture(scope="module")
def dated(tmp_path_factory):
    return load_model(save_dated(tmp_path_factory.mktemp("model")))


def find_model(loaded):
    return lhtree.Scorer(loaded.model)


class TestModels:
    def test_predictions_are_those_of_the_model(self, loaded):
        answer = loaded.predict({"rows": ROWS})
        assert answer["model"] == loaded.sha256
        scorer = find_model(loaded)
        found = [one["prediction"] for one in answer["predictions"]]
        if loaded.model.labels:
            assert found == scorer.predict(ROWS).tolist()
            proba = [list(one["proba"].values()) for one in answer["predictions"]]
            np.testing.assert_array_equal(proba, scorer.predict_proba(ROWS))
            assert list(answer["predictions"][0]["proba"]) == ["default", "repaid"]
        else:
            values = [list(one.values()) for one in found] if loaded.outputs else found
            np.testing.assert_array_equal(values, scorer.predict(ROWS))

    def test_explanations_add_up(self, loaded):
        answer = loaded.explain({"row": ROWS[1], "reasons": 3})
        parts = [answer["base"], *answer["contributions"].values(), answer["clipped"]]
        assert sum(parts) == pytest.approx(answer["total"])
        assert set(answer["contributions"]) == set(ROW)
        assert answer["row"] == ROWS[1] | {"owns home": 1.0}
        assert answer["text"].startswith("Prediction: ")
        assert len(answer["reasons"]) <= 3
        assert all(
            set(one) == {"column", "value", "comparison", "contribution", "text"} for one in answer["reasons"]
        )
        json.dumps(answer, allow_nan=False)

    def test_changes_reach_the_goal(self, loaded):
        to = {} if loaded.model.labels else {"to": [None, 1.5]}
        answer = loaded.explain({"row": ROW, "counterfactuals": 2, "immutable": ["age"], **to})
        assert len(answer["counterfactuals"]) <= 2
        for change in answer["counterfactuals"]:
            assert "age" not in change["changes"]
            assert change["text"].startswith("If ")
            again = loaded.explain({"row": change["row"]})["prediction"]
            assert again != answer["prediction"] if loaded.model.labels else again <= 1.5
        json.dumps(answer, allow_nan=False)

    def test_facts_describe_the_model(self, loaded):
        facts = loaded.facts
        json.dumps(facts, allow_nan=False)
        assert facts["metadata"] == {"data": "loans"}
        assert [column["name"] for column in facts["columns"]] == list(ROW)
        assert facts["columns"][0] | {"example": 0} == {
            "name": "age",
            "kind": "number",
            "low": 18.0,
            "high": 79.0,
            "is_whole": True,
            "example": 0,
            "missing": 0.0,
        }
        assert facts["columns"][2]["categories"] == ["car", "education", "house"]
        assert facts["n_training_rows"] == 300

    def test_the_example_is_a_row(self, loaded):
        table, _, _ = make_loans()
        assert set(loaded.example) == set(ROW)
        assert table["income"].min() <= loaded.example["income"] <= table["income"].max()
        assert loaded.predict({"rows": [loaded.example]})["predictions"]


class TestTargets:
    def test_the_positive_class_is_explained_by_default(self, loans):
        assert loans.explain({"row": ROW})["target"] == "default"
        other = loans.explain({"row": ROW, "target": "repaid", "reasons": 2})
        assert other["target"] == "repaid"
        assert other["total"] == -loans.explain({"row": ROW})["total"]

    def test_the_median_is_explained_by_default(self, tmp_path):
        loaded = load_model(save_model("quantiles", tmp_path))
        answer = loaded.explain({"row": ROW})
        assert answer["target"] == "0.5"
        assert answer["predictions"] == loaded.predict({"rows": [ROW]})["predictions"][0]["prediction"]
        high = loaded.explain({"row": ROW, "target": "0.9"})
        assert high["prediction"] == answer["predictions"]["0.9"]

    def test_the_first_response_is_explained_by_default(self, tmp_path):
        loaded = load_model(save_model("responses", tmp_path))
        answer = loaded.explain({"row": ROW, "reasons": 2})
        assert answer["target"] == "amount"
        assert list(answer["predictions"]) == loaded.facts["outputs"] == ["amount", "rate"]
        rate = loaded.explain({"row": ROW, "target": "rate"})
        assert rate["prediction"] == answer["predictions"]["rate"]
        assert rate["contributions"] != answer["contributions"]

    def test_paths_are_listed_on_demand(self, loans):
        assert "paths" not in loans.explain({"row": ROW})
        assert len(loans.explain({"row": ROW, "paths": True})["paths"]) == loans.model.n_estimators

    def test_no_change_is_needed_for_the_predicted_class(self, loans):
        predicted = loans.explain({"row": ROW})["prediction"]
        for more, reason in (
            ({"to": predicted}, "The prediction is already what is wanted."),
            ({"features": []}, "No column may change."),
            ({"features": ["age"], "rising": ["age"], "falling": ["age"]}, "No column may change."),
        ):
            answer = loans.explain({"row": ROW, "counterfactuals": 1, **more})
            assert (answer["counterfactuals"], answer["no_counterfactuals"]) == ([], reason)


class TestFindings:
    def test_warnings_are_listed_by_row(self, loans):
        rows = [ROW, ROW | {"purpose": "boat"}, ROW | {"Age": 3, "town": "town 99"}]
        answers = loans.predict({"rows": rows})["predictions"]
        assert "warnings" not in answers[0]
        found = [
            (one["row"], one["field"], one["kind"]) for answer in answers[1:] for one in answer["warnings"]
        ]
        assert found == [
            (1, "purpose", "unseen_category"),
            (2, "town", "unseen_category"),
            (2, "Age", "unknown_field"),
        ]
        assert answers[1]["warnings"][0]["message"] == (
            "'purpose' is 'boat', a category not seen in training (available: 'car', 'education', 'house')."
        )
        assert answers[2]["warnings"][1]["message"] == "the model does not use 'Age' (did you mean 'age'?)."
        expected = find_model(loans).predict_proba([{name: row[name] for name in ROW} for row in rows])
        np.testing.assert_array_equal([list(one["proba"].values()) for one in answers], expected)

    def test_errors_are_listed_by_row(self, loans):
        lacking = {name: value for name, value in ROW.items() if name != "income"}
        rows = [ROW, lacking, ROW | {"age": "old", "purpose": 3}, 7, ROW | {"age": 10**400, "town": ["x"]}]
        with pytest.raises(Refused) as caught:
            loans.predict({"rows": rows})
        found = [(one.row, one.field, one.kind) for one in caught.value.findings]
        assert found == [
            (1, "income", "missing_field"),
            (2, "age", "wrong_type"),
            (2, "purpose", "wrong_type"),
            (3, None, "wrong_type"),
            (4, "age", "out_of_range"),
            (4, "town", "wrong_type"),
        ]
        assert [one.message for one in caught.value.findings] == [
            "'income' is missing: pass null where the value is unknown.",
            "'age' is 'old': pass a number, or null where it is unknown.",
            "'purpose' is 3: pass one of its categories, such as 'car', or null where it is unknown.",
            "row 3 is not an object with a value per field.",
            "'age' is too large: pass a finite number.",
            "'town' is ['x']: pass one of its categories, such as 'town 0', or null where it is unknown.",
        ]

    def test_a_strict_service_refuses_what_others_warn_of(self, loans, tmp_path):
        strict = load_model(save_model("boost", tmp_path), is_strict=True)
        for row in (ROW | {"purpose": "boat"}, ROW | {"note": 1}):
            assert loans.predict({"rows": [row]})["predictions"][0]["warnings"]
            with pytest.raises(Refused):
                strict.predict({"rows": [row]})

    def test_other_spellings_of_categories_are_found(self, tmp_path):
        table, labels, _ = make_loans()
        table = table.assign(age=(table["age"] % 3).astype(str))
        path = tmp_path / "model.lht"
        lhtree.save(lhtree.LHTClassifier().fit(table, labels), path)
        loaded = load_model(path)
        as_text, as_number = (loaded.predict({"rows": [ROW | {"age": age}]}) for age in ("2", 2))
        assert as_text == as_number
        assert "warnings" not in as_number["predictions"][0]

    def test_ignored_columns_need_no_value(self, tmp_path, rejects):
        table, labels, _ = make_loans()
        table = table.assign(number=[f"loan {number:04}" for number in range(len(table))])
        with rejects.warning():
            model = lhtree.LHTClassifier().fit(table, labels)
        lhtree.save(model, tmp_path / "model.lht")
        loaded = load_model(tmp_path / "model.lht")
        assert loaded.columns[-1] == {"name": "number", "kind": "ignored"}
        assert loaded.predict({"rows": [ROW]}) == loaded.predict({"rows": [ROW | {"number": "loan 7"}]})


def test_bad_requests_are_rejected(loans, tmp_path, rejects):
    of_numbers = load_model(save_model("boost of numbers", tmp_path))
    for request in ([], {}, {"rows": {}}, {"rows": []}, {"row": [ROW]}):
        rejects(loans.predict, request)
    rejects(Loaded(loans._file, "loans.lht", n_rows=2).predict, {"rows": [ROW] * 3})
    for more in (
        {"target": "unknown"},
        {"target": ["default"]},
        {"reasons": -1},
        {"reasons": True},
        {"counterfactuals": 11},
        {"counterfactuals": 1, "to": "unknown"},
        {"counterfactuals": 1, "immutable": ["unknown"]},
        {"counterfactuals": 1, "immutable": "age"},
        {"counterfactuals": 1, "rising": ["purpose"]},
        {"change": 1},
    ):
        rejects(loans.explain, {"row": ROW, **more})
    rejects(loans.explain, {})
    for to in (None, [None, None], [1], ["a", None], [2, 1]):
        rejects(of_numbers.explain, {"row": ROW, "counterfactuals": 1, "to": to})
    rejects(of_numbers.explain, {"row": ROW, "target": 3})


class TestDates:
    def test_columns_have_their_range_in_training(self, dated):
        column = dated.columns[0]
        assert column == {
            "name": "opened",
            "kind": "date",
            "low": "2020-03-18",
            "high": "2023-04-06",
            "example": "2021-11-11",
            "missing": 0.0,
        }
        assert make_example(describe_columns(replace(dated.model, summary=None)))["opened"] == "2023-04-06"
        assert describe_api(dated, Limits())["components"]["schemas"]["Row"]["properties"]["opened"] == {
            "type": ["string", "null"],
            "format": "date",
            "description": "A date, from 2020-03-18 to 2023-04-06 in training; null if it is unknown.",
            "examples": ["2021-11-11"],
        }

    def test_predictions_are_those_of_the_model(self, dated):
        rows = [{"opened": day, "income": 30.0} for day in ("2020-05-01", "2023-01-31T12:30", None)]
        found = [one["prediction"] for one in dated.predict({"rows": rows})["predictions"]]
        assert found == find_model(dated).predict(rows).tolist() == ["old", "new", "new"]
        answer = dated.explain({"row": rows[1], "reasons": 1})
        assert answer["row"]["opened"] == "2023-01-31"

    @pytest.mark.parametrize("value", [5, True, [1], "", "today", "20210506", "6.5.2021", "2021-02-30"])
    def test_other_values_are_rejected(self, dated, value):
        with pytest.raises(Refused) as caught:
            dated.predict({"rows": [{"opened": value, "income": 30.0}]})
        assert [one[:3] for one in caught.value.findings] == [(0, "opened", "wrong_type")]


def test_columns_without_a_summary_have_examples():
    columns = describe_columns(replace(fit_model("tree")._read(), summary=None))
    assert "missing" not in columns[0]
    assert columns[1]["low"] < columns[1]["example"] < columns[1]["high"]


def test_a_reload_takes_the_new_file_and_keeps_the_old_one_if_it_is_bad(tmp_path):
    path = save_model("tree", tmp_path)
    service = Service(path, Limits(n_rows=5))
    first = service.loaded
    save_model("boost", tmp_path)
    service.reload()
    assert service.loaded.sha256 != first.sha256
    assert service.answer("predict", {"rows": [ROW]}, "1")["model"] == service.loaded.sha256
    kept = service.loaded
    path.write_bytes(b"damaged")
    with pytest.raises(lhtree.ModelFileError):
        service.reload()
    assert service.loaded is kept
    with pytest.raises(Refused):
        service.answer("predict", {"rows": [ROW] * 6}, "2")
