"""What every reader of a file says of bytes that are no model."""

import pytest

from lhtree import ModelFileError
from support.sealing import READERS


@pytest.fixture
def refused(tmp_path):
    """What every reader says of some bytes."""

    def ask(content):
        path = tmp_path / "hostile.lht"
        path.write_bytes(content)
        messages = set()
        for read in READERS:
            with pytest.raises(ModelFileError) as caught:
                read(path)
            messages.add(str(caught.value))
        (message,) = messages
        assert message.startswith(f"path={str(path)!r} is not a valid lhtree model file: ")
        assert message.endswith(".")
        return message

    return ask
