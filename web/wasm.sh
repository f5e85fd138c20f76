#!/usr/bin/env bash
# The command as WebAssembly: public/xdsctl.wasm.
#
#   wasm.sh [PROFILE]     a profile of Cargo.toml; default is web
set -euo pipefail
cd "$(dirname "$0")/.."
profile=${1:-web}
rustup target add wasm32-wasip1 >/dev/null 2>&1 || true # already there, or the toolchain is not rustup's
export CARGO_TARGET_WASM32_WASIP1_RUSTFLAGS="-C target-feature=+simd128" # every browser since 2023
cargo build --quiet --profile "$profile" -p xdsctl-cli --bin xdsctl --target wasm32-wasip1
built=${CARGO_TARGET_DIR:-target}/wasm32-wasip1/$([ "$profile" = dev ] && echo debug || echo "$profile")/xdsctl.wasm
mkdir -p web/public
cp "$built" web/public/xdsctl.wasm
