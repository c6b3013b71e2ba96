# The front proxy: HAProxy with our configuration.
#
#   HAPROXY_IMAGE  any image with haproxy 2.6 or newer, and bash
ARG HAPROXY_IMAGE=haproxy:3.2-bookworm
FROM ${HAPROXY_IMAGE}
LABEL org.opencontainers.image.title="verifier service proxy" \
      org.opencontainers.image.description="Publishes the verifier service and spreads requests over its replicas" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY docker/haproxy.cfg docker/replica-lost.http docker/unavailable.http /etc/verifier/
EXPOSE 8080
USER 10001:10001
# Finishes what it has begun.
STOPSIGNAL SIGUSR1
HEALTHCHECK --interval=5s --timeout=30s --start-period=60s --retries=3 \
    CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/8080; printf 'GET /readyz HTTP/1.0\\r\\n\\r\\n' >&3; \
read -r _ status _ <&3; [ \"$status\" = 200 ]"]
ENTRYPOINT ["haproxy"]
CMD ["-f", "/etc/verifier/haproxy.cfg"]
