"""``python -m benchmarks [question]``; without a question the short form of tree, cost and speed."""

from __future__ import annotations

import argparse
import importlib

QUESTIONS = (
    "tree",
    "accuracy",
    "cost",
    "speed",
    "explain",
    "paper",
    "ablations",
    "when",
    "exports",
    "stream",
)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    questions = parser.add_subparsers(dest="question")
    modules = {}
    for name in QUESTIONS:
        modules[name] = importlib.import_module(f".{name}", __package__)
        modules[name].add_arguments(questions.add_parser(name, help=modules[name].__doc__))
    args = parser.parse_args()
    if args.question:
        modules[args.question].main(args)
        return
    for name in ("tree", "cost", "speed"):
        modules[name].main(parser.parse_args([name, "--quick"]))


if __name__ == "__main__":
    main()
