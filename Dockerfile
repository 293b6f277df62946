# Citewell in a container: docs/install.md. Built of what the two lock files pin by hash.
FROM python:3.11-slim AS build
WORKDIR /build
# bundles the web page (hatch_build.py)
COPY --from=node:22-slim /usr/local /usr/local/node
ENV PATH=$PATH:/usr/local/node/bin
COPY requirements.lock requirements-image.lock ./
RUN python -m venv /opt/citewell \
 && /opt/citewell/bin/pip install --no-cache-dir --require-hashes \
    --requirement requirements.lock --requirement requirements-image.lock
COPY pyproject.toml hatch_build.py README.md LICENSE ./
COPY src src
COPY samples/library samples/library
COPY samples/data samples/data
RUN /opt/citewell/bin/pip install --no-cache-dir --no-deps --no-build-isolation .

FROM python:3.11-slim
# the chat model's engine (xllamacpp) needs OpenMP
RUN apt-get update \
 && apt-get install --yes --no-install-recommends libgomp1 \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --system --uid 10001 --home-dir /data citewell \
 && install --directory --owner citewell --group citewell /data /cache
COPY --from=build /opt/citewell /opt/citewell
# whoever is not on this machine itself has to sign in: `citewell user add NAME --role admin`
ENV PATH=/opt/citewell/bin:$PATH \
    HOME=/data \
    CITEWELL_HOME=/data \
    CITEWELL_CACHE=/cache \
    CITEWELL_HOST=0.0.0.0 \
    CITEWELL_AUTH=token \
    CITEWELL_ACCESS__HOSTS=localhost
USER citewell
WORKDIR /data
VOLUME ["/data", "/cache"]
EXPOSE 8420
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8420/api/health', timeout=4)"]
ENTRYPOINT ["citewell"]
CMD ["serve"]
