.DEFAULT_GOAL := help
.PHONY: help demo test quick check lint bench soak security-table docs screenshots vendor engines test-engines lock clean

PY := .venv/bin/python
# Wherever this is set, each of the thousand processes of a test run would compile all it imports.
export PYTHONDONTWRITEBYTECODE :=
PURE := tests/core tests/config tests/histories tests/simulation tests/store/test_conformance.py

help: ## Show the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

demo: ## A fleet of scripted agents fixes a throw-away project; about a minute, no account; WEB=1: in the browser
	@scripts/bootstrap $(if $(WEB),web)
	@$(PY) scripts/demo.py $(if $(WEB),--web)

test: ## Everything a change must pass: lint, types, tests; ARGS="tests/git -x" goes to pytest
	@scripts/bootstrap dev
	@$(MAKE) --no-print-directory lint
	$(PY) -m pytest -n 5 --dist loadgroup --reruns 1 --rerun-show-tracebacks $(ARGS)

quick: ## What is pure, in under a minute and without starting a process; takes ARGS too
	@scripts/bootstrap dev
	$(PY) -m pytest -n 3 --no-processes $(if $(ARGS),$(ARGS),$(PURE))

check: test ## The same as test: what CI runs

lint:
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .
	@$(PY) -m mypy

bench: ## Measure everything against baselines in the same run; writes bench/out/*.json
	@scripts/bootstrap dev
	$(PY) -m bench

security-table: ## Write the table of docs/security.md again from the results of tests/hostile
	@scripts/bootstrap dev
	$(PY) -m tests.hostile.table

soak: ## Long sweeps: kill -9 loops, crash sweeps, many writers, every attack at every level
	@scripts/bootstrap dev
	$(PY) -m pytest -m slow --override-ini=timeout=3600

engines: ## Install the pinned agent CLIs the tests drive into your cache folder
	@scripts/bootstrap dev
	$(PY) -m tests.engines.real.install

test-engines: ## Drive all eight real CLIs, not only claude and codex
	@scripts/bootstrap dev
	PADDOCK_TEST_ENGINES=all $(PY) -m pytest tests/engines/real tests/fleet/test_real_conversations.py

screenshots: ## Write docs/images/*.png from a fleet of scripted agents at work; look at each (needs chromium)
	@scripts/bootstrap dev
	PYTHONPATH=. $(PY) scripts/screenshots.py

vendor: ## Fetch the libraries of the page again, as scripts/vendor_client.py names them (needs npm)
	@scripts/bootstrap dev
	$(PY) scripts/vendor_client.py

docs: ## Regenerate the reference pages from the code
	@scripts/bootstrap dev
	$(PY) scripts/make_reference.py

LOCK := uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header
BACKEND := 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"], sep="\n")'

lock: ## Pin all dependencies again (needs uv)
	$(LOCK) pyproject.toml -o requirements.lock
	$(LOCK) --extra web --extra tui -c requirements.lock pyproject.toml -o requirements-web.lock
	$(LOCK) --extra dev -c requirements-web.lock pyproject.toml -o requirements-dev.lock
	python3 -c $(BACKEND) | $(LOCK) -c requirements-dev.lock - -o requirements-build.lock

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache bench/out dist
