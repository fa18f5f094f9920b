# Everything a developer or a CI job calls. It needs cargo, CPython 3.11 or newer, and the package registries.
# `make` prints the targets. Nothing outside this folder is changed.

PYTHON ?= python3
MAKEFLAGS += --no-print-directory
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

ifeq ($(OS),Windows_NT)
BIN := .venv/Scripts
else
BIN := .venv/bin
endif

RUST_SOURCES := Cargo.toml Cargo.lock $(shell find src -name '*.rs')
say = @printf '\n\033[1m==> %s\033[0m\n' $(1)

# What maturin tells pyo3. Saying the same to clippy spares both a second build of it.
AS_MATURIN = PYO3_BUILD_EXTENSION_MODULE=1 PYO3_CONFIG_FILE="$$(ls -t "$(CURDIR)"/target/maturin/pyo3-config-*.txt | head -1)"

.PHONY: help
help: ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: setup
setup: .venv/.built ## make .venv, install the locked tools, build the extension

.venv/.tools: requirements-dev.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo 'dataaccess needs CPython 3.11 or newer, and $(PYTHON) is' "$$($(PYTHON) --version)." \
			'Name another one: make PYTHON=python3.12' >&2; exit 1; }
	$(call say,'Making .venv and installing the locked tools into it')
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --no-deps --require-hashes \
		-r requirements-dev.txt
	@touch $@

.venv/.built: .venv/.tools pyproject.toml $(RUST_SOURCES)
	$(call say,'Building the extension module and installing dataaccess into .venv')
	$(BIN)/maturin develop
	@touch $@

.PHONY: demo
demo: setup ## search, download and look around in the embedded service
	$(call say,'Running examples/demo.py')
	@$(BIN)/python examples/demo.py

.PHONY: test
test: lint types test-rust test-python ## everything that must hold
	$(call say,'Everything holds')

.PHONY: test-rust
test-rust: ## the pure core compiles alone; all Rust tests
	$(call say,'Compiling the core without its features')
	cargo check --locked --no-default-features
	$(call say,'Running the Rust tests')
	cargo test --locked --features files,sandbox

.PHONY: test-python
test-python: setup ## all Python tests, the README and the examples
	$(call say,'Running the Python tests')
	$(BIN)/python -m pytest

.PHONY: soak
soak: setup ## the checks that need minutes or quiet, with their full figures
	$(call say,'Running the long tests')
	$(BIN)/python -m pytest -m soak tests/python/soak

.PHONY: lint
lint: setup ## format and lints of Rust, Python and the workflows
	$(call say,'Checking the Rust code: its format and clippy with each set of features')
	cargo fmt --check
	cargo clippy --locked --all-targets -- -D warnings
	cargo clippy --locked --all-targets --features files,sandbox -- -D warnings
	$(AS_MATURIN) cargo clippy --locked --lib --features files,sandbox,python -- -D warnings
	$(call say,'Checking the Python code: ruff')
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(call say,'Checking the workflows: their schema and their safety')
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/zizmor --offline --quiet .github/workflows

.PHONY: types
types: setup ## mypy, and the stub of the extension module against the binary
	$(call say,'Checking the types: mypy and stubtest')
	$(BIN)/mypy
	cd python && ../$(BIN)/python -m mypy.stubtest --mypy-config-file ../pyproject.toml dataaccess._native

.PHONY: fmt
fmt: .venv/.tools ## format Rust and Python
	$(call say,'Formatting')
	cargo fmt
	$(BIN)/ruff format
	$(BIN)/ruff check --fix-only

# The service writes it; a test holds the two equal.
.PHONY: openapi
openapi: setup ## docs/openapi.json anew, from the service itself
	$(call say,'Writing docs/openapi.json')
	$(BIN)/python -c 'import dataaccess, urllib.request; sandbox = dataaccess.Sandbox(); \
		urllib.request.urlretrieve(sandbox.base_url + "/openapi.json", "docs/openapi.json")'

# The wheel in an environment of its own: what users get is measured, and .venv keeps its quick build. The other
# packages are those of .venv, which stands behind it on the path.
BENCH_PYTHON = $(subst .venv,target/bench/venv,$(BIN))/python
.PHONY: bench
bench: .venv/.tools ## how fast the release build is: a table, and JSON in target/bench
	$(call say,'Building the release wheel and installing it into target/bench/venv')
	@rm -rf target/bench/wheel
	$(BIN)/maturin build --release --out target/bench/wheel
	$(PYTHON) -m venv --clear target/bench/venv
	$(BIN)/uv pip install --quiet --offline --no-deps --python target/bench/venv target/bench/wheel/*.whl
	@$(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' \
		> "$$($(BENCH_PYTHON) -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/contenders.pth"
	$(call say,'Measuring; whatever else runs on this machine is measured too')
	for round in 1 2 3; do cargo bench --locked --bench decode; done | $(BENCH_PYTHON) benches/decode.py
	$(BENCH_PYTHON) benches/client.py
	$(BENCH_PYTHON) benches/scans.py
	$(BENCH_PYTHON) benches/sandbox.py

.PHONY: figures
figures: .venv/.tools ## the figures of the last bench into docs/performance.md and docs/capacity.md
	$(BENCH_PYTHON) benches/page.py
	$(BENCH_PYTHON) benches/capacity.py

.PHONY: lock
lock: .venv/.tools ## resolve both lock files anew
	$(call say,'Resolving Cargo.lock and requirements-dev.txt')
	cargo update
	$(BIN)/uv pip compile --quiet --upgrade --universal --generate-hashes --python-version 3.11 --no-emit-index-url \
		--custom-compile-command 'make lock' --output-file requirements-dev.txt requirements-dev.in

.PHONY: wheel
wheel: .venv/.tools ## the wheel for this platform, into dist
	$(call say,'Building the wheel')
	$(BIN)/maturin build --release --out dist

.PHONY: sdist
sdist: .venv/.tools ## the source distribution, into dist
	$(call say,'Building the source distribution')
	$(BIN)/maturin sdist --out dist

.PHONY: test-wheel
test-wheel: .venv/.tools ## the Python tests on the wheel in dist
	$(call say,'Installing the wheel and running the Python tests on it')
	@rm -f .venv/.built
	$(BIN)/python -m pip install --quiet --force-reinstall --no-deps --no-index --find-links dist dataaccess
	$(BIN)/python -m pytest

.PHONY: clean
clean: ## remove all that was built in this folder
	$(call say,'Removing what was built')
	rm -rf .venv target dist .mypy_cache .ruff_cache .pytest_cache .hypothesis python/dataaccess/_native*.so python/dataaccess/_native*.pyd
	find python tests examples -name __pycache__ -type d -prune -exec rm -rf {} +
