#!/usr/bin/env bash
# Gets the Neovim that the tests of its client run in (0.12 or newer: it shows inline completion by itself) where the
# system's packages have only an older one. Nothing is installed and no root is needed: apt downloads and verifies the
# packages of a newer Debian into a cache outside the tree. A second call finds them there. It prints the program.
# Usage: .ci/neovim.sh [FOLDER [SUITE]]
set -euo pipefail
folder=${1:-${RUNNER_EDITOR_CACHE:-$HOME/.cache/runner-e2e}/nvim}
suite=${2:-forky}

is_new_enough() {
  [ -x "$folder/nvim" ] && "$folder/nvim" --clean --headless +'if !has("nvim-0.12") | cquit | endif' +qa 2>/dev/null
}

# The mirror of the host's own suite has the newer one as well.
write_sources() {
  local mirror
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -v security | sort -u | head -n 1)
  mkdir -p "$apt"/{lists/partial,cache/archives/partial}
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main" >"$apt/sources.list"
}

# As if nothing were installed: the newer program needs the newer C library too, and gets it beside itself.
apt_here() {
  apt-get -q -o "Dir::Etc::sourcelist=$apt/sources.list" -o Dir::Etc::sourceparts=/dev/null \
    -o "Dir::State::lists=$apt/lists" -o "Dir::Cache=$apt/cache" -o Dir::State::status=/dev/null \
    -o Acquire::Languages=none "$@"
}

needed_packages() {
  apt_here install --print-uris -y --no-install-recommends neovim |
    sed -n "s/^'\([^']*\)' \([^ ]*\)_[^_]*_[a-z0-9]*\.deb .*/\2/p" | grep -v -e '^gcc-' -e gconv -e luajit-5.1-common
}

# By the loader of the newer C library, which the programs that Neovim starts know nothing of.
write_program() {
  cat >"$folder/nvim" <<'PROGRAM'
#!/usr/bin/env bash
root=$(dirname "$(realpath "$0")")/root
libraries=$(dirname "$(ls "$root"/usr/lib/*/ld-linux-*.so.*)")
export VIMRUNTIME=$root/usr/share/nvim/runtime
exec "$libraries"/ld-linux-*.so.* --library-path "$libraries" "$root/usr/bin/nvim" "$@"
PROGRAM
  chmod +x "$folder/nvim"
}

if ! is_new_enough; then
  echo "Getting a Neovim of Debian $suite for the tests, once, into $folder …" >&2
  rm -rf "$folder"
  mkdir -p "$folder/debs" "$folder/root"
  apt=$folder/apt
  write_sources
  apt_here update >/dev/null
  packages=$(needed_packages)
  # shellcheck disable=SC2086
  (cd "$folder/debs" && apt_here download $packages >/dev/null 2>&1)
  for deb in "$folder"/debs/*.deb; do dpkg -x "$deb" "$folder/root"; done
  rm -rf "$apt" "$folder/debs"
  write_program
  is_new_enough || { echo "The Neovim of Debian $suite is older than 0.12." >&2; exit 1; }
fi
echo "$folder/nvim"
