# One target per daily need. Needs Python 3.10 or newer, a C++ compiler and make; the rest comes from PyPI into .venv.
PYTHON ?= python3
FUZZ_RUNS ?= 1000000
SECONDS ?= 600

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip -qq --disable-pip-version-check
NPM := $(shell command -v npm)
CPP := $(shell find cpp -name '*.cpp' -o -name '*.hpp')

# Stamps say what is done already. An editable install sees edited modules but not new ones, so the name of the
# package's stamp changes with the list of its files.
FILES := $(shell find src/lhtree -not -path '*__pycache__*' -type f | LC_ALL=C sort | cksum | cut -d' ' -f1)
TOOLS := $(VENV)/.tools
PACKAGE := $(VENV)/.package-$(FILES)

help:  ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-7s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(PACKAGE)  ## train on wine, print accuracy by beta and one tree, write a report
	$(BIN)/python examples/demo.py

test: $(PACKAGE) $(VENV)/.group-test  ## run the Python tests
	$(BIN)/pytest -n auto

cover: $(PACKAGE) $(VENV)/.group-test  ## run the Python tests and measure their coverage
	$(BIN)/pytest -n auto --cov --cov-report=term:skip-covered --cov-fail-under=95

native: $(TOOLS)  ## run the C++ tests under address and undefined-behaviour sanitizers
	$(BIN)/cmake -S . -B build/native -G Ninja -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja \
		-DLHTREE_PYTHON=OFF -DLHTREE_TESTS=ON -DLHTREE_SANITIZE=ON --log-level=WARNING
	$(BIN)/cmake --build build/native
	$(BIN)/ctest --test-dir build/native --output-on-failure

fuzz: $(TOOLS)  ## fuzz the checks of models with a million hostile inputs; needs clang (FUZZ_RUNS=n for n inputs)
	$(BIN)/cmake -S . -B build/fuzz -G Ninja -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja -DCMAKE_CXX_COMPILER=clang++ \
		-DLHTREE_PYTHON=OFF -DLHTREE_FUZZ=ON -DLHTREE_SANITIZE=ON --log-level=WARNING
	$(BIN)/cmake --build build/fuzz
	mkdir -p build/fuzz/corpus
	build/fuzz/lhtree_fuzz -runs=$(FUZZ_RUNS) -max_len=4096 -artifact_prefix=build/fuzz/ build/fuzz/corpus

attack: $(PACKAGE) $(VENV)/.group-test  ## save, export, explain and report random models for ten minutes (SECONDS=n for n seconds)
	$(BIN)/python tests/support/attacks.py --seconds $(SECONDS)

cross: $(VENV)/.group-cross  ## run the C++ tests for Windows (Wine) and AArch64 (QEMU), compile them for macOS
	.ci/cross $(TARGETS)

wheel: $(VENV)/.group-wheel  ## build an sdist and from it a wheel, and test the wheel in an empty environment
	.ci/wheel

lint: $(PACKAGE) $(VENV)/.group-lint  ## check style and types
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	@$(BIN)/clang-format --dry-run -Werror $(CPP)
	$(if $(NPM),$(MAKE) --no-print-directory node_modules/.done && npx eslint src/lhtree/reports/assets src/lhtree/serve/assets tests/reports,@echo "npm is not installed: the JavaScript is not checked")

node_modules/.done: package-lock.json
	npm ci --no-audit --no-fund --silent
	@touch $@

fix: $(PACKAGE) $(VENV)/.group-lint stubs  ## fix style, regenerate the stubs
	$(BIN)/ruff check --fix
	$(BIN)/ruff format
	@$(BIN)/clang-format -i $(CPP)

stubs: $(PACKAGE)  ## regenerate src/lhtree/_core.pyi
	$(BIN)/python -m nanobind.stubgen --quiet --module lhtree._core --pattern-file cpp/bindings.pat \
		--output-file src/lhtree/_core.pyi

docs: $(PACKAGE) $(VENV)/.group-docs  ## build the documentation site into build/site and test it
	rm -rf docs/gallery docs/generated build/site
	$(BIN)/sphinx-build -W --keep-going -n -q -b html docs build/site
	LHTREE_SITE=$(CURDIR)/build/site $(BIN)/pytest -q tests/docs/test_site.py
	@echo build/site/index.html

bench: $(PACKAGE) $(VENV)/.group-bench  ## compare speed and accuracy with other libraries
	$(BIN)/python -m benchmarks

clean:  ## remove all generated files
	rm -rf $(VENV) build dist docs/gallery docs/generated .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache

# pip learned --group in 25.1, so it is renewed first.
$(TOOLS): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10) and "Python 3.10 or newer is needed: make PYTHON=...")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install --upgrade 'pip>=25.1'
	$(PIP) install --group build
	@touch $@

$(PACKAGE): $(TOOLS) CMakeLists.txt src/lhtree/__init__.py $(filter-out cpp/tests/% cpp/fuzz/%,$(CPP)) cpp/tests/pieces.cpp
	$(PIP) install --no-build-isolation --config-settings=cmake.define.LHTREE_PIECES=ON --editable '.[all]'
	@rm -f $(VENV)/.package-* && touch $@

$(VENV)/.group-%: $(TOOLS)
	$(PIP) install --group $*
	@touch $@

.PHONY: help demo test cover native fuzz attack cross wheel lint fix stubs docs bench clean
.DELETE_ON_ERROR:
