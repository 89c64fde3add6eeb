"""Size: peak memory of a fit, bytes of the pickle, time of the import."""

import json
import pickle
import subprocess
import sys

from ..common import data as datasets
from ..common.memory import ask
from ..common.results import Result
from ..common.timing import summarise_rounds
from ..runner import Args, Tell
from .models import COMPARED, DATA, fit

_LARGE = ("paper_tree", "mixed_forest", "cart", "lightgbm", "xgboost")

# The last statement is timed.
IMPORTS = {
    "numpy": "import numpy",
    "lhtree": "import lhtree",
    "lhtree, after numpy": "import numpy; import lhtree",
    "lhtree, an estimator": "from lhtree import LHTClassifier",
    "scikit-learn": "from sklearn.tree import DecisionTreeClassifier",
    "lightgbm": "from lightgbm import LGBMClassifier",
    "xgboost": "from xgboost import XGBClassifier",
    "catboost": "from catboost import CatBoostClassifier",
    "onnxruntime": "import onnxruntime",
}
_IMPORT = """
import json, time
{}
begin, cpu = time.perf_counter(), time.process_time()
{}
print(json.dumps([time.process_time() - cpu, time.perf_counter() - begin]))
"""


def measure_memory(tell: Tell, args: Args) -> Result:
    """Peak bytes of fits in fresh processes, and bytes of pickled models."""
    n_rows = 20_000
    result: Result = {"n_rows": n_rows, "peak": {}, "peak_large": {}, "peak_tree": [], "pickled": {}}
    small = "spambase" if args.quick else "magic"
    result["small"] = small
    for model in COMPARED:
        tell(f"peak of {model}, {small}")
        result["peak"][model] = ask(small, "float64", 2, model)
    for model in () if args.quick else _LARGE:
        tell(f"peak of {model}, {n_rows:,} × 50")
        result["peak_large"][model] = ask(n_rows, "float32", 2, model)
    many = 200_000 if args.quick else 1_000_000
    for dtype, n_classes in (("float32", 2), ("float64", 2), ("float32", 3)):
        tell(f"peak of one tree, {many:,} × 50 {dtype}, {n_classes} classes")
        result["peak_tree"].append([many, dtype, n_classes, ask(many, dtype, n_classes)])
    for name in DATA[: 1 if args.quick else None]:
        data = datasets.load(name)
        sizes = result["pickled"][name] = {}
        for model in COMPARED:
            tell(f"pickle of {model}, {name}")
            sizes[model] = len(pickle.dumps(fit(model, data.X, data.y)))
    return result


def measure_import(tell: Tell, args: Args) -> Result:
    """Times of imports in fresh processes that take turns."""
    rounds: dict[str, list[list[float]]] = {name: [] for name in IMPORTS}
    n_rounds = 1 if args.quick else 5
    for i in range(n_rounds + (not args.quick)):
        tell(f"round {i + 1}")
        for name, statement in IMPORTS.items():
            before, _, timed = statement.rpartition("; ")
            command = [sys.executable, "-c", _IMPORT.format(before, timed)]
            done = subprocess.run(command, capture_output=True, check=False, text=True)
            # The first round reads files that later ones find in memory.
            if done.returncode == 0 and (i > 0 or args.quick):
                rounds[name].append(json.loads(done.stdout))
    return {name: summarise_rounds(found)._asdict() for name, found in rounds.items() if found}
