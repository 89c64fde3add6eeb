"""How fast ours and its peers are: one row, batches, fits, memory, imports, scaling, and the machine's limits."""

from typing import Any, ClassVar

from ..common.pages import Docs
from ..runner import Parts
from . import batch, boosting, bound, categories, classes, fit, row, scaling, size


class Speed(Parts):
    """The question."""

    name = "speed"
    fills = "benchmarks/speed.md"
    quick = "smaller and fewer measurements"
    parts: ClassVar = {
        "bound": bound.measure,
        "one_row": row.measure,
        "batch": batch.measure,
        "frontier": batch.measure_frontier,
        "fit": fit.measure,
        "memory": size.measure_memory,
        "boosting": boosting.measure,
        "categories": categories.measure,
        "classes": classes.measure,
        "import": size.measure_import,
        "scaling": scaling.measure,
    }

    def page(self, results: dict[str, Any], docs: Docs) -> dict[str, str]:
        from .page import render

        return render(results, docs)


QUESTION = Speed()
