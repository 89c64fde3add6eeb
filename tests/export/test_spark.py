"""Trees and small forests in Spark SQL, to the bit. PySpark is too large to be installed for every test run."""

import numpy as np
import pytest

from lhtree import LHBoostClassifier, LHForestClassifier, LHTClassifier, export_sql
from support.clouds import make_clouds

pd = pytest.importorskip("pandas")


def test_names_and_text_are_quoted_for_spark():
    frame = pd.DataFrame({"a`b": ["it's", "back\\slash", "plain"] * 20})
    query = export_sql(LHTClassifier().fit(frame, ["x", "y", "it's"] * 20), dialect="spark", table="t`")
    assert "t.`a``b`" in query
    assert r"'it\'s'" in query
    assert r"'back\\slash'" in query
    assert "FROM `t``` AS t" in query
    assert '"' not in query
    assert query.startswith("WITH given_ AS (")


def test_boosted_models_are_refused():
    X, y = make_clouds(60, 3, 2)
    with pytest.raises(ValueError, match=r"dialect='spark'.*load_scorer in mapInPandas"):
        export_sql(LHBoostClassifier(2).fit(X, y), dialect="spark")


@pytest.fixture(scope="module")
def spark():
    sql = pytest.importorskip("pyspark.sql")
    session = sql.SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    yield session
    session.stop()


def ask(spark, model, frame):
    rows = [[None if value != value else value for value in row] for row in frame.astype(object).to_numpy()]
    rows = [[number, *row] for number, row in enumerate(rows)]
    spark.createDataFrame(rows, ["number", *frame.columns]).createOrReplaceTempView("rows")
    query = export_sql(model, table="rows", keys=["number"], dialect="spark")
    found = sorted(spark.sql(query).collect())
    return np.array([row[1] for row in found]), np.array([list(row[2:]) for row in found])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("make", [LHTClassifier, lambda: LHForestClassifier(3, gamma=9, random_state=0)])
def test_spark_predicts_what_the_model_predicts(spark, make):
    X, y = make_clouds(200, 4, 3)
    X[::7, 2] = np.nan
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d`e"])
    frame["colour"] = np.where(X[:, 0] > 0, "it's", "back\\slash")
    model = make().fit(frame, y)
    prediction, probabilities = ask(spark, model, frame)
    np.testing.assert_array_equal(prediction, model.predict(frame))
    np.testing.assert_array_equal(probabilities, model.predict_proba(frame))
