"""Random tables, weights and estimators: whatever fits can be saved, exported, explained and reported."""

from hypothesis import example, given, settings
from hypothesis import strategies as st

from support import attacks


@settings(max_examples=max(1, settings().max_examples // 4))
@given(kind=st.sampled_from(attacks.KINDS), seed=st.integers(0, 2**32 - 1))
@example(kind="boost regressor", seed=5006)  # squares of distances overflowed
@example(kind="boost regressor", seed=1056)  # an offset in the user's units overflowed
@example(kind="quantiles", seed=5)  # a row that reaches the goal differed by rounding alone
@example(kind="tree", seed=1794998718)  # multiples of a move overflowed
@example(kind="compact", seed=1794996812)  # the square of the length of a direction was 0
def test_fitted_models_can_be_saved_and_explained(kind, seed):
    errors = attacks.run(kind, seed, [name for name in attacks.ATTACKS if name not in ("exports", "report")])
    assert not errors, {name: attacks.describe(error) for name, error in errors.items()}


@settings(max_examples=max(1, settings().max_examples // 12))
@given(kind=st.sampled_from(attacks.KINDS), seed=st.integers(0, 2**32 - 1))
def test_fitted_models_can_be_reported(kind, seed):
    errors = attacks.run(kind, seed, ["report"])
    assert not errors, {name: attacks.describe(error) for name, error in errors.items()}
