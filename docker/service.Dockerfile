# The verifier service: no compiler unless asked for, no torch, no root.
#
#   BASE_IMAGE  any Debian or Ubuntu with Python 3.11 or newer, its venv module and bash
#   LANGUAGES   toolchains that the verifier of programs needs, as java,go; the names are those of
#               docker/install-languages, or "all"
#   WITH_CPP    1 is LANGUAGES=cpp besides
#
# The base of both stages must be the same: the virtual environment links to its interpreter.
ARG BASE_IMAGE=python:3.12-slim-bookworm

FROM ${BASE_IMAGE} AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore
WORKDIR /build
RUN python3 -m venv /build/tools && python3 -m venv --without-pip /opt/verifier
# What it depends on comes first: these layers last until the list of dependencies changes. Each file
# must have a hash of the list, and none runs code of its own to be installed.
COPY docker/requirements docker/requirements
RUN /build/tools/bin/pip install --require-hashes --only-binary :all: \
        --requirement docker/requirements/build.txt
RUN /build/tools/bin/pip wheel --wheel-dir /build/wheels --require-hashes --only-binary :all: \
        --no-deps --requirement docker/requirements/service.txt
# Neither the trainer nor the adapters: the service imports nothing of them.
COPY pyproject.toml README.md LICENSE ./
COPY reward_verifier reward_verifier
COPY verifier_service verifier_service
RUN /build/tools/bin/pip wheel --wheel-dir /build/wheels --no-deps --no-build-isolation . \
    && /build/tools/bin/pip --python /opt/verifier/bin/python install \
        --no-index --find-links /build/wheels 'reward-verifier[service]' \
    && rm /opt/verifier/bin/trainer-client \
    && find /opt/verifier/lib/python*/site-packages/sympy -type d -name tests -prune -exec rm -r {} +
# The Python packages of the image, as CycloneDX lists them.
RUN /build/tools/bin/cyclonedx-py environment --spec-version 1.6 --output-format JSON \
        --output-reproducible --pyproject pyproject.toml \
        --output-file /opt/verifier/sbom.cdx.json /opt/verifier/bin/python

FROM ${BASE_IMAGE}
LABEL org.opencontainers.image.title="verifier service" \
      org.opencontainers.image.description="Judges model completions for reinforcement learning, over HTTP" \
      org.opencontainers.image.licenses="Apache-2.0"
ARG LANGUAGES=""
ARG WITH_CPP=0
COPY docker/install-languages /tmp/install-languages
RUN if [ "$WITH_CPP" = 1 ]; then LANGUAGES="cpp,$LANGUAGES"; fi \
    && sh /tmp/install-languages "$LANGUAGES" && rm /tmp/install-languages
COPY --from=build /opt/verifier /opt/verifier
# Mono and Racket need a library each, and no file system that the service can write to permits to map one.
RUN set -e; cd /opt/verifier/lib/python*/site-packages/verifier_service/code/toolchains; \
    for pair in mono:mono_threads racket:racket_self; do \
        ! command -v "${pair%:*}" >/dev/null \
        || gcc -O2 -shared -fPIC -s -o "${pair#*:}.so" "${pair#*:}.c"; done
# Listening on every interface is for the container's own network only.
ENV VERIFIER_HOST=0.0.0.0 VERIFIER_PORT=8080 PYTHONDONTWRITEBYTECODE=1
EXPOSE 8080
USER 10001:10001
WORKDIR /
# bash opens a connection in milliseconds, where a new interpreter needs a second on a busy CPU.
HEALTHCHECK --interval=5s --timeout=30s --start-period=60s --retries=3 \
    CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/$VERIFIER_PORT; \
printf 'GET /readyz HTTP/1.0\\r\\n\\r\\n' >&3; read -r _ status _ <&3; [ \"$status\" = 200 ]"]
ENTRYPOINT ["/opt/verifier/bin/verifier-service"]
CMD ["serve"]
