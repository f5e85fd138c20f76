#!/usr/bin/env bash
# The pages: web/dist, static files for any web server, and what `XDSCTL_PAGES=web/dist cargo build --features net` takes into the command.
#
#   build.sh [PROFILE]     the profile of the WebAssembly, as for wasm.sh
set -euo pipefail
cd "$(dirname "$0")"
./wasm.sh "$@"
npm ci --silent
npm run --silent build
