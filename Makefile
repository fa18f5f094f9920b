# `make` lists the targets. Needs cargo, CPython 3.11 or newer and the package registries; changes nothing outside this
# folder. Rarer commands are in CONTRIBUTING.md.

PYTHON ?= python3
# Most Python tests wait for a server or a clock, so more of them run at once than there are CPUs.
WORKERS ?= 4
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.NOTPARALLEL:
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
# uv trusts the certificates of the system, as pip and cargo do: a proxy that inspects TLS has its own CA there.
export UV_SYSTEM_CERTS ?= true
# Test workers import pandas and the like: cache their bytecode.
unexport PYTHONDONTWRITEBYTECODE

SCRIPTS := $(if $(filter Windows_NT,$(OS)),Scripts,bin)
BIN := .venv/$(SCRIPTS)
UV := $(BIN)/uv
# One set of features for the extension of tests, clippy and the Rust tests, so that they share one build. Test programs
# link with the feature `python` on Linux only.
FEATURES := files,sandbox,testing$(if $(filter Linux,$(shell uname -s)),$(shell printf ,python))
# The variables that maturin sets for pyo3: with them cargo does not compile pyo3 again.
CONFIG = $(shell ls -t $(or $(CARGO_TARGET_DIR),$(CURDIR)/target)/maturin/pyo3-config-*.txt 2> /dev/null | head -1)
CARGO = PYO3_PYTHON=$(CURDIR)/$(BIN)/python $(if $(CONFIG),PYO3_BUILD_EXTENSION_MODULE=1 PYO3_CONFIG_FILE=$(CONFIG)) cargo
RUST_SOURCES := Cargo.toml Cargo.lock docs/openapi.json $(shell find src -name '*.rs' -o -name '*.html')
OR_ADVISE = || { echo 'Packages were not downloaded, see above. Is there a network? If a proxy inspects TLS, add its CA to the' \
	'system, or name its file in PIP_CERT, SSL_CERT_FILE and CARGO_HTTP_CAINFO.' >&2; exit 1; }
# What is locked for .venv: `tools.txt` lacks what `test.txt` has for every machine.
ALL := -r requirements/test.txt -r requirements/tools.txt
say = @printf '\n\033[1m==> %s\033[0m\n' $(1)

.PHONY: help setup demo test test-rust test-python test-again test-env lint lint-rust lint-python fmt docs wheel bench lock clean

help:
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: .venv/.tools .venv/.built ## create .venv with the locked tools, build the extension module

demo: .venv/.demo .venv/.built ## search, download and look around in the sandbox
	$(call say,'Running examples/demo.py')
	@$(BIN)/python examples/demo.py

test: test-rust test-python ## all Rust and Python tests

test-rust: .venv/.built
	$(call say,'Compiling the core without its features')
	cargo check --locked --no-default-features
	$(call say,'Running the Rust tests')
	$(CARGO) test --locked --features $(FEATURES)

test-python: .venv/.test .venv/.built
	$(call say,'Running the Python tests: in parallel first and the quiet ones after them')
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m 'not (soak or quiet)'
	$(BIN)/python -m pytest -m quiet

# After `make test` has failed: the few Python tests that failed, alone, and the quiet ones. More than three are no chance.
test-again: .venv/.test .venv/.built
	$(call say,'Running the Python tests that failed once more')
	$(BIN)/python -m pytest --last-failed --last-failed-no-failures none --co -q | awk '/::/ { n++ } END { exit !(n && n <= 3) }'
	$(BIN)/python -m pytest --last-failed --last-failed-no-failures none
	$(BIN)/python -m pytest -m quiet

# make test-env ENV=airflow: what needs packages or programs that the other tests do not. ENV is airflow, spark, recipes,
# page, openapi or benches; ARGS are arguments of pytest.
ENV_BIN = $(if $(filter airflow spark,$(ENV)),target/envs/$(ENV)/$(SCRIPTS),$(BIN))
test-env: .venv/.built $(if $(filter airflow spark,$(ENV)),target/envs/$(ENV)/.installed,.venv/.tools)
	@[ -n '$(ENV)' ] || { echo 'make test-env ENV=…: airflow spark recipes page openapi or benches' >&2; exit 1; }
	$(call say,'Running the tests of $(ENV)')
	PYTHONPATH=$(CURDIR)/python:$(CURDIR)/tests/$(ENV) $(ENV_BIN)/python -m pytest tests/$(ENV) $(ARGS)

lint: lint-rust lint-python ## formats, lints and types of Rust, Python and the workflows; compiles no extension module

lint-rust: .venv/.uv
	$(call say,'Checking the Rust code: format and clippy')
	cargo fmt --all --check
	$(CARGO) clippy --locked --all-targets --features $(FEATURES) -- -D warnings

lint-python: .venv/.tools
	$(call say,'Checking the Python code: ruff - import-linter - mypy - pyright')
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	PYTHONPATH=python $(BIN)/lint-imports
	$(BIN)/mypy
	$(BIN)/basedpyright
	$(call say,'Checking the workflows: their schema and their safety')
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/zizmor --offline --quiet --strict-collection --pedantic .github

fmt: .venv/.tools ## format Rust and Python
	cargo fmt --all
	$(BIN)/ruff format
	$(BIN)/ruff check --fix-only

docs: .venv/.tools ## the site of the documentation, into target/site; a broken link is an error
	$(call say,'Building the site of the documentation')
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet --config-file .ci/mkdocs.yml

wheel: .venv/.demo ## an optimized wheel for this machine, into dist
	$(call say,'Building the wheel')
	rm -f dist/*
	$(BIN)/maturin build --locked --profile dist --out dist

bench: .venv/.tools wheel ## compare the wheel with other clients: tables, and JSON in target/bench
	$(UV) venv --quiet --clear --python $(BIN)/python target/envs/bench
	$(UV) pip install --quiet --python target/envs/bench --no-deps --require-hashes $(ALL)
	$(UV) pip install --quiet --python target/envs/bench --no-deps dist/*.whl
	target/envs/bench/$(SCRIPTS)/python benches/client.py
	cargo bench --profile dist --locked --bench decode

lock: .venv/.uv
	cargo update
	for group in test tools airflow spark release; do \
		of_test=$$([ $$group != tools ] || sed -n 's/^\([a-z0-9-]*\)==[^;]*$$/--no-emit-package \1/p' requirements/test.txt) && \
		$(UV) pip compile --quiet --upgrade --universal --generate-hashes --python-version 3.11 --no-emit-index-url --no-annotate \
			--custom-compile-command 'make lock' --output-file requirements/$$group.txt --group $$group \
			$${of_test:+--constraint requirements/test.txt $$of_test}; \
	done

clean: ## remove everything that was built
	rm -rf .venv target dist .*_cache .hypothesis python/dataaccess/_native*.{so,pyd}
	find python tests examples -name __pycache__ -type d -prune -exec rm -rf {} +

# A stamp file for each part of .venv.
.venv/.uv:
	@command -v cargo > /dev/null || { echo 'cargo is missing: install Rust 1.89 or newer, https://rustup.rs' >&2; exit 1; }
	@[ '$(OS)' = Windows_NT ] || command -v cc > /dev/null || { echo 'cc is missing: install gcc or clang' >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo 'dataaccess needs CPython 3.11 or newer; name one: make PYTHON=python3.12' >&2; exit 1; }
	$(call say,'Creating .venv')
	$(PYTHON) -m venv .venv
	sed -n '/^uv==/,/[^\\]$$/p' requirements/test.txt > .venv/uv.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r .venv/uv.txt $(OR_ADVISE)
	@touch $@

.venv/.demo: requirements/test.txt .venv/.uv
	@$(UV) pip install --quiet --python .venv --require-hashes --constraint requirements/test.txt --group demo $(OR_ADVISE)
	@touch $@

.venv/.test: requirements/test.txt .venv/.uv
	$(call say,'Installing what tests need into .venv')
	@$(UV) pip install --quiet --compile-bytecode --python .venv --no-deps --require-hashes -r requirements/test.txt $(OR_ADVISE)
	@touch $@

.venv/.tools: requirements/tools.txt .venv/.test
	$(call say,'Installing the tools into .venv')
	@$(UV) pip install --quiet --compile-bytecode --python .venv --no-deps --require-hashes $(ALL) $(OR_ADVISE)
	@$(UV) pip check --quiet --python .venv
	@touch $@

.venv/.built: .venv/.demo pyproject.toml $(RUST_SOURCES)
	$(call say,'Building the extension module and installing dataaccess into .venv')
	@cargo fetch --locked --quiet $(OR_ADVISE)
	$(BIN)/maturin develop --locked --uv --features files,python,sandbox,testing
	@touch $@

target/envs/%/.installed: requirements/%.txt .venv/.uv
	$(call say,'Installing the dependency group $* into target/envs/$*')
	$(UV) venv --quiet --clear --python $(BIN)/python target/envs/$*
	$(UV) pip install --quiet --compile-bytecode --python target/envs/$* --no-deps --require-hashes -r requirements/$*.txt
	@touch $@
