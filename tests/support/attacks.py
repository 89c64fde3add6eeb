"""Attacks: whatever was fitted can be saved, exported, explained and reported.

Every attack takes a random model (see ``hostile``) and raises an error if something does not hold. ``make attack
SECONDS=600`` runs all of them on new models for that time and prints every failure with the kind and the seed of its
model; ``python tests/support/attacks.py --kind boost --seed 7 --seconds 0`` repeats one.
"""

import argparse
import json
import pickle
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import lhtree
from support import hostile, sealing
from support.hostile import CLASSIFIERS, REGRESSORS, make_case, split_outputs

KINDS = (*CLASSIFIERS, *REGRESSORS)
_N_ROWS = 3  # that are explained one by one


def predict(model, rows):
    """Return the predictions of a model: probabilities, or numbers."""
    return model.predict_proba(rows) if len(getattr(model, "classes_", ())) else model.predict(rows)


def attack_scores(case, random, folder):
    """All scores are finite, probabilities sum to 1, and intervals contain their predictions."""
    model, learned = case.model, case.model._model
    found = predict(model, case.rows)
    assert np.isfinite(found).all()
    if learned.head.labels:
        np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-9)
    else:
        assert lhtree.evaluate(model, case.X, case.y, sample_weight=case.weight).to_dict()
    sealing.check_scores(learned)


def attack_files(case, random, folder):
    """Loaded and pickled models predict the same; files of extreme numbers are rejected or predict finite numbers."""
    path = folder / "model.lht"
    expected = predict(case.model, case.rows)
    lhtree.save(case.model, path)
    for other in (lhtree.load(path), lhtree.load_scorer(path), pickle.loads(pickle.dumps(case.model))):
        np.testing.assert_array_equal(predict(other, case.rows), expected)
    lhtree.save(lhtree.load(path), folder / "again.lht")
    assert (folder / "again.lht").read_bytes() == path.read_bytes()
    json.dumps(lhtree.inspect(path))
    for _ in range(3):
        sealing.check_sealed(sealing.exaggerate(path.read_bytes(), random))


def attack_exports(case, random, folder):
    """C, ONNX and SQL predict the same."""
    hostile.check(case, folder)


def attack_explanations(case, random, folder):
    """Explanations are of the prediction and add up."""
    model, rows = case.model, case.rows
    predicted = model.predict(rows)
    for number in random.choice(len(rows), min(_N_ROWS, len(rows)), replace=False):
        explanation = model.explain(rows.iloc[[number]])
        assert explanation.prediction == predicted[number]
        assert str(explanation)
        json.dumps(explanation.to_dict(), allow_nan=False)
        for name in explanation.classes or [None]:
            base, contributions, clipped, total = explanation.account(name)
            # A compact tree adds numbers in the user's units, which may cancel.
            parts = [base, *contributions.values(), clipped, total, *model._model.trees.unit_intercept]
            error = abs(base + sum(contributions.values()) + clipped - total)
            assert error <= 1e-6 * np.abs(parts).max()
    assert len(model.explain_batch(rows)) == len(rows) * max(len(model._model.classes), 1)
    model.effects(case.X)
    model.importances()


def attack_counterfactuals(case, random, folder):
    """Counterfactuals are predicted as they say."""
    model, rows = case.model, case.rows
    predicted = model.predict(rows)
    for number in random.choice(len(rows), min(_N_ROWS, len(rows)), replace=False):
        before = predicted[number]
        to = None
        if not model._model.head.labels:
            low, high = np.quantile(predicted, [0.3, 0.6]).tolist()
            if low >= before >= high:
                continue
            to = (high, None) if before < high else (None, low)
        for found in model.explain(rows.iloc[[number]]).counterfactuals(to=to):
            assert found.changes
            assert str(found)
            json.dumps(found.to_dict(), allow_nan=False)
            row = [None if value != value else value for value in found.row.values()]
            again = model._model.encoding.encode_row(row)[None]
            assert model._model.predict(again)[0] == found.prediction
            if to is None:
                assert found.prediction != before
            else:
                assert (to[0] or -np.inf) <= found.prediction <= (np.inf if to[1] is None else to[1])


def attack_descriptions(case, random, folder):
    """Trees can be printed in every form."""
    model = case.model
    assert lhtree.export_text(model)
    assert repr(lhtree.weight_table(model))
    assert repr(model.trees_[0])
    if model._model.compact is not None:
        assert str(model.rules())


def attack_report(case, random, folder):
    """A report can be written."""
    X, y = case.X, case.y
    if case.weight is not None:  # the model does not know a class whose rows weigh nothing
        X, y = X[case.weight > 0], y[case.weight > 0]
    path = lhtree.report(case.model, X, y, folder / "report.html", X_test=X, y_test=y)
    assert path.stat().st_size > 10_000


def attack_document(case, random, folder):
    """A document about the file can be written, and rows can be compared with the training rows."""
    lhtree.save(case.model, folder / "model.lht")
    path = lhtree.document(folder / "model.lht", folder / "model.md")
    assert "## Data" in path.read_text(encoding="utf-8")
    json.dumps(lhtree.monitor(case.model, case.rows).to_dict(), allow_nan=False)


ATTACKS = {
    name.removeprefix("attack_"): attack
    for name, attack in list(globals().items())
    if name.startswith("attack_")
}


def is_refusal(error):
    """Whether lhtree raised an error on purpose: the innermost line is a ``raise`` of the package."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    is_ours = Path(lhtree.__file__).parent in Path(last.filename).parents
    return isinstance(error, (ValueError, TypeError)) and is_ours and (last.line or "").startswith("raise ")


WHOLE = ("scores", "files", "exports")  # attacks on models with several outputs; others take one output


def catch(function, *arguments):
    """Return the error of a function, or None."""
    try:
        function(*arguments)
    except Exception as error:  # noqa: BLE001  # whatever it is, it is reported
        return error
    return None


def attack(name, case, seed, folder):
    """Run one attack on a model, or on each of its outputs."""
    for part in [case] if name in WHOLE else split_outputs(case):
        ATTACKS[name](part, np.random.default_rng(seed), folder)


def run(kind, seed, names=tuple(ATTACKS)):
    """Run some attacks on one random model; returns errors by the name of the attack."""
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore", UserWarning)
        warnings.simplefilter("error", RuntimeWarning)
        try:
            case = make_case(kind, seed)
        except Exception as error:  # noqa: BLE001  # whatever it is, it is reported
            return {} if is_refusal(error) else {"fit": error}
        errors = {name: catch(attack, name, case, seed, Path(folder)) for name in names}
    return {name: error for name, error in errors.items() if error is not None}


def describe(error):
    """Return the type of an error, its message and the last line of the package or the attack that led to it."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "lhtree" in frame.filename or "support" in frame.filename]
    where = f"{Path(own[-1].filename).name}:{own[-1].lineno}" if own else "?"
    text = " ".join(str(error).split())[:200]
    return f"{type(error).__name__} at {where}: {text}"


def main():
    """Attack random models for some time."""
    parser = argparse.ArgumentParser(description="Attack random models; prints failures with kind and seed.")
    parser.add_argument("--seconds", type=float, default=600.0, help="0: one seed")
    parser.add_argument("--seed", type=int, help="first seed; default: by the clock")
    parser.add_argument("--kind", nargs="+", choices=KINDS, default=KINDS)
    parser.add_argument("--attack", nargs="+", choices=list(ATTACKS), default=list(ATTACKS))
    args = parser.parse_args()
    seed = int(time.time()) if args.seed is None else args.seed
    begin, n_models, failures = time.monotonic(), 0, Counter()
    while True:
        for kind in args.kind:
            n_models += 1
            for name, error in run(kind, seed, args.attack).items():
                what = describe(error)
                failures[name, what.partition(": ")[0]] += 1
                print(f"FAILED {name}: --kind {kind!r} --seed {seed}: {what}", flush=True)
                if args.seconds == 0:
                    traceback.print_exception(error)
        seed += 1
        if time.monotonic() - begin >= args.seconds:
            break
    print(f"{n_models} models in {time.monotonic() - begin:.0f} s, {sum(failures.values())} failures")
    for (name, what), count in failures.most_common():
        print(f"  {count} × {name}: {what}")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
