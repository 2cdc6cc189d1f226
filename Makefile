# Two commands for users: `make verify` and `make test`. Each creates .venv when it is missing.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: verify test coverage record docs quick nightly nightly-hosts papers lint bench-accountants bench-auditors audit-libraries conformance host-tests clean

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(BIN)/python pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

# The shipped claims include refuted ones, for which dpcert exits with 1 (3: undecided): the command did its work then.
verify: $(VENV)/.installed
	@$(BIN)/dpcert verify claims --jobs 0; code=$$?; case $$code in 0|1|3) ;; *) exit $$code ;; esac

# One process a core; each test that ends early takes work from the others.
PARALLEL := -n auto --dist worksteal

test: $(VENV)/.installed-dev
	$(BIN)/python -m pytest $(PARALLEL)

# The rooms whose tests take a moment each: about 100 s of processor time together.
QUICK := tests/mechanisms tests/test_entrance.py tests/test_doctests.py tests/packaging tests/accounting/billboard \
  tests/accounting/test_question.py tests/accounting/pairs/test_made_up_mechanism.py tests/accounting/pricing/test_dominating.py \
  tests/proofs_checks/lint

quick: $(VENV)/.installed-dev
	$(BIN)/python -m pytest $(PARALLEL) -m 'not nightly and not slow' $(QUICK)

# The suite again, with the lines and branches that it reaches: fails below the floor in pyproject.toml.
coverage: $(VENV)/.installed-dev
	$(BIN)/python -m coverage erase
	$(BIN)/python -m coverage run -m pytest $(PARALLEL)
	$(BIN)/python -m coverage combine --quiet
	$(BIN)/python -m coverage report --skip-covered --skip-empty

nightly: $(VENV)/.installed-dev
	$(BIN)/python -m pytest $(PARALLEL) -m nightly

# The heavy hosts of dpcert.adapters, each in its own environment; -rs says what was skipped, and -p no:dpcert keeps
# our pytest plugin, which needs all of dpcert's dependencies, out of them.
HOSTS := flower pfl jax_privacy
nightly-hosts: $(HOSTS:%=nightly-host-%) nightly-host-tff

nightly-host-%: .venv-hosts/%/.installed
	.venv-hosts/$*/bin/python -m pytest -p no:dpcert -m '' $(wildcard tests/adapters/test_$**.py) tests/adapters/test_same_epsilon.py \
	  'tests/adapters/test_examples.py::test_it_prints_epsilon[$*]' -rs

$(HOSTS:%=.venv-hosts/%/.installed): .venv-hosts/%/.installed: tests/adapters/hosts/%.txt pyproject.toml
	$(PYTHON) -m venv .venv-hosts/$*
	.venv-hosts/$*/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -r $< -e .
	touch $@

.venv-hosts/tff/.installed: tests/adapters/hosts/tff.txt pyproject.toml
	$(PYTHON) -m venv .venv-hosts/tff
	.venv-hosts/tff/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -r $< -e .
	touch $@

$(VENV)/.installed-docs: $(VENV)/.installed-dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[docs]'
	touch $@

# The public record: every claim judged, with its certificate; minutes the first time, what did not change is kept.
record: $(VENV)/.installed-dev
	@echo "judging every claim of the record: minutes the first time; what did not change is kept"
	$(BIN)/python -m dpcert.record claims build/record

# The documentation with the record in it, every link checked, as plain HTML in site/.
docs: $(VENV)/.installed-docs record
	@echo "building the site"
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet

papers: $(VENV)/.installed-dev
	$(BIN)/dpcert papers --pages docs/papers

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy

.venv-bench/.installed: benchmarks/requirements.txt pyproject.toml
	$(PYTHON) -m venv .venv-bench
	.venv-bench/bin/python -m pip install --quiet --disable-pip-version-check -r benchmarks/requirements.txt -e .
	touch $@

bench-accountants: .venv-bench/.installed
	.venv-bench/bin/python benchmarks/accountants.py

# The property tests of dpcert.testing on the peers: writes the table of docs/conformance.md.
conformance: .venv-bench/.installed
	.venv-bench/bin/python -m pip install --quiet --disable-pip-version-check 'hypothesis>=6.100'
	.venv-bench/bin/python benchmarks/conformance.py --write docs/conformance-table.md

# jax-privacy without its dependencies: its auditing module needs numpy only.
bench-auditors: .venv-bench/.installed
	.venv-bench/bin/python -m pip install --quiet --disable-pip-version-check scikit-learn
	.venv-bench/bin/python -m pip install --quiet --disable-pip-version-check --no-deps jax-privacy==2.0.0
	PYTHONPATH=tests/oracles .venv-bench/bin/python benchmarks/auditors.py
	.venv-bench/bin/python benchmarks/auditors_one_run.py
	.venv-bench/bin/python benchmarks/auditors_sequential.py

# The tests that dp-accounting and Opacus ship, with dpcert as the accountant: writes docs/conformance-hosts.md.
host-tests: $(VENV)/.installed-dev
	$(BIN)/python benchmarks/host_tests.py --write docs/conformance-hosts.md

# Audits of five public libraries, each mechanism in a process of its own; finished rows are kept in build/audits. What
# is found there and not public yet is for the library's maintainers first (docs/audit-libraries.md).
.venv-libraries/.installed: examples/audits/requirements.txt pyproject.toml
	$(PYTHON) -m venv .venv-libraries
	.venv-libraries/bin/python -m pip install --quiet --disable-pip-version-check -r $< -e .
	touch $@

audit-libraries: .venv-libraries/.installed
	@for manifest in examples/audits/*.toml; do \
	  .venv-libraries/bin/dpcert audit-suite $$manifest --jobs 2 --resume build/$${manifest#examples/}.jsonl; \
	  code=$$?; case $$code in 0|1|4) ;; *) exit $$code ;; esac; done

clean:
	rm -rf $(VENV) build *.egg-info
