# run, test, check, bench and load each prepare what they need in .venv, from a fresh clone on.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
HOST ?= 127.0.0.1
PORT ?= 8501
WORKERS ?= 1
BIN := .venv/bin
AXE := 4.14.0

.PHONY: run test test-unseen test-fast test-servers test-browser coverage check settings modules bench load dist screenshots system-packages

run: .venv/run.stamp
ifeq ($(WORKERS),1)
	@exec $(BIN)/streamlit run asgi.py --server.address $(HOST) --server.port $(PORT)
else
	@exec $(BIN)/python -m core run --host $(HOST) --port $(PORT) --workers $(WORKERS)
endif

ifdef ARGS
test: .venv/dev.stamp system-packages .venv/axe-$(AXE).stamp
	$(BIN)/pytest $(ARGS)
else
# The browser's apart, because Playwright's synchronous API keeps an event loop running in its process; and both at once,
# because what the one waits for, the other one has time for.
test: .venv/dev.stamp system-packages .venv/axe-$(AXE).stamp
	@$(MAKE) --no-print-directory --jobs=2 test-unseen test-browser
endif

AT_ONCE := 4 # on two cores: most tests wait for a server, a time-out or a page
# Tests start hundreds of processes, each of which would translate the whole program anew.
test test-unseen test-fast test-servers test-browser coverage: export PYTHONDONTWRITEBYTECODE :=

test-unseen: SOME := --ignore tests/browser
test-fast: SOME := --ignore tests/browser -m "not servers"
test-servers: SOME := --ignore tests/browser -m servers
test-browser: SOME := tests/browser
test-browser: AT_ONCE := 2
coverage: SOME := --ignore tests/browser --cov
test-browser: .venv/axe-$(AXE).stamp
test-unseen test-fast test-servers test-browser coverage: .venv/dev.stamp system-packages
	$(BIN)/pytest -n $(AT_ONCE) --dist worksteal $(SOME)

check: .venv/dev.stamp
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m scripts.describe_settings --check
	$(BIN)/python -m scripts.describe_modules --check
	$(BIN)/python -m scripts.list_licences --check

# settings.yaml and the manual's table of settings, written from the settings themselves.
settings: .venv/dev.stamp
	$(BIN)/python -m scripts.describe_settings

# The module tree of docs/architecture.md, written from the modules' docstrings.
modules: .venv/dev.stamp
	$(BIN)/python -m scripts.describe_modules

bench: .venv/dev.stamp system-packages
	$(BIN)/python -m bench $(ARGS)

load: .venv/dev.stamp
	$(BIN)/python -m bench.load $(if $(N),--visitors $(N)) $(if $(SPREAD),--spread $(SPREAD)) $(if $(MODE),--mode $(MODE)) $(if $(READ),--read $(READ)) $(if $(filter-out 1,$(WORKERS)),--workers $(WORKERS)) $(ARGS)

# The wheel and the source archive, the same bytes for the same commit, and their checksums.
dist: .venv/dev.stamp
	rm -rf dist
	SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(BIN)/python -m hatchling build
	cd dist && sha256sum wenyuan-* | tee SHA256SUMS

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "问源需要 Python 3.11 到 3.14；可用 make PYTHON=/path/to/python3.11 指定。"; exit 1; }
	@$(PYTHON) -m venv .venv || { rm -rf .venv/bin; echo "没有建成 .venv。Debian 和 Ubuntu 请先安装：apt-get install python3-venv"; exit 1; }

.venv/run.stamp: requirements.txt constraints.txt requirements-law.txt | .venv/bin/python
	@scripts/install requirements.txt $@
	@touch $@

.venv/dev.stamp: requirements-dev.txt requirements.txt constraints.txt requirements-law.txt | .venv/bin/python
	@scripts/install requirements-dev.txt $@
	@touch .venv/run.stamp $@

# axe-core (MPL-2.0) judges the pages in the tests. Without npm those tests are skipped, loudly.
.venv/axe-$(AXE).stamp: | .venv/bin/python
	@if npm install --prefix .venv/npm --no-save --no-audit --no-fund --ignore-scripts --loglevel=error axe-core@$(AXE); \
	then touch $@; else echo "axe-core $(AXE) could not be installed with npm: its tests will be skipped"; fi

# Real servers and a real browser for the tests. Without root the tests that need them are skipped, loudly.
system-packages:
	@scripts/system-packages

screenshots: .venv/dev.stamp system-packages
	$(BIN)/python scripts/screenshots.py
