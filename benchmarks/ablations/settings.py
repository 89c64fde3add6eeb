"""The settings that are compared: one parameter changed alone, from the paper's setting and from our mixed one."""

from collections.abc import Sequence
from typing import Any, NamedTuple

Params = dict[str, Any]

# Written out, since "auto" follows the direction: a changed direction would change them, too.
PAPER: Params = {
    "direction": "mean_difference",
    "offset": "purity",
    "beta": "schedule",
    "max_features": None,
    "max_samples": 0.8,
    "min_samples_split": 10,
    "confidence": "last",
}
MIXED: Params = {
    "direction": "mixed",
    "offset": "gini",
    "beta": 0.0,
    "max_features": "auto",
    "max_samples": 1.0,
    "min_samples_split": 2,
    "confidence": None,
}
BASES = {"paper": PAPER, "mixed": MIXED}


class Setting(NamedTuple):
    """A base and what is changed in it; without changes the base itself."""

    base: str
    changes: tuple[tuple[str, Any], ...] = ()

    @property
    def params(self) -> Params:
        """Arguments of the forest."""
        return BASES[self.base] | dict(self.changes)

    @property
    def key(self) -> str:
        """Name among the results."""
        return ",".join([self.base, *(f"{name}={value}" for name, value in self.changes)])

    @property
    def title(self) -> str:
        """The changes as they are written in Python."""
        return ", ".join(f"{name}={value!r}" for name, value in self.changes)


class Ablation(NamedTuple):
    """One parameter: what the bases have, as it is written in Python, and the settings that change it."""

    bases: dict[str, str]
    settings: dict[str, list[Setting]]

    def of(self, base: str) -> list[Setting]:
        """Return the base and the settings that change it."""
        return [Setting(base), *self.settings[base]]

    def say(self, setting: Setting) -> str:
        """Return a setting as code, the base with the value it has."""
        text = setting.title or self.bases[setting.base]
        return f"`{text}`" + ("" if setting.changes else " (base)")


def _vary(base: str, parameter: str, *values: Any, **others: Any) -> list[Setting]:
    return [Setting(base, ((parameter, value), *others.items())) for value in values]


def _both(parameter: str, base_values: tuple[Any, Any], paper: Sequence[Any]) -> Ablation:
    """Vary a parameter through the same values in both bases, each leaving out its own."""
    values = dict(zip(BASES, base_values, strict=True))
    settings = {
        base: _vary(base, parameter, *(value for value in paper if value != own))
        for base, own in values.items()
    }
    return Ablation({base: f"{parameter}={own!r}" for base, own in values.items()}, settings)


ABLATIONS = {
    "direction": Ablation(
        {"paper": "direction='mean_difference'", "mixed": "direction='mixed'"},
        {
            "paper": [
                *_vary("paper", "direction", "fisher"),
                *_vary("paper", "direction", "mixed", offset="gini"),
            ],
            "mixed": _vary("mixed", "direction", "fisher", "mean_difference"),
        },
    ),
    "offset": Ablation(
        {"paper": "offset='purity'", "mixed": "offset='gini'"},
        {
            "paper": _vary("paper", "offset", "gini"),
            "mixed": [
                *_vary("mixed", "direction", "fisher"),
                *_vary("mixed", "direction", "fisher", offset="purity"),
            ],
        },
    ),
    "membership": _both("membership", ("marginal", "marginal"), ("marginal", "least_squares", "constant")),
    "confidence": _both("confidence", ("last", None), ("last", "path", None)),
    "normalize": _both("normalize", ("robust", "robust"), ("robust", "standard", "minmax", None)),
    "gamma": Ablation(
        {"paper": "gamma=10", "mixed": "min_samples_split=2"},
        {
            "paper": [
                setting
                for value in (2, 5, 20, 50, 100)
                for setting in _vary("paper", "gamma", value, min_samples_split=value)
            ],
            # Gini cuts do not ask for gamma: what it does for the paper, min_samples_split does for them.
            "mixed": _vary("mixed", "min_samples_split", 5, 10, 20, 50),
        },
    ),
    "beta": _both("beta", ("schedule", 0.0), ("schedule", 0.0, 0.25, 0.5, 0.75)),
    "n_estimators": _both("n_estimators", (100, 100), (1, 3, 10, 30, 100, 300)),
    "max_features": _both("max_features", (None, "auto"), (1, "sqrt", 0.5, None)),
}


def all_settings() -> list[Setting]:
    """Every setting once, the bases first."""
    settings = [Setting(base) for base in BASES]
    settings += [
        setting for ablation in ABLATIONS.values() for base in BASES for setting in ablation.settings[base]
    ]
    return list(dict.fromkeys(settings))
