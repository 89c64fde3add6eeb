"""skrub turns dates and free text into columns of numbers for our models."""

import numpy as np
import pandas as pd
import skrub
from sklearn.pipeline import make_pipeline

from lhtree import LHBoostClassifier, LHForestRegressor


def make_orders(n_rows=200):
    generator = np.random.default_rng(0)
    date = pd.Timestamp("2024-01-01") + pd.to_timedelta(generator.integers(0, 700, n_rows), "D")
    words = np.array(["late", "broken", "thanks", "refund", "great", "wrong size", "love it", "again"])
    text = [" ".join(words[generator.permutation(8)[:4]]) + f" {number}" for number in range(n_rows)]
    X = pd.DataFrame({"date": date, "text": text, "country": generator.choice(["fr", "de"], n_rows)})
    return X, X["date"].dt.month.to_numpy(), X["text"].str.contains("refund").map({True: "yes", False: "no"})


def test_dates_and_text():
    X, month, is_returned = make_orders()
    # Categories stay as they are: our models take them.
    columns = skrub.TableVectorizer(low_cardinality="passthrough", cardinality_threshold=10, n_jobs=1)
    model = make_pipeline(columns, LHBoostClassifier(20, random_state=0)).fit(X[:150], is_returned[:150])
    assert model.score(X[150:], is_returned[150:]) > 0.8
    names = list(model[-1].feature_names_in_)
    assert {"date_year", "date_month", "country"} < set(names)
    assert model[-1]._model.encoding.categories[names.index("country")] == ("de", "fr")
    explanation = model[-1].explain_batch(columns.transform(X[150:]))
    text = [name for name in explanation if name.startswith("contribution.text")]
    assert explanation[text].abs().to_numpy().sum() > explanation["contribution.country"].abs().sum()

    regressor = make_pipeline(skrub.TableVectorizer(n_jobs=1), LHForestRegressor(5, random_state=0)).fit(
        X[["date"]], month
    )
    assert regressor[-1].importances().to_frame().index[0] == "date_month"
