#!/usr/bin/env bash
# Gets the IndieAuth server that others wrote, for the tests of `--auth remote`: django-indieweb, pinned with all that
# it needs, in a Python environment in a cache outside of the tree. A second call finds it there. It prints the Python.
# Usage: .ci/indieAuthPeer.sh
set -euo pipefail
folder=${RUNNER_EDITOR_CACHE:-$HOME/.cache/runner-e2e}/django-indieweb-0.6.2

if [ ! -e "$folder/done" ]; then
  echo "Installing django-indieweb 0.6.2 for the tests, once, into $folder …" >&2
  rm -rf "$folder"
  python3 -m venv "$folder"
  "$folder/bin/pip" install --quiet --disable-pip-version-check --no-deps --only-binary :all: \
    anyio==4.16.0 asgiref==3.13.0 beautifulsoup4==4.15.0 certifi==2026.10.18 cffi==2.1.1 charset-normalizer==3.5.2 \
    cryptography==50.0.2 Django==5.2.19 django-indieweb==0.6.2 filetype==1.2.0 h11==0.16.0 html5lib==1.1 \
    httpcore==1.0.9 httpx==0.28.1 idna==3.20 mf2py==2.0.2 nh3==0.3.8 pycparser==3.12 requests==2.34.2 six==1.17.0 \
    soupsieve==4.1.2 sqlparse==0.6.1 typing_extensions==4.16.0 urllib3==2.8.0 webencodings==0.6.1 >&2
  touch "$folder/done"
fi
echo "$folder/bin/python"
