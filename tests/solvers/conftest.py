"""The slow implementation of the papers that the compiled code is compared with."""

import importlib.util
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def reference():
    """The module beside this file; loaded by path, as test folders are no packages."""
    name = "lvq_reference"
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name("reference.py"))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module
