import os
import pathlib

import pytest


@pytest.fixture(scope="session")
def shared():
    """The folder of data that no package holds; tests that want it are skipped without it."""
    folder = os.environ.get("METIER_SHARED")
    if not folder or not pathlib.Path(folder).is_dir():
        pytest.skip("needs METIER_SHARED")
    return pathlib.Path(folder)


@pytest.fixture
def doctest_of():
    """Runs the examples of a module."""
    import doctest
    import importlib

    def run(name):
        found = doctest.testmod(importlib.import_module(name))
        assert found.attempted > 0 and found.failed == 0

    return run
