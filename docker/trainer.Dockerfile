# The trainer, with torch for CPU unless another build is asked for.
#
#   BASE_IMAGE       any Debian or Ubuntu with Python 3.11 or newer and its venv module
#   TORCH_INDEX_URL  where torch comes from; https://download.pytorch.org/whl/cu130 for a GPU
#   EXTRAS           trainer, or trainer,vllm to sample with vLLM in the trainer's own process
ARG BASE_IMAGE=python:3.12-slim-bookworm
FROM ${BASE_IMAGE}
LABEL org.opencontainers.image.title="verifier trainer" \
      org.opencontainers.image.description="GRPO with rewards from a verifier service" \
      org.opencontainers.image.licenses="Apache-2.0"
ARG TORCH_INDEX_URL=https://download.pytorch.org/whl/cpu
ARG EXTRAS=trainer
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore
WORKDIR /build
COPY pyproject.toml constraints.txt README.md LICENSE ./
# torch comes alone from its index, and first: it is the largest layer and seldom changes.
RUN python3 -m venv /opt/trainer && /opt/trainer/bin/pip install --no-deps \
        --index-url "$TORCH_INDEX_URL" "$(sed -n '/^torch==/p' constraints.txt)"
# Each file must have a hash of the list. What follows adds only what this build of torch needs.
COPY docker/requirements/trainer.txt docker/requirements/trainer.txt
RUN /opt/trainer/bin/pip install --require-hashes --only-binary :all: --no-deps \
        --requirement docker/requirements/trainer.txt
COPY verifier_service/__init__.py verifier_service/__init__.py
COPY reward_verifier reward_verifier
COPY trainer_client trainer_client
RUN /opt/trainer/bin/pip install --constraint constraints.txt ".[$EXTRAS]" && rm -r /build/* \
    && install --directory --owner 10001 --group 10001 /runs
# Runs, and what is downloaded for them, belong into the volume.
ENV HOME=/runs PATH=/opt/trainer/bin:$PATH PYTHONDONTWRITEBYTECODE=1
VOLUME /runs
WORKDIR /runs
USER 10001:10001
ENTRYPOINT ["/opt/trainer/bin/trainer-client"]
CMD ["--help"]
