# What people and CI do with a checkout. Needs make and Python 3.11 or later with pip and venv, nothing else.

PYTHON ?= python3
VENV := .venv
WEB := src/citewell/interfaces/web
NPM := npm --prefix $(WEB) --loglevel=error --no-update-notifier
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input
LOCK := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate
READER := .reader
ASKED := ../shared/data
HOURS := 2
QUESTION_EN := May I take the battery on a plane?
QUESTION_ZH := 国内订单签收后多少天内可以无理由退货？

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup start test test-fast test-postgres check style types layers types-of-page fmt bench eval reader lock sbom vendor clean

help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# without the model Citewell still works, with extracts for answers: a failure here is told, and tried again next time
setup: $(VENV)/.installed  ## install everything into .venv, the chat model too
	@$(BIN)/citewell models pull || echo 'no chat model yet; `make setup` tries again' >&2
	@echo 'ready: $(BIN)/citewell --help'

start: setup  ## add the sample library, ask one question in each language, serve
	$(BIN)/citewell add -c samples samples/library
	-$(BIN)/citewell ask -c samples '$(QUESTION_EN)'
	-$(BIN)/citewell ask -c samples '$(QUESTION_ZH)'
	$(BIN)/citewell serve

test: $(VENV)/.dev  ## every check, then every test, in two processes; TEST="-n 0 tests/page" runs some of them in one
	@$(MAKE) --no-print-directory -j 3 setup types style layers types-of-page
	$(BIN)/python -m pytest $(or $(TEST),-n 2 --dist loadfile --no-loadscope-reorder)

test-fast: $(VENV)/.dev  ## the tests of language and stores alone, in under two minutes: no server, browser or model
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "not slow and not browser and not model"

test-postgres: $(VENV)/.dev  ## the tests of stores, services, interfaces and the whole way, with their homes in PostgreSQL
	$(BIN)/python -m pytest --postgres -n 2 --dist loadfile $(or $(TEST),tests/store tests/service tests/interfaces tests/test_end_to_end.py)

check: $(VENV)/.dev  ## style, types, layers; beside mypy, which has one processor, all the others
	@$(MAKE) --no-print-directory -j 2 types style layers types-of-page

types style layers: $(VENV)/.dev

types:
	$(BIN)/mypy

style:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

layers:
	$(BIN)/lint-imports

# the web page's scripts, by the types in their comments; the page itself needs no Node.js, so a machine without it only goes unchecked
types-of-page:
	@if ! command -v npm >/dev/null; then echo "types of the page's scripts: SKIPPED, for there is no Node.js with npm on this machine"; \
	elif ! told=$$([ $(WEB)/node_modules/.package-lock.json -nt $(WEB)/package-lock.json ] || $(NPM) ci 2>&1); then case "$$told" in \
		*EUSAGE*|*EINTEGRITY*) echo "$$told" | head -n 20 >&2; exit 1;; \
		*) echo "types of the page's scripts: SKIPPED, for npm could not install the type checker: $$told" | head -n 3;; esac; \
	else $(NPM) run --silent check && echo "types of the page's scripts: checked"; fi

fmt: $(VENV)/.dev  ## put the code into its form
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: setup  ## speed and size, as ratios; BENCH=--large: among 100,000 passages too
	$(BIN)/python evals/bench.py $(BENCH)

# the sets whose data is beside this checkout, and the sample library; docs/evaluation.md says how to measure others
eval: setup  ## quality of search and answers, on questions of others
	$(BIN)/python evals/convert.py --out .eval/sets --sets squad2 cmrc samples
	$(BIN)/citewell eval .eval/sets/*.questions.jsonl --only retrieval --json .eval/retrieval.json --html .eval/retrieval.html
	$(BIN)/citewell eval .eval/sets/*.questions.jsonl --limit 20 --json .eval/answers.json --html .eval/answers.html

# READER holds rows of public sets in public/ (training/reader/README.md), and checkpoints, else it goes on from the shipped weights; ASKED
# what is never taught
reader: setup  ## train the reader further; READER=folder of its data, HOURS=2
	$(PIP) install --quiet torch onnx
	mkdir -p $(READER)/hand $(READER)/short $(READER)/guide $(READER)/adversarial
	cp training/reader/gold/*.jsonl $(READER)/hand
	cp training/reader/more/hand/*.jsonl $(READER)/short
	cp training/reader/guide/*.jsonl $(READER)/guide
	cp training/reader/adversarial/*.jsonl $(READER)/adversarial
	$(BIN)/python training/reader/join.py --public $(READER)/public --out $(READER)/joined
	$(BIN)/python training/reader/leaks.py --asked $(ASKED) evals/reader --taught $(READER)/*/*.jsonl
	$(BIN)/python training/reader/balance.py $(READER)/hand/*.jsonl
	$(BIN)/python training/reader/balance.py $(READER)/short/*.jsonl
	$(BIN)/python training/reader/balance.py $(READER)/guide/*.jsonl
	$(BIN)/python training/reader/balance.py $(READER)/adversarial/*.jsonl
	ls $(READER)/checkpoints/*.pt >/dev/null 2>&1 || $(BIN)/python training/reader/restore.py $(READER)/checkpoints/000000.pt
	cd $(READER) && $(CURDIR)/$(BIN)/python $(CURDIR)/training/reader/train.py --out checkpoints --hours $(HOURS) \
		--start $$(ls checkpoints/*.pt | tail -n 1)
	$(BIN)/python training/reader/export.py $$(ls $(READER)/checkpoints/*.pt | tail -n 1) --hand $(READER)/hand/*.jsonl
	$(BIN)/python training/reader/calibrate.py --data $(ASKED) --hand $(READER)/hand/*.jsonl $(READER)/guide/*.jsonl --same $(READER)/joined/held/same.jsonl
	$(BIN)/python training/reader/evaluate.py --data $(ASKED) --hand $(READER)/hand/*.jsonl --same evals/reader/same.jsonl --json $(READER)/figures.json

lock: $(VENV)/.dev  ## resolve the dependencies anew into the lock files
	$(LOCK) pyproject.toml --group build --output-file requirements.lock
	$(LOCK) pyproject.toml --group build --group dev --constraints requirements.lock --output-file requirements-dev.lock
	$(LOCK) --group image --constraints requirements-dev.lock --output-file requirements-image.lock

# licences are read from what is installed, so it is what the lock file pins that counts
sbom: $(VENV)/.installed  ## what a release is made of, as CycloneDX: dist/citewell.cdx.json
	$(BIN)/python .ci/sbom.py dist/citewell.cdx.json

vendor: $(BIN)/python  ## the web page's libraries anew from npm, as vendor.toml tells of them; VENDOR=--renew after a new version
	$(NPM) ci
	$(BIN)/python .ci/vendor.py $(VENDOR)

clean:  ## remove what was installed and cached here; your documents stay
	rm -rf $(VENV) $(WEB)/node_modules .eval .mypy_cache .ruff_cache .pytest_cache .import_linter_cache dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Citewell needs Python 3.11 or later, and this is " + sys.version.split()[0] + "; name another with: make PYTHON=/path/to/python3.11")'
	@$(PYTHON) -m venv $(VENV) || { echo 'Python has no venv module here (on Debian and Ubuntu: apt install python3-venv)' >&2; exit 1; }

$(VENV)/.installed: requirements.lock pyproject.toml | $(BIN)/python
	$(PIP) install --quiet --require-hashes --requirement requirements.lock
	$(PIP) install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.dev: requirements-dev.lock $(VENV)/.installed
	$(PIP) install --quiet --require-hashes --requirement requirements-dev.lock
	@touch $@
