"""The header of a model file, checked."""

from __future__ import annotations

from typing import Any

from ._json import check

KEYS = (
    "estimator",
    "written_by",
    "parameters",
    "classes",
    "feature_names",
    "encoding",
    "confidence",
    "seed",
    "forest",
    "metadata",
)
_FOREST_KEYS = ("betas", "tree_parameters", "sizes", "draws", "oob_score")
_DRAW_KEYS = ("n_estimators", "counts", "bootstrap")
_CONFIDENCES = (None, "last", "path")
_MOST_JOBS = 4096
_MOST_ROWS = 2**31  # the core numbers rows with 32 bits


def check_header(header: dict[str, Any], *, n_features: int, n_classes: int) -> None:
    """All but the classes, which are checked where they are decoded."""
    check(_has_keys(header, KEYS), f"its model is not told by {', '.join(KEYS)}")
    names, metadata = header["feature_names"], header["metadata"]
    check(isinstance(header["estimator"], str), "estimator is not text")
    check(_is_dict_of(header["written_by"], _is_text), "written_by is not text")
    check(_is_dict_of(header["parameters"], _is_parameter), "parameters are not plain values")
    n_jobs = header["parameters"].get("n_jobs")
    check(
        n_jobs is None or (type(n_jobs) is int and abs(n_jobs) <= _MOST_JOBS),
        f"n_jobs is not a number of threads up to {_MOST_JOBS}",
    )
    check(_is_plain(header["confidence"]) and header["confidence"] in _CONFIDENCES, "confidence is unknown")
    check(_is_count(header["seed"]), "seed is not a number from 0 to 2**31 - 1")
    check(metadata is None or isinstance(metadata, dict), "metadata is not an object")
    n_columns = n_features
    if header["encoding"] is not None:
        n_columns = _check_encoding(header["encoding"], n_features)
        check(names in (None, header["encoding"]["names"]), "encoding has other names than feature_names")
    check(
        names is None or (_is_list_of(names, _is_text) and len(names) == n_columns),
        "feature_names is not one text per column",
    )
    if header["forest"] is not None:
        _check_forest(header["forest"], n_classes)


def check_estimators(forest: dict[str, Any] | None, n_estimators: int) -> None:
    """Whether what is told of the estimators is told of as many as there are."""
    if forest is None:
        check(n_estimators == 1, "a single-tree classifier has many trees")
        return
    check(len(forest["betas"]) == n_estimators, "betas are not one per estimator")
    n_drawn = sum(draw["n_estimators"] for draw in forest["draws"])
    check(n_drawn == n_estimators, "draws are not those of the estimators")


def _check_encoding(encoding: Any, n_features: int) -> int:
    """Names and categories of the columns; returns their number."""
    check(
        _has_keys(encoding, ("names", "categories"))
        and _is_list_of(encoding["names"], _is_text)
        and _is_list_of(encoding["categories"], lambda some: some is None or _is_list_of(some, _is_category))
        and len(encoding["names"]) == len(encoding["categories"]),
        "encoding is not told by names and categories",
    )
    categories = encoding["categories"]
    check(
        all(some is None or len(set(some)) == len(some) for some in categories), "a category is there twice"
    )
    n_told = sum(1 if some is None else len(some) for some in categories)
    check(n_told == n_features, "encoding has not as many features as the model")
    return len(categories)


def _check_forest(forest: Any, n_classes: int) -> None:
    """What a forest knows beyond its trees."""
    check(_has_keys(forest, _FOREST_KEYS), f"forest is not told by {', '.join(_FOREST_KEYS)}")
    sizes, oob_score = forest["sizes"], forest["oob_score"]
    check(
        _is_list_of(forest["betas"], lambda beta: isinstance(beta, float) and 0.0 <= beta < 1.0),
        "betas are not numbers of at least 0 and below 1",
    )
    check(_is_dict_of(forest["tree_parameters"], _is_plain), "tree_parameters are not plain values")
    check(
        oob_score is None or (isinstance(oob_score, float) and 0.0 <= oob_score <= 1.0),
        "oob_score is no share",
    )
    check(_is_list_of(sizes, _is_count) and len(sizes) == n_classes, "sizes are not counts of the classes")
    check(
        _is_list_of(forest["draws"], lambda draw: _is_draw(draw, sizes)),
        f"draws is not told by {', '.join(_DRAW_KEYS)}",
    )


def _is_draw(draw: Any, sizes: list[int]) -> bool:
    """Whether so many estimators drew so many rows of each class, not more than there were."""
    if not _has_keys(draw, _DRAW_KEYS) or not isinstance(draw["bootstrap"], bool):
        return False
    counts = draw["counts"]
    return _is_count(draw["n_estimators"]) and (
        counts is None
        or (
            _is_list_of(counts, _is_count)
            and len(counts) == len(sizes)
            and (draw["bootstrap"] or all(map(int.__le__, counts, sizes)))
        )
    )


def _has_keys(value: Any, keys: tuple[str, ...]) -> bool:
    return isinstance(value, dict) and set(value) == set(keys)


def _is_list_of(value: Any, is_one: Any) -> bool:
    return isinstance(value, list) and all(map(is_one, value))


def _is_dict_of(value: Any, is_one: Any) -> bool:
    return isinstance(value, dict) and all(map(is_one, value.values()))


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < _MOST_ROWS


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, (bool, int, float, str))


def _is_category(value: Any) -> bool:
    return value is not None and _is_plain(value)


def _is_parameter(value: Any) -> bool:
    """A plain value, a list of those, or weights by label."""
    if isinstance(value, dict):
        return (
            _has_keys(value, ("labels", "weights"))
            and _is_dict_of(value, lambda part: _is_list_of(part, _is_plain))
            and len(value["labels"]) == len(value["weights"])
        )
    return _is_plain(value) or _is_list_of(value, _is_plain)
