# The commands. Each does its own set-up in .venv, so a fresh machine needs only git, make, python3 and venv.
PYTHON ?= python3
BIN := .venv/bin
# A data folder beside the checkout is used if it exists; tests that need it skip without it.
LVQ_DATA ?= $(wildcard $(abspath ../shared/data))
export LVQ_DATA

.PHONY: demo test test-all check bench torch test-oldest docs docs-quick docs-links format clean release-check

demo: .venv/.cli
	$(BIN)/lvq demo --out out/demo --force

test: .venv/.developer
	$(BIN)/python -m pytest -n 2 --dist worksteal

# Also the cases marked slow: the fuller products of seeds, types and parts.
test-all: .venv/.developer
	$(BIN)/python -m pytest -n 2 --dist worksteal -m ""

check: .venv/.developer
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Against the machine's own limit and other libraries in the same run, about 45 minutes; nothing else should run.
# Libraries that could not be installed are reported as missing.
bench: .venv/.developer
	-$(BIN)/python -m benchmarks environments
	$(BIN)/python -m benchmarks
	$(BIN)/python -m benchmarks page

# Optional: with torch the tests of tensors run too, without it they skip.
torch: .venv/.torch

# The oldest supported versions of every runtime dependency, in an environment of their own.
# It has a cache of its own for compiled code, as two versions of numba would replace each other's.
test-oldest: .venv-oldest/.developer
	NUMBA_CACHE_DIR=.venv-oldest/numba .venv-oldest/bin/python -m pytest -n 2 --dist worksteal

# The site, in out/docs: studies and examples run, warnings are errors, links and pages are tested in a browser.
docs: .venv/.docs
	$(BIN)/python tools/studies.py --other-machine
	$(BIN)/python -m sphinx -E -W --keep-going -q -b html docs out/docs
	LVQ_SITE=out/docs $(BIN)/python -m pytest tests/test_site.py

# The same without running the examples, so that their pictures are missing.
docs-quick: .venv/.docs
	LVQ_DOCS=quick $(BIN)/python -m sphinx -E -W --keep-going -q -b html -d out/docs-quick-cache docs out/docs-quick
	LVQ_DOCS=quick LVQ_SITE=out/docs-quick $(BIN)/python -m pytest tests/test_site.py

# Links to other sites; needs the network.
docs-links: .venv/.docs
	LVQ_DOCS=quick $(BIN)/python -m sphinx -q -b linkcheck docs out/docs-links

format: .venv/.developer
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Wheel and sdist in dist/, each tried in clean environments; PYTHONS="3.11 3.14" asks for these, and for no others.
release-check: .venv-release/.tools
	PATH="$(CURDIR)/.venv-release/bin:$$PATH" .venv-release/bin/python tools/release_check.py \
		$(if $(PYTHONS),--pythons $(PYTHONS)) $(if $(EXTRAS),--extras $(EXTRAS))

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/.user: pyproject.toml | .venv/bin/python
	$(BIN)/pip install --quiet --editable .
	touch $@

.venv/.cli: pyproject.toml | .venv/bin/python
	$(BIN)/pip install --quiet --editable ".[cli]"
	touch $@ .venv/.user

.venv/.developer: pyproject.toml | .venv/bin/python
	$(BIN)/pip install --quiet --editable ".[test-all,check]"
	touch $@ .venv/.user .venv/.cli

.venv/.docs: pyproject.toml | .venv/bin/python
	$(BIN)/pip install --quiet --editable ".[test-all,check,docs]"
	touch $@ .venv/.user .venv/.cli .venv/.developer

.venv/.torch: | .venv/bin/python
	$(BIN)/pip install --quiet torch==2.13.0
	touch $@

.venv-oldest/.developer: pyproject.toml constraints-oldest.txt
	$(PYTHON) -m venv .venv-oldest
	.venv-oldest/bin/pip install --quiet --editable ".[test]" --constraint constraints-oldest.txt
	touch $@

.venv-release/.tools:
	$(PYTHON) -m venv .venv-release
	.venv-release/bin/pip install --quiet build uv
	touch $@

clean:
	rm -rf .venv .venv-oldest .venv-release .bench dist docs/gallery docs/api/generated docs/api/backreferences
