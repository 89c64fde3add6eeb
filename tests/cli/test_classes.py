"""The target column: classes as they are written; one test per error."""

import pytest

from lhtree.cli._errors import ExitCode
from lhtree.cli._training import read_training
from support.table_files import refusal, write

pd = pytest.importorskip("pandas")


class TestTarget:
    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)

    def classes(self, labels, **options):
        rows = "".join(f'{i},"{label}"\n' for i, label in enumerate(labels))
        return read_training(write(f"x,y\n{rows}"), "y", **options).y.tolist()

    def test_unknown_one_gets_the_nearest(self):
        path = write("size,colour,Kind\n1,2,u\n3,4,v\n")
        message, code = refusal(read_training, path, "kind")
        assert message == "--target kind: data.csv has no such column; the nearest is 'Kind'"
        assert code == ExitCode.DATA
        message, _ = refusal(read_training, path, "zzz")
        assert message == "--target zzz: data.csv has no such column; there are size, colour, Kind"

    @pytest.mark.parametrize(
        ("written", "read"),
        [
            (["1", "2", "1"], [1, 2, 1]),
            (["1.0", "2.0", "-3"], [1, 2, -3]),
            (["01", "2", "01"], ["01", "2", "01"]),
            (["+", "-", "+"], ["+", "-", "+"]),
            (["None", "some", "None"], ["None", "some", "None"]),
            ([" a ", "a", "b"], ["a", "a", "b"]),
            (["0.5", "1.5", "0.5"], ["0.5", "1.5", "0.5"]),
            (["True", "False", "True"], ["True", "False", "True"]),
            (["1", "1.0", "2"], ["1", "1.0", "2"]),
            (["9" * 30, "1", "1"], ["9" * 30, "1", "1"]),
            (["a, b", 'say ""hi""', "a, b"], ["a, b", 'say "hi"', "a, b"]),
        ],
    )
    def test_labels_as_written(self, written, read):
        assert self.classes(written) == read

    def test_missing(self):
        labels = ["a", "", "b", "NA", "a", "?"]
        message, _ = refusal(self.classes, labels)
        assert message == (
            "--target y is missing in 3 of 6 rows: add it, or leave these rows out with --drop-missing-target"
        )
        assert self.classes(labels, drop_missing_target=True) == ["a", "b", "a"]
        X, _, n_dropped = read_training("data.csv", "y", drop_missing_target=True)
        assert X["x"].tolist() == [0.0, 2.0, 4.0]
        assert n_dropped == 3

    def test_one_class(self):
        message, code = refusal(self.classes, ["a", "a", ""])
        assert message == (
            "--target y: the only class is 'a', and 1 of 3 rows have none; a classifier needs rows of at least two "
            "classes"
        )
        assert code == ExitCode.DATA
        assert "no row has a class" in refusal(self.classes, ["", ""])[0]

    def test_measured_numbers(self):
        message, _ = refusal(self.classes, [f"{i / 7:.3f}" for i in range(100)])
        assert message == (
            "--target y holds 100 different numbers, and lhtree predicts classes: make classes of them first, such as "
            "low and high"
        )
        assert "different numbers" in refusal(self.classes, [str(i % 300) for i in range(3000)])[0]
        assert len(set(self.classes([str(i % 100) for i in range(3000)]))) == 100

    def test_names_of_rows(self):
        message, _ = refusal(self.classes, [f"name {i}" for i in range(100)])
        assert message == (
            "--target y has 100 classes in 100 rows, which is too many: pass the column that holds the classes"
        )

    def test_dates(self):
        pd.DataFrame({"x": [1, 2], "y": pd.to_datetime(["2024-01-31", "2024-02-01"])}).to_parquet("d.parquet")
        assert "--target y holds timestamp" in refusal(read_training, "d.parquet", "y")[0]
