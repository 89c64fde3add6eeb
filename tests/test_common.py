"""scikit-learn's own checks, in full, for settings that take different ways through the core."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from lhtree import LHTClassifier


@parametrize_with_checks(
    [
        LHTClassifier(),
        LHTClassifier(gamma=1, offset="gini", n_jobs=2),
        LHTClassifier(direction="fisher"),
        LHTClassifier(direction="mixed", max_features="sqrt"),
        LHTClassifier(membership="least_squares", confidence="path", normalize="standard"),
        LHTClassifier(
            direction="fisher", offset="purity", gamma=0.1, membership="constant", normalize="minmax"
        ),
    ]
)
def test_scikit_learn(estimator, check):
    check(estimator)
