"""Benchmarks of lhtree and its peers. By default, the quick form of speed is run."""

import argparse
import importlib
import sys
from collections.abc import Sequence

# A module each, whose ``QUESTION`` is imported only when it is run: --help needs no peers.
QUESTIONS = {
    "accuracy": "accuracy and calibration of every model on the same splits of the nine data sets",
    "calibration": "log loss of models without calibration, with each method of ours and in scikit-learn's wrapper",
    "readable": "accuracy, log loss and fit time of models that people read, by the count of their numbers",
    "additive": "log loss, AUC, R² and time of additive models beside EBM, linear models and compact trees",
    "speed": "speed of lhtree and its peers: one row, batches, fits, memory, imports, scaling, limits of the machine",
    "time": "log loss against the CPU time of a fit, for boosting libraries with few and with many rounds",
    "explain": "cost of explanations relative to predictions and to permutation SHAP",
    "paper": "the paper's three tables, its figures for wine and its claims, on the same splits for every method",
    "tables": "accuracy, log loss, AUC and time on public tables with categories and gaps",
    "kinds": "losses by kind of data, from the stored results of accuracy, tables and regression",
    "regression": "R² and time on public tables with a number to predict",
    "compact": "what every part of the compact tree brings, in accuracy and log loss",
    "boosting": "what every part of the boosted model brings, in accuracy and log loss",
    "when": "when to use lhtree: the nine data sets, problems with a known Bayes error, pictures that show why",
    "scale": "time and memory of boosted fits on many rows: past memory",
    "serve": "rows per second and latency of `lhtree serve`",
}


def make_parser(asked: str | None = None) -> argparse.ArgumentParser:
    """Return the parser of the command line, with the options of the question that is asked."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    subparsers = parser.add_subparsers(dest="question", metavar="question")
    for name, text in QUESTIONS.items():
        own = subparsers.add_parser(name, help=text, description=text)
        if name == asked:
            question = importlib.import_module(f".{name}", __package__).QUESTION
            question.add_arguments(own)
            own.set_defaults(answer=question.answer)
    return parser


def main(arguments: Sequence[str]) -> None:
    """Answer one question."""
    arguments = arguments or ["speed", "--quick"]
    asked = next((argument for argument in arguments if argument in QUESTIONS), None)
    args = make_parser(asked).parse_args(arguments)
    args.answer(args)


if __name__ == "__main__":
    main(sys.argv[1:])
