import numpy as np
import pandas as pd
import pytest

from lhtree import LHTClassifier, report
from support.reports import HOSTILE


@pytest.fixture(scope="session")
def hostile_report(tmp_path_factory):
    """The file of a report whose names try to break out of the page."""
    generator = np.random.default_rng(0)
    X = pd.DataFrame(generator.normal(size=(200, len(HOSTILE))), columns=pd.Index(HOSTILE, dtype=object))
    y = np.array(["<b>bold</b>", "</script>", "__proto__", "w" * 300])[generator.integers(0, 4, 200)]
    path = tmp_path_factory.mktemp("hostile") / "report.html"
    return report(LHTClassifier().fit(X, y), X, y, path, title="<h1>&amp;</h1>")
