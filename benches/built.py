"""Where the programs are that `make bench` builds for the benchmarks."""

import os
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
BUILD = "cargo build --release --workspace --bins --examples"


def program(name):
    """The path of a program or an example, or an end with the command that builds it."""
    target = os.path.join(ROOT, os.environ.get("CARGO_TARGET_DIR", "target"), "release")
    for path in (os.path.join(target, name), os.path.join(target, "examples", name)):
        if os.path.isfile(path):
            return path
    sys.exit(f"{name} is not built: {BUILD}")
