# The front proxy: nginx with our configuration.
#
#   NGINX_IMAGE  any image with nginx and curl
ARG NGINX_IMAGE=nginx:1.28-bookworm
FROM ${NGINX_IMAGE}
LABEL org.opencontainers.image.title="verifier service proxy" \
      org.opencontainers.image.description="Publishes the verifier service and spreads requests over its replicas" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY docker/nginx.conf /etc/nginx/nginx.conf
EXPOSE 8080
USER 10001:10001
# Finishes what it has begun.
STOPSIGNAL SIGQUIT
HEALTHCHECK --interval=5s --timeout=5s --start-period=30s --retries=3 \
    CMD ["curl", "--silent", "--fail", "--output", "/dev/null", "http://127.0.0.1:8080/readyz"]
ENTRYPOINT ["nginx"]
CMD []
