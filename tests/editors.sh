#!/usr/bin/env bash
# Real editors on `xdsctl lsp`, without a screen: what they show is what the server says.
#
#   tests/editors.sh [PART...]
#
# parts: neovim edits vscode
#
# A part that needs what is not there says so and is skipped, or fails if CI is set. XDSCTL names the binary; without it the debug
# build is taken. What is installed goes to a cache below the target directory.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
target=${CARGO_TARGET_DIR:-$root/target}
work=$target/editors
xdsctl=${XDSCTL:-$target/debug/xdsctl}
[ -n "${XDSCTL:-}" ] || cargo build --quiet --package xdsctl-cli
mkdir -p "$work"

skip() {
    [ -z "${CI:-}" ] || { echo "$1"; exit 1; }
    echo "skipped: $1"
    exit 0
}

# A project of a Listener, its routes, a cluster and its endpoints; the endpoints have a fault.
shop() {
    rm -rf "$1"
    cp -r tests/lsp/shop "$1"
    : >"$1/xdsctl.toml"
}

# Debian's Neovim has no vim.lsp.start: vim.lsp.start_client is the oldest way.
part_neovim() {
    if ! command -v nvim >/dev/null && command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
        { apt-get update -qq && apt-get install -y -qq --no-install-recommends neovim; } >"$work/apt.log" 2>&1 || true
    fi
    command -v nvim >/dev/null || skip "there is no nvim"
    shop "$work/neovim"
    (cd "$work/neovim" && XDSCTL=$xdsctl timeout 60 nvim --clean --headless -c "luafile $root/tests/editors/neovim.lua" 2>"$work/neovim.txt") || {
        cat "$work/neovim.txt"
        return 1
    }
    grep -q 'all of it holds' "$work/neovim.txt" || { cat "$work/neovim.txt"; return 1; }
}

# A client of the protocol in Python: random edits, and a server that was started afterwards.
part_edits() {
    command -v python3 >/dev/null || skip "there is no python3"
    python3 tests/editors/edits.py "$xdsctl" "$work" "${XDSCTL_EDITS:-500}"
}

# The extension as its own tool packs it.
part_vscode() {
    command -v npm >/dev/null || skip "there is no npm"
    rm -rf "$work/vscode"
    cp -r packaging/vscode "$work/vscode"
    cd "$work/vscode"
    timeout 100 npm ci --silent --no-audit --no-fund >"$work/npm.log" 2>&1 || skip "npm cannot install what the extension is built with"
    npm run --silent check
    npm run --silent package -- --out "$work/xdsctl.vsix" >"$work/vsce.log" 2>&1 || { cat "$work/vsce.log"; return 1; }
    python3 - "$work/xdsctl.vsix" <<'END'
import json, sys, zipfile
names = zipfile.ZipFile(sys.argv[1]).namelist()
for name in ["extension/package.json", "extension/dist/extension.js", "extension/LICENSE.txt"]:
    assert name in names, (name, names)
assert not [name for name in names if "node_modules" in name], names
END
}

parts=("$@")
[ ${#parts[@]} -gt 0 ] || parts=(neovim edits vscode)
for name in "${parts[@]}"; do
    declare -F "part_$name" >/dev/null || { echo "there is no part $name" >&2; exit 2; }
    started=$SECONDS
    (part_"$name")
    echo "$name: $((SECONDS - started)) s"
done
