# Two commands that work on a fresh machine with Python 3.11 or later: `make demo` and `make test`.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test test-clients test-vm check format proto bench clean

demo: $(VENV)/.run            ## see Pinfold do its main job on this host
	$(BIN)/python demo/demo.py

test: $(VENV)/.test check     ## lint, types, import rules and all tests
	$(BIN)/python -m pytest -q -n 2 --dist loadfile

test-clients: $(VENV)/.test   ## third-party Mesos clients, unmodified; fetches their packages
	$(BIN)/python -m pytest -q tests/clients

test-vm: $(VENV)/.test        ## real NUMA, SMT and cgroup v2 under QEMU; fetches its packages
	$(BIN)/python -m pytest -q --timeout=1200 --durations=10 tests/vm

check: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.test
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

proto: $(VENV)/.test          ## generate the code of agent_api/wire/*.proto again
	$(BIN)/python -m grpc_tools.protoc -I. --python_out=. --pyi_out=. agent_api/wire/*.proto

bench: $(VENV)/.test          ## the figures of docs/benchmarks.md
	$(BIN)/python bench/placement.py

clean:
	rm -rf $(VENV) build *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(VENV)/.venv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and f"Pinfold needs Python 3.11 or later, $(PYTHON) is {sys.version.split()[0]}; set PYTHON=")'
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.run: $(VENV)/.venv setup.cfg pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.test: $(VENV)/.venv setup.cfg pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test]'
	@touch $@ $(VENV)/.run
