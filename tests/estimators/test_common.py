"""All checks of scikit-learn, for settings with different paths through the core."""

from sklearn.utils.estimator_checks import parametrize_with_checks

import lhtree


@parametrize_with_checks(
    [
        lhtree.LHTClassifier(),
        lhtree.LHTClassifier(direction="mixed", max_features="sqrt", n_jobs=2),
        lhtree.LHTClassifier(membership="least_squares", confidence="path", normalize="standard"),
        lhtree.LHTClassifier(
            direction="fisher", offset="purity", gamma=0.1, membership="constant", normalize="minmax"
        ),
        # Every tree sees all rows, so a weight of 2 equals a repeated row.
        lhtree.LHForestClassifier(10, max_samples=1.0),
        lhtree.LHForestClassifier(10, direction="mixed", n_jobs=2),
        lhtree.LHBoostClassifier(10),
        lhtree.CompactLHTClassifier(),
        lhtree.CompactLHTRegressor(max_leaf_nodes=8, membership="linear"),
        lhtree.LHTRegressor(),
        lhtree.LHForestRegressor(10, max_samples=1.0),
        lhtree.LHBoostRegressor(max_iter=10),
        lhtree.LHBoostRegressor("absolute_error", max_iter=10, subsample=1.0, n_jobs=2),
    ]
)
def test_scikit_learn(estimator, check):
    check(estimator)


def expect_failures(estimator):
    """Return the expected failures, as of scikit-learn's own random forest; unexpected successes fail."""
    reason = "rows are drawn by number: a repeated row is drawn otherwise than one of more weight"
    return {"check_sample_weight_equivalence_on_dense_data": reason}


@parametrize_with_checks(
    [
        lhtree.LHForestClassifier(10),
        lhtree.LHForestClassifier(10, direction="mixed", max_samples=0.5, class_weight="balanced_subsample"),
        lhtree.LHForestRegressor(10, direction="fisher", bootstrap=True, membership="least_squares"),
        lhtree.LHEnsembleClassifier(5, n_estimators=5, cv=2),
        lhtree.LHEnsembleRegressor(5, n_estimators=5, cv=2),
        lhtree.LHBoostClassifier(10, subsample=0.8, early_stopping=True),
        lhtree.LHBoostRegressor(max_iter=10, early_stopping=True),
        lhtree.AdditiveLHTClassifier(n_bags=2, max_iter=100, n_iter_no_change=5),
        lhtree.AdditiveLHTRegressor("absolute_error", n_bags=2, max_iter=100, interactions=1, n_jobs=2),
    ],
    expected_failed_checks=expect_failures,
)
def test_scikit_learn_where_rows_are_drawn(estimator, check):
    check(estimator)
