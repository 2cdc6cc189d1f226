# Two commands for users: `make verify` and `make test`. Each creates .venv when it is missing.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: verify test nightly lint bench-accountants bench-auditors clean

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(BIN)/python pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	touch $@

$(VENV)/.installed-test: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[test,train,data,audit,papers,report,opacus]'
	touch $@

# The shipped claims include refuted ones, for which dpcert exits with 1 (3: undecided): the command did its work then.
verify: $(VENV)/.installed
	@$(BIN)/dpcert verify claims/*.toml; code=$$?; case $$code in 0|1|3) ;; *) exit $$code ;; esac

test: $(VENV)/.installed-test
	$(BIN)/python -m pytest

nightly: $(VENV)/.installed-test
	$(BIN)/python -m pytest -m nightly

lint: $(VENV)/.installed-test
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy

.venv-bench/.installed: benchmarks/requirements.txt pyproject.toml
	$(PYTHON) -m venv .venv-bench
	.venv-bench/bin/python -m pip install --quiet --disable-pip-version-check -r benchmarks/requirements.txt -e .
	touch $@

bench-accountants: .venv-bench/.installed
	.venv-bench/bin/python benchmarks/accountants.py

# jax-privacy without its dependencies: its auditing module needs numpy only.
bench-auditors: .venv-bench/.installed
	.venv-bench/bin/python -m pip install --quiet --disable-pip-version-check scikit-learn
	.venv-bench/bin/python -m pip install --quiet --disable-pip-version-check --no-deps jax-privacy==2.0.0
	.venv-bench/bin/python benchmarks/auditors.py

clean:
	rm -rf $(VENV) build *.egg-info
