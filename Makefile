# Targets for developers and CI; `make` lists them. Needs cargo, CPython 3.11 or newer and the package registries, and
# changes nothing outside this folder.

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
comma := ,

# The sandbox embeds its descriptions.
RUST_SOURCES := Cargo.toml Cargo.lock docs/openapi.json docs/sandbox-control.json $(shell find src patches -name '*.rs' -o -name '*.html')
say = @printf '\n\033[1m==> %s\033[0m\n' $(1)

# One set of features for the tested extension, clippy and the Rust tests, so that they share one build. Only on Linux
# do test programs link with the feature `python`.
RUST_FEATURES := files,sandbox,testing$(if $(filter Linux,$(shell uname -s)),$(comma)python)

# The variables that maturin sets for pyo3, so that cargo does not rebuild pyo3.
AS_MATURIN = PYO3_BUILD_EXTENSION_MODULE=1 PYO3_CONFIG_FILE="$$(ls -t "$${CARGO_TARGET_DIR:-$(CURDIR)/target}"/maturin/pyo3-config-*.txt | head -1)"

# uv trusts the certificates of the system, as pip and cargo do: a proxy that inspects TLS has its own CA there.
export UV_SYSTEM_CERTS ?= true

# Test workers import pandas and the like: cache their bytecode.
unexport PYTHONDONTWRITEBYTECODE

# Most Python tests wait for a server or a clock, so more of them run at once than there are CPUs.
WORKERS ?= 4

.PHONY: help
help: ## print this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-19s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: setup
setup: .venv/.test .venv/.lint .venv/.built ## create .venv, install the locked tools, build the extension

.venv/.uv: requirements/uv.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo 'dataaccess needs CPython 3.11 or newer, and $(PYTHON) is' "$$($(PYTHON) --version)." \
			'Name another one: make PYTHON=python3.12' >&2; exit 1; }
	$(call say,'Creating .venv')
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --disable-pip-version-check --no-deps --require-hashes -r requirements/uv.txt
	@touch $@

# One stamp file per dependency group: a target installs only the groups it needs.
.venv/.%: requirements/%.txt .venv/.uv
	$(call say,'Installing the dependency group $* into .venv')
	$(call install,.venv,$*)
	@touch $@

install = $(BIN)/uv pip install --compile-bytecode --python $(1) --no-deps --require-hashes $(patsubst %,-r requirements/%.txt,$(2))

.venv/.built: .venv/.build pyproject.toml $(RUST_SOURCES)
	$(call say,'Building the extension module and installing dataaccess into .venv')
	$(DEVELOP)
	@touch $@

DEVELOP = $(BIN)/maturin develop --uv --features files,python,sandbox,testing

.PHONY: demo
demo: .venv/.demo .venv/.built ## search, download and look around in the sandbox
	$(call say,'Running examples/demo.py')
	@$(BIN)/python examples/demo.py

.PHONY: check
check: lint types test-rust .venv/.test ## quick checks while working: lints, types, Rust tests, fast Python tests
	$(call say,'Running the quick Python tests')
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m 'not (soak or slow or quiet)'

.PHONY: test
test: lint types test-rust test-python ## all checks that a change must pass
	$(call say,'All checks passed')

.PHONY: test-rust
test-rust: .venv/.built ## all Rust tests, after compiling the core without features
	$(call say,'Compiling the core without its features')
	cargo check --locked --no-default-features
	$(call say,'Running the Rust tests')
	$(AS_MATURIN) cargo test --locked --features $(RUST_FEATURES)

.PHONY: test-python
test-python: .venv/.test .venv/.built ## all Python tests, the README and the examples
	$(call say,'Running the Python tests: in parallel first and the quiet ones after them')
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m 'not (soak or quiet)'
	$(BIN)/python -m pytest -m quiet

.PHONY: test-airflow
test-airflow: .venv/.built .venv/.lint target/envs/airflow/.installed ## the Airflow provider and its examples, with Airflow
	$(call say,'Checking the types against those of Airflow')
	$(BIN)/mypy --python-executable target/envs/airflow/$(BIN:.venv/%=%)/python --cache-dir .mypy_cache/airflow \
		--ignore-missing-imports --follow-imports=silent python/dataaccess/airflow
	$(call say,'Running the Airflow tests')
	$(AIRFLOW_PYTEST) tests/airflow

.PHONY: soak-airflow
soak-airflow: .venv/.built target/envs/airflow/.installed ## a real scheduler whose tasks are killed: four minutes, 1.5 GB
	$(call say,'Running Airflow with its scheduler and triggerer and web server')
	$(AIRFLOW_PYTEST) -m soak tests/airflow

AIRFLOW_PYTEST = PYTHONPATH=$(CURDIR)/python:$(CURDIR)/tests/airflow target/envs/airflow/$(BIN:.venv/%=%)/python -m pytest

.PHONY: test-spark
test-spark: .venv/.built target/envs/spark/.installed ## the Spark data source, in an environment with Spark; needs Java 17
	$(call say,'Running the Spark tests')
	PYTHONPATH=$(CURDIR)/python target/envs/spark/$(BIN:.venv/%=%)/python -m pytest tests/spark

.PHONY: soak-spark
soak-spark: .venv/.built target/envs/spark/.installed ## a standalone cluster of Spark, which runs the program of docs/scale.md
	$(call say,'Running a cluster of Spark')
	PYTHONPATH=$(CURDIR)/python target/envs/spark/$(BIN:.venv/%=%)/python -m pytest -m soak tests/spark

.PHONY: test-recipes
test-recipes: .venv/.built target/envs/recipes/.installed ## the recipes, in an environment with dlt, Dask and psycopg
	$(call say,'Running the recipes')
	PYTHONPATH=$(CURDIR)/python target/envs/recipes/$(BIN:.venv/%=%)/python -m pytest tests/recipes

# openapi-python-client, openapi-typescript and progenitor. Needs Node.js 20; what is generated stays in target/openapi.
.PHONY: test-openapi
test-openapi: .venv/.built target/envs/openapi/.installed target/openapi/typescript/.installed ## clients generated from docs/openapi.json: Python, TypeScript and Rust; minutes to compile
	$(call say,'Generating clients and calling the sandbox with them')
	PYTHONPATH=$(CURDIR)/python target/envs/openapi/$(BIN:.venv/%=%)/python -m pytest tests/openapi

target/openapi/typescript/.installed: tests/openapi/typescript/package-lock.json
	$(call say,'Installing the generator for TypeScript into target/openapi/typescript')
	@mkdir -p $(@D)
	cp tests/openapi/typescript/package.json tests/openapi/typescript/package-lock.json $(@D)
	npm ci --prefix $(@D) --ignore-scripts --no-fund --no-audit
	@touch $@

.PHONY: test-page
test-page: .venv/.built target/envs/page/.installed ## the page of the sandbox, in Chromium
	$(call say,'Looking at the page of the sandbox in a browser')
	PYTHONPATH=$(CURDIR)/python:$(CURDIR)/tests/page target/envs/page/$(BIN:.venv/%=%)/python -m pytest tests/page

# The lowest versions that the extras allow: an env of each extra alone for a small program, and one of them all for the
# tests. The groups `airflow` and `spark` have their own.
LOWEST_EXTRAS = pandas polars arrow cli progress
.PHONY: test-lowest
test-lowest: .venv/.built target/envs/lowest-test/.installed ## the extras at their lowest versions: each alone, then the Python tests
	$(call say,'Using each extra alone')
	for extra in $(LOWEST_EXTRAS); do \
		$(BIN)/uv venv --quiet --clear --python $(BIN)/python target/envs/lowest-$$extra; \
		$(BIN)/uv pip install --quiet --python target/envs/lowest-$$extra --constraint requirements/lowest-test.txt \
			--requirement pyproject.toml --extra $$extra; \
		PYTHONPATH=python target/envs/lowest-$$extra/$(BIN:.venv/%=%)/python -W error tests/lowest/alone.py $$extra; \
	done
	$(call say,'Running the Python tests with the lowest versions')
	PATH="$(CURDIR)/$(BIN):$$PATH" VIRTUAL_ENV=$(CURDIR)/target/envs/lowest-test $(DEVELOP)
	target/envs/lowest-test/$(BIN:.venv/%=%)/python -m pytest -n $(WORKERS) --dist worksteal \
		-m 'not (soak or quiet)'

.PHONY: test-lowest-airflow
test-lowest-airflow: .venv/.built target/envs/lowest-airflow/.installed ## the Airflow tests with the lowest Airflow
	$(call say,'Running the Airflow tests with the lowest Airflow')
	PYTHONPATH=$(CURDIR)/python:$(CURDIR)/tests/airflow target/envs/lowest-airflow/$(BIN:.venv/%=%)/python -m pytest --timeout 180 tests/airflow

.PHONY: test-lowest-spark
test-lowest-spark: .venv/.built target/envs/lowest-spark/.installed ## the Spark tests with the lowest Spark
	$(call say,'Running the Spark tests with the lowest Spark')
	PYTHONPATH=$(CURDIR)/python target/envs/lowest-spark/$(BIN:.venv/%=%)/python -m pytest tests/spark

# Tools of cargo. Another version is another file, and so is installed.
CARGO_ABOUT = target/tools/cargo-about-0.9.3/bin/cargo-about
CARGO_DENY = target/tools/cargo-deny-0.20.2/bin/cargo-deny
CARGO_FUZZ = target/tools/cargo-fuzz-0.13.2/bin/cargo-fuzz
CARGO_LLVM_COV = target/tools/cargo-llvm-cov-0.9.1/bin/cargo-llvm-cov
CARGO_MUTANTS = target/tools/cargo-mutants-27.1.0/bin/cargo-mutants
$(CARGO_ABOUT) $(CARGO_DENY) $(CARGO_FUZZ) $(CARGO_LLVM_COV) $(CARGO_MUTANTS):
	$(call say,'Installing $(notdir $(@D:/bin=)) into target/tools')
	cargo install --locked $(if $(filter %about,$@),--features cli) --root $(@D:/bin=) $(@F)@$(patsubst $(@F)-%,%,$(notdir $(@D:/bin=)))

.PHONY: coverage
coverage: .venv/.build $(CARGO_LLVM_COV) target/envs/coverage/.installed ## the lines that the tests of both languages run, into target/coverage; needs LLVM and lcov
	$(call say,'Building with instrumentation and running the tests')
	PATH="$(CURDIR)/$(dir $(CARGO_LLVM_COV)):$$PATH" scripts/coverage.sh $(RUST_FEATURES) $(WORKERS)

# `make mutants MUTANTS=src/retry`: one folder, or the files whose names begin so.
MUTANTS ?= src/retry src/filter/plan src/time src/store/lock src/folder
.PHONY: mutants
mutants: $(CARGO_MUTANTS) ## change the code of MUTANTS='src/retry …' and list what no unit test notices; hours
	$(call say,'Testing with changed code: $(MUTANTS)')
	@mkdir -p target/mutants
	PATH="$(CURDIR)/$(dir $(CARGO_MUTANTS)):$$PATH" cargo mutants --output target/mutants \
		$(foreach name,$(MUTANTS),--file '$(name)*' --file '$(name)/**')

.PHONY: soak
soak: .venv/.test .venv/.built ## the long tests with full counts, and every case for both clients
	$(call say,'Running the long tests')
	$(BIN)/python -m pytest -m soak tests/python/soak
	$(BIN)/python -m pytest --both-clients -n $(WORKERS) --dist worksteal -m 'not (soak or quiet)'
	$(BIN)/python -m pytest --both-clients -m quiet

.PHONY: lint
lint: .venv/.lint .venv/.built ## format and lints of Rust, Python and the workflows
	$(call say,'Checking the Rust code: format and clippy')
	cargo fmt --check
	cargo fmt --check --manifest-path fuzz/Cargo.toml
	$(AS_MATURIN) cargo clippy --locked --all-targets --features $(RUST_FEATURES) -- -D warnings
	$(call say,'Checking the Python code: ruff')
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(call say,'Checking the layers of the Python package: import-linter')
	PYTHONPATH=python $(BIN)/lint-imports
	$(call say,'Checking the workflows: their schema and their safety')
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-issue-forms $(filter-out %/config.yml,$(wildcard .github/ISSUE_TEMPLATE/*.yml))
	$(BIN)/check-jsonschema --builtin-schema vendor.github-issue-config .github/ISSUE_TEMPLATE/config.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-actions .github/actions/*/action.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.dependabot .github/dependabot.yml
	$(BIN)/zizmor --offline --quiet --strict-collection --pedantic .github

.PHONY: types
types: .venv/.lint .venv/.test .venv/.built ## mypy, pyright, and stubtest of the extension module
	$(call say,'Checking the types: mypy - basedpyright - stubtest')
	$(BIN)/mypy
	$(BIN)/basedpyright
	PYTHONPATH=python:tests/types/stubs $(BIN)/basedpyright --verifytypes dataaccess --ignoreexternal | tail -n 20
	cd python && ../$(BIN)/python -m mypy.stubtest --mypy-config-file ../pyproject.toml dataaccess._native

.PHONY: fmt
fmt: .venv/.lint ## format Rust and Python
	$(call say,'Formatting')
	cargo fmt
	cargo fmt --manifest-path fuzz/Cargo.toml
	$(BIN)/ruff format
	$(BIN)/ruff check --fix-only

# A test compares the files with the output of the script.
.PHONY: generate
generate: ## the synchronous classes and the module functions, from the asynchronous classes
	$(call say,'Generating the synchronous classes and the module functions')
	$(PYTHON) scripts/generate_sync.py

# Tests compare the public surface with these texts.
.PHONY: surface
surface: .venv/.test .venv/.built ## accept the public surface: tests/python/surface
	$(call say,'Writing the public surface; read the difference and write CHANGELOG.md')
	ACCEPT_SURFACE=1 $(BIN)/python -m pytest --quiet tests/python/surface

# A test compares what a run shows with what is stored.
.PHONY: notebooks
notebooks: setup ## examples/notebooks with the outputs of a run
	$(call say,'Running the notebooks')
	.venv/bin/python tests/python/support/notebooks.py

# Environments for packages that .venv does not need.
target/envs/bench/.installed: requirements/test.txt requirements/bench.txt .venv/.uv
	$(call say,'Installing the dependency groups test and bench into target/envs/bench')
	$(BIN)/uv venv --clear --python $(BIN)/python target/envs/bench
	$(call install,target/envs/bench,test bench)
	@touch $@

target/envs/coverage/.installed: requirements/test.txt requirements/coverage.txt .venv/.uv
	$(call say,'Installing the dependency groups test and coverage into target/envs/coverage')
	$(BIN)/uv venv --clear --python $(BIN)/python target/envs/coverage
	$(call install,target/envs/coverage,test coverage)
	@touch $@

# Over the group of the tests.
$(patsubst %,target/envs/lowest-%/.installed,airflow spark test): target/envs/lowest-%/.installed: requirements/%.txt requirements/lowest-%.txt .venv/.uv
	$(call say,'Installing the group $* with the lowest versions of its extras into target/envs/lowest-$*')
	$(BIN)/uv venv --clear --python $(BIN)/python target/envs/lowest-$*
	$(call install,target/envs/lowest-$*,$*)
	$(call install,target/envs/lowest-$*,lowest-$*)
	@touch $@

$(patsubst %,target/envs/%/.installed,airflow audit openapi page recipes rehearsal release site spark): target/envs/%/.installed: requirements/%.txt .venv/.uv
	$(call say,'Installing the dependency group $* into target/envs/$*')
	$(BIN)/uv venv --clear --python $(BIN)/python target/envs/$*
	$(call install,target/envs/$*,$*)
	@touch $@

.PHONY: docs
docs: target/envs/site/.installed ## the site of the documentation, into target/site; a broken link is an error
	$(call say,'Building the site of the documentation')
	NO_MKDOCS_2_WARNING=1 target/envs/site/$(BIN:.venv/%=%)/mkdocs build --strict --quiet

# The wheel gets its own environment: .venv keeps its debug build.
BENCH_PYTHON = target/envs/bench/$(BIN:.venv/%=%)/python
BENCHES = bench-decode bench-client bench-scans bench-sandbox
# Parts of bench-client, to run alone.
BENCH_PARTS = frames wire rows shapes tls calls asyncio growth start counters
.PHONY: bench bench-wheel $(BENCHES) $(BENCH_PARTS:%=bench-%)
bench: $(BENCHES) ## benchmarks of the wheel: tables, and JSON in target/bench; bench-calls and the like alone

bench-wheel: target/envs/release/.installed target/envs/bench/.installed
	$(call say,'Building the wheel and installing it into target/envs/bench')
	@rm -rf target/bench/wheel
	$(call WHEEL,target/bench/wheel,$(shell uname -m),gnu)
	$(BIN)/uv pip install --compile-bytecode --offline --no-deps --reinstall --python target/envs/bench target/bench/wheel/*.whl
	$(call say,'Measuring; other load on this machine affects the figures')

bench-decode: target/envs/bench/.installed
	for round in 1 2 3; do cargo bench --profile dist --locked --bench decode; done | $(BENCH_PYTHON) benches/decode.py

bench-client bench-scans bench-sandbox: bench-%: bench-wheel
	$(BENCH_PYTHON) benches/$*.py

$(BENCH_PARTS:%=bench-%): bench-%: bench-wheel
	$(BENCH_PYTHON) benches/client.py $*

.PHONY: bench-engines
bench-engines: bench-wheel target/envs/recipes/.installed target/envs/spark/.installed target/envs/airflow/.installed ## the figures of docs/scale.md: Spark, Dask, Airflow and this client alone
	for env in recipes spark; do \
		$(BIN)/uv pip install --offline --no-deps --reinstall --python target/envs/$$env target/bench/wheel/*.whl; \
	done
	for latency in 0 2; do \
		for engine in recipes:client recipes:dask spark:spark; do \
			PYTHONPATH=tests/python target/envs/$${engine%:*}/$(BIN:.venv/%=%)/python benches/engines.py $${engine#*:} \
				--latency $$latency; \
		done; \
		PYTHONPATH=tests/airflow $(BENCH_PYTHON) benches/engines.py airflow --days 20 --latency $$latency; \
	done

.PHONY: bench-spark
bench-spark: bench-wheel target/envs/spark/.installed ## the data source for Spark beside this client alone, on two cores
	$(BIN)/uv pip install --offline --no-deps --reinstall --python target/envs/spark target/bench/wheel/*.whl
	PYTHONPATH=tests/python target/envs/spark/$(BIN:.venv/%=%)/python benches/spark_read.py

# Callgrind counts the instructions of the wheel. The accepted figures are in benches/instructions.json.
.PHONY: bench-instructions
bench-instructions: bench-wheel ## fail when a row or a call takes 5 % more instructions than was accepted
	$(BENCH_PYTHON) benches/instructions.py --check

.PHONY: accept-instructions
accept-instructions: bench-wheel ## count instructions anew and accept them: REASON='why they changed'
	@[ -n "$(REASON)" ] || { echo "say why: make accept-instructions REASON='…'" >&2; exit 1; }
	$(BENCH_PYTHON) benches/instructions.py --accept "$(REASON)"

.PHONY: bench-smoke
bench-smoke: .venv/.built target/envs/bench/.installed ## each bench once, with little data and the debug build
	$(call say,'Running each bench once')
	PYTHONPATH=python $(BENCH_PYTHON) -m pytest -n $(WORKERS) tests/benches

.PHONY: figures
figures: target/envs/bench/.installed ## write the figures of the last bench into benches/RESULTS.md, docs/performance.md and docs/scale.md
	$(BENCH_PYTHON) benches/page.py
	$(BENCH_PYTHON) benches/capacity.py

# Linux. The sanitizers need a nightly compiler or RUSTC_BOOTSTRAP, which scripts/fuzz.py sets.
FUZZ_SECONDS ?= 60
FUZZ_TARGETS ?=
.PHONY: fuzz
fuzz: $(CARGO_FUZZ) ## each fuzz target for a minute: FUZZ_SECONDS=60, FUZZ_TARGETS='readers times'; minutes to compile
	cargo fetch --locked --quiet --manifest-path fuzz/Cargo.toml
	$(call say,'Running the fuzz targets for $(FUZZ_SECONDS) seconds each')
	PATH="$(CURDIR)/$(dir $(CARGO_FUZZ)):$$PATH" $(PYTHON) scripts/fuzz.py $(FUZZ_SECONDS) $(FUZZ_TARGETS)

# A wheel contains the crates and this file.
.PHONY: licenses
licenses: $(CARGO_ABOUT) ## licenses/crates.txt, after make lock: the licences of the crates in a wheel; takes minutes
	$(call say,'Collecting the licences of the crates')
	cargo fetch --locked --quiet
	$(CARGO_ABOUT) generate --config licenses/about.toml --no-default-features --features files,python,sandbox \
		--locked --offline --fail --output-file licenses/crates.txt licenses/crates.hbs
	$(PYTHON) scripts/notices.py

.PHONY: lock
lock: .venv/.uv ## update Cargo.lock, requirements/*.txt and the lock files of fuzz and tests/openapi
	$(call say,'Resolving Cargo.lock and requirements/*.txt and the lock files of fuzz and tests/openapi')
	cargo update
	cargo update --manifest-path fuzz/Cargo.toml
	cargo update --manifest-path tests/openapi/rust/Cargo.toml
	npm update --prefix tests/openapi/typescript --package-lock-only --ignore-scripts
	$(call resolve,uv)
	$(call resolve,test)
	$(call resolve,build,--constraint requirements/test.txt)
	$(call resolve,demo,--constraint requirements/test.txt)
	$(call resolve,lint,--constraint requirements/test.txt)
	$(call resolve,bench,--constraint requirements/test.txt)
	$(call resolve,coverage,--constraint requirements/test.txt)
	$(call resolve,airflow)
	$(call resolve,openapi)
	$(call resolve,page)
	$(call resolve,recipes)
	$(call resolve,release,--constraint requirements/test.txt)
	$(call resolve,spark)
	$(call resolve,site)
	$(call resolve,audit)
	$(call resolve,rehearsal)
	$(call resolve_lowest,test,all)
	$(call resolve_lowest,airflow,airflow)
	$(call resolve_lowest,spark,spark)

resolve = $(BIN)/uv pip compile --quiet --upgrade --universal --generate-hashes --python-version 3.11 --no-emit-index-url \
	--custom-compile-command 'make lock' --output-file requirements/$(1).txt --group $(1) $(2)

# The packages of an extra at their lowest versions, and the newest that go with them: boto3, which the tests use, needs
# an older dateutil.
resolve_lowest = echo 'python-dateutil<3' | \
	$(BIN)/uv pip compile --quiet --upgrade --universal --generate-hashes --python-version 3.11 --no-emit-index-url \
	--custom-compile-command 'make lock' --output-file requirements/lowest-$(1).txt --resolution lowest-direct \
	--constraint - --extra $(2) pyproject.toml

# On Linux, zig compiles C and links: the wheel runs with glibc 2.28 or musl 1.2, whatever this machine has. The arguments
# are the folder, the processor and the C library.
VERSION = $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)
RELEASE = target/envs/release/$(BIN:.venv/%=%)
PLATFORM_gnu = manylinux_2_28
PLATFORM_musl = musllinux_1_2
define WHEEL
CARGO_ZIGBUILD_PYTHON_PATH=$(CURDIR)/$(RELEASE)/python $(RELEASE)/maturin build --profile dist --out $(1) $(if \
	$(filter Linux,$(shell uname -s)),--zig --compatibility $(PLATFORM_$(3)) --target $(2)-unknown-linux-$(3))
$(RELEASE)/python scripts/finish_wheel.py $(1)
endef

.PHONY: wheel
wheel: target/envs/release/.installed ## the wheel for this platform, into dist; on Linux for manylinux_2_28
	$(call say,'Building the wheel')
	$(call WHEEL,dist,$(shell uname -m),gnu)

.PHONY: wheel-aarch64
wheel-aarch64: target/envs/release/.installed ## the wheel for aarch64 Linux, compiled on another Linux
	$(call say,'Building the wheel for aarch64')
	@[ -d "$$($${RUSTC:-rustc} --print sysroot)/lib/rustlib/aarch64-unknown-linux-gnu" ] || { \
		echo "The standard library of Rust for aarch64 is not installed: rustup target add aarch64-unknown-linux-gnu" >&2; \
		exit 1; }
	$(call WHEEL,dist,aarch64,gnu)

# For Alpine and the like.
.PHONY: wheel-musl
wheel-musl: target/envs/release/.installed ## the wheel for Linux with musl, into dist; needs the library of Rust for musl
	$(call say,'Building the wheel for musl')
	$(call WHEEL,dist,$(shell uname -m),musl)

.PHONY: sdist
sdist: target/envs/release/.installed ## the source distribution, into dist
	$(call say,'Building the source distribution')
	$(RELEASE)/maturin sdist --out dist

.PHONY: check-dist
check-dist: target/envs/release/.installed ## contents, sizes, symbols and metadata of the files in dist
	$(call say,'Checking the files in dist')
	$(RELEASE)/python scripts/check_dist.py

# PYTHON=… tests with this Python alone; REQUIRED='3.13 3.14' fails where one of these is not here.
.PHONY: test-wheel
test-wheel: .venv/.uv ## the Python tests on the wheel in dist, with each CPython that is here, without cargo
	$(call say,'Testing the wheel in dist')
	$(BIN)/python scripts/test_wheel.py --workers $(WORKERS) $(if $(filter command environment,$(origin PYTHON)),$(PYTHON)) \
		$(if $(REQUIRED),--require $(REQUIRED))

# As docs/versions.md shows: the crates of the lock file are copied into the sources, then there is no network.
SDIST = target/sdist
.PHONY: test-sdist
test-sdist: .venv/.uv requirements/build.txt ## compile the source distribution in dist without a network, and try it
	$(call say,'Unpacking the source distribution and copying its crates into it')
	@rm -rf $(SDIST)/source $(SDIST)/home
	@mkdir -p $(SDIST)/source/.cargo $(SDIST)/home
	tar xzf dist/dataaccess-$(VERSION).tar.gz --strip-components 1 -C $(SDIST)/source
	cd $(SDIST)/source && cargo vendor --locked > .cargo/config.toml 2> ../vendor.log
	$(call say,'Compiling it without a network and without what cargo downloaded before')
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python target/envs/sdist
	$(call install,target/envs/sdist,build)
	CARGO_HOME=$(CURDIR)/$(SDIST)/home CARGO_NET_OFFLINE=true CARGO_TARGET_DIR=$(CURDIR)/$(SDIST)/target \
		$(BIN)/uv pip install --offline --no-deps --no-build-isolation --python target/envs/sdist $(SDIST)/source
	$(call say,'Trying it')
	target/envs/sdist/$(BIN:.venv/%=%)/python -c 'import dataaccess; print(dataaccess.__version__)'
	target/envs/sdist/$(BIN:.venv/%=%)/python examples/etl_script.py | grep demo-

# What the workflows run beside tests; docs/releasing.md and CONTRIBUTING.md.
.PHONY: msrv
msrv: .venv/.uv ## compile what is in the wheel; CI does it with the oldest Rust that Cargo.toml allows
	$(call say,'Compiling the core and the extension')
	cargo check --locked --no-default-features
	PYO3_PYTHON=$(CURDIR)/$(BIN)/python cargo check --locked --features files,python,sandbox

.PHONY: test-free-threaded
test-free-threaded: .venv/.build ## the package on free-threaded CPython, PYTHON=python3.14t: it works with the GIL
	@$(BIN)/python -c 'import sysconfig; raise SystemExit(not sysconfig.get_config_var("Py_GIL_DISABLED"))' || { \
		echo '.venv has an ordinary Python: make clean, then make test-free-threaded PYTHON=python3.14t' >&2; exit 1; }
	$(call say,'Building for free-threaded CPython and using it')
	$(DEVELOP)
	$(BIN)/python tests/free_threaded/with_gil.py

.PHONY: deny
deny: $(CARGO_DENY) ## licences and sources of the crates and repeated or banned ones, by cargo-deny
	$(call say,'Checking the crates: bans - licences - sources')
	cargo fetch --locked --quiet
	$(CARGO_DENY) --locked --offline check bans licenses sources

# The lowest versions of the extras are for tests: they are old on purpose.
MANIFESTS = Cargo.toml fuzz/Cargo.toml tests/openapi/rust/Cargo.toml
AUDITED = $(filter-out requirements/lowest-%,$(wildcard requirements/*.txt))
.PHONY: advisories
advisories: $(CARGO_DENY) target/envs/audit/.installed ## known vulnerabilities of locked packages; asks the advisory databases
	$(call say,'Asking for advisories: cargo-deny - pip-audit - npm')
	for manifest in $(MANIFESTS); do $(CARGO_DENY) --manifest-path $$manifest --locked --config deny.toml check advisories; done
	failed=0; for file in $(AUDITED); do \
		echo "$$file"; \
		target/envs/audit/$(BIN:.venv/%=%)/pip-audit --strict --require-hashes --disable-pip --requirement $$file || failed=1; \
	done; exit $$failed
	npm audit --prefix tests/openapi/typescript --package-lock-only

.PHONY: audit-actions
audit-actions: .venv/.lint ## the checks of the workflows that ask GitHub: whose hash each action has; needs GH_TOKEN
	$(call say,'Checking the workflows: what GitHub knows of their actions')
	@[ -n "$$GH_TOKEN" ] || { echo 'Set GH_TOKEN: zizmor asks GitHub.' >&2; exit 1; }
	$(BIN)/zizmor --quiet --strict-collection --pedantic .github

.PHONY: dry-run
dry-run: .venv/.test ## run the steps of the workflows that can run here: the quick ones; DRY_RUN=--all runs the others too
	$(call say,'Running the steps of the workflows')
	$(BIN)/python scripts/dry_run.py $(DRY_RUN)

.PHONY: rehearse-release
rehearse-release: check-dist .venv/.test target/envs/rehearsal/.installed ## a release on a scratch remote and a local index, of the files in dist
	$(call say,'Rehearsing a release')
	$(BIN)/python scripts/rehearse_release.py --tools target/envs/rehearsal/$(BIN:.venv/%=%)

.PHONY: clean
clean: ## remove everything that was built
	$(call say,'Removing build files')
	rm -rf .venv target dist .mypy_cache .ruff_cache .pytest_cache .hypothesis python/dataaccess/_native*.so python/dataaccess/_native*.pyd
	find python tests examples -name __pycache__ -type d -prune -exec rm -rf {} +
