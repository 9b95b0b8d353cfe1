# Souvenance's server. How to run it, and what of this was tried: docs/howto/run-in-containers.md
# Its Python is the one that every run of the suite has.
FROM python:3.11-slim-bookworm AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
WORKDIR /build
COPY deploy/requirements-image.lock ./
RUN python -m venv /opt/souvenance
RUN /opt/souvenance/bin/python -m pip install --require-hashes --only-binary :all: --no-deps --no-compile -r requirements-image.lock
COPY pyproject.toml README.md LICENSE NOTICE ./
COPY src src
RUN /opt/souvenance/bin/python -m pip install --no-index --no-deps --no-build-isolation --no-compile .
# What only builds goes. Modules are compiled here: the image may be read-only when it runs.
RUN /opt/souvenance/bin/python -m pip uninstall --yes hatchling editables pip \
    && /opt/souvenance/bin/python -m compileall -q /opt/souvenance/lib

FROM python:3.11-slim-bookworm
COPY --from=build /opt/souvenance /opt/souvenance
RUN install -d -o 10001 -g 10001 -m 700 /var/lib/souvenance
ENV PATH=/opt/souvenance/bin:$PATH SOUVENANCE_HOME=/var/lib/souvenance PYTHONDONTWRITEBYTECODE=1
VOLUME /var/lib/souvenance
USER 10001:10001
EXPOSE 8787
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8787/ready', timeout=4)"]
ENTRYPOINT ["souvenance"]
CMD ["serve", "--host", "0.0.0.0", "--allow-remote"]
