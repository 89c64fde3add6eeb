"""The example scripts draw what they say."""

import pytest

from support.pages import ROOT, load_example

pytestmark = pytest.mark.usefixtures("closing")


def is_picture(path):
    return path.read_bytes().startswith(b"\x89PNG") and path.stat().st_size > 5000


def test_wine_figures(tmp_path, capsys):
    files = load_example("wine_figures").main(tmp_path / "new")
    expected = {"wine_trees.png"}
    for beta in ("0", "0.25"):
        expected.add(f"wine_weights_beta_{beta}.png")
        expected |= {f"wine_block_0_class_{code}_beta_{beta}.png" for code in range(3)}
    assert {file.name for file in files} == expected
    assert all(is_picture(file) for file in files)
    assert capsys.readouterr().out.count("of the test rows are predicted correctly") == 2


def test_gallery(tmp_path):
    files = load_example("gallery").main(tmp_path)
    for file in files:
        assert is_picture(file)
        assert file.stat().st_size < 150_000
        assert is_picture(ROOT / "docs" / "pictures" / file.name)
