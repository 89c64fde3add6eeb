from contextlib import closing

import pytest

from lhtree import LHTClassifier
from support.clouds import make_clouds
from support.exports import SERVER
from support.hostile import open_engine


@pytest.fixture(scope="module")
def server(postgresql_or_none):
    """Exports run in PostgreSQL, too, where there is a server."""
    if postgresql_or_none is not None:
        SERVER.append(postgresql_or_none)
    yield
    SERVER.clear()


@pytest.fixture(scope="session")
def model():
    """A tree of three classes and three features."""
    return LHTClassifier().fit(*make_clouds(90, 3, 3))


@pytest.fixture(params=["sqlite", "duckdb", "postgresql"])
def engine(request):
    """A dialect of SQL and a connection to an engine of it."""
    server = request.getfixturevalue("postgresql") if request.param == "postgresql" else None
    with closing(open_engine(request.param, server)) as connection:
        yield request.param, connection
