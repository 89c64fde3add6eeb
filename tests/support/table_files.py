"""Tables to read: a frame, its files in every format, and messages of failed reads."""

import numpy as np
import pandas as pd
import pytest

from lhtree.cli._errors import Problem, describe, find_code
from lhtree.tables.errors import TableError


@pytest.fixture(name="shop")
def make_shop(tmp_path, monkeypatch):
    """A frame with numbers, text and missing values, and a folder to write it into."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "size": random.normal(50, 10, 120).round(1),
            "colour": random.choice(["red", "green", "blue"], 120),
            "rooms": random.integers(1, 9, 120),
        }
    )
    frame["kind"] = np.where((frame["size"] > 55) | (frame["colour"] == "blue"), "sold", "kept")
    frame.loc[::20, "colour"] = None
    return frame


def write(text, name="data.csv", encoding="utf-8"):
    with open(name, "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode(encoding))
    return name


def refusal(read, *args, **kwargs):
    """The line on the command line and the exit code of the error that reading gives."""
    with pytest.raises((Problem, TableError)) as caught:
        read(*args, **kwargs)
    assert "\n" not in str(caught.value)
    return describe(caught.value), find_code(caught.value)


@pytest.fixture
def refuse(rejects):
    """Reading must fail; the golden file of the folder has the exit codes and the messages."""

    def check(read, *args, **kwargs):
        message, code = refusal(read, *args, **kwargs)
        assert len(message) < 300
        rejects.errors.append(f"exit code {code}: {message}")

    return check


FORMATS = {
    "data.csv": lambda frame, name: frame.to_csv(name, index=False),
    "data.tsv": lambda frame, name: frame.to_csv(name, index=False, sep="\t"),
    "semicolons.csv": lambda frame, name: frame.to_csv(name, index=False, sep=";"),
    "pipes.csv": lambda frame, name: frame.to_csv(name, index=False, sep="|"),
    "data.csv.gz": lambda frame, name: frame.to_csv(name, index=False),
    "quoted.csv": lambda frame, name: frame.to_csv(name, index=False, quoting=1),
    "windows.csv": lambda frame, name: frame.to_csv(name, index=False, lineterminator="\r\n"),
    "old_mac.csv": lambda frame, name: frame.to_csv(name, index=False, lineterminator="\r"),
    "bom.csv": lambda frame, name: frame.to_csv(name, index=False, encoding="utf-8-sig"),
    "utf32.csv": lambda frame, name: frame.to_csv(name, index=False, encoding="utf-32"),
    "utf16.csv": lambda frame, name: frame.to_csv(name, index=False, encoding="utf-16"),
    "unknown_ending": lambda frame, name: frame.to_csv(name, index=False),
    "data.parquet": lambda frame, name: frame.to_parquet(name),
    "text.parquet": lambda frame, name: frame.astype("str").where(frame.notna()).to_parquet(name),
    "categories.parquet": lambda frame, name: frame.astype({"colour": "category"}).to_parquet(name),
    "data.arrow": lambda frame, name: frame.to_feather(name),
    "parquet_without_ending": lambda frame, name: frame.to_parquet(name),
}
