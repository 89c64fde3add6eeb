import pytest

from support.exports import SERVER


@pytest.fixture(scope="module")
def server(postgresql_or_none):
    """Exports run in PostgreSQL, too, where there is a server."""
    if postgresql_or_none is not None:
        SERVER.append(postgresql_or_none)
    yield
    SERVER.clear()
