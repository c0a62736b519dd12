#!/usr/bin/env bash
# Gets the strict clients that others wrote, for test/e2e/foreignClients.test.ts: the Python SDK of the Agent Client
# Protocol, and pytest-lsp with lsprotocol, pinned with all that they need, in a Python environment in a cache outside of
# the tree. A second call finds it there. It prints the Python.
# Usage: .ci/foreignClients.sh
set -euo pipefail
folder=${RUNNER_EDITOR_CACHE:-$HOME/.cache/runner-e2e}/foreign-clients-1

if [ ! -e "$folder/done" ]; then
  echo "Installing the clients in Python for the tests, once, into $folder …" >&2
  rm -rf "$folder"
  python3 -m venv "$folder"
  "$folder/bin/pip" install --quiet --disable-pip-version-check --no-deps --only-binary :all: \
    agent-client-protocol==0.12.1 annotated-types==0.8.0 attrs==26.1.0 cattrs==26.2.1 iniconfig==2.3.1 \
    lsprotocol==2025.0.0 packaging==26.3 pluggy==1.7.0 pydantic==2.14.3 pydantic_core==2.50.4 pygls==2.1.1 \
    Pygments==2.21.0 pytest==9.2.0 pytest-asyncio==1.5.0 pytest-lsp==1.0.1 typing_extensions==4.16.0 \
    typing-inspection==0.4.5 >&2
  touch "$folder/done"
fi
echo "$folder/bin/python"
