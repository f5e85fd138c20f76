#!/usr/bin/env bash
# Runs fuzz targets one after the other: fuzz/run.sh SECONDS [TARGET...]; all of them if none is named.
#
# Needs cargo-fuzz (`cargo install cargo-fuzz`) and a C++ compiler; the stable toolchain will do. The input that is being run is
# in fuzz/last/TARGET at any moment, whatever ends the process: an overflow of the stack, the kernel, the plug.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1:?usage: fuzz/run.sh SECONDS [TARGET...]}
shift
[ -e fuzz/corpus/dictionary.txt ] || fuzz/seed.sh
target_dir=${XDSCTL_FUZZ_BUILD:-$PWD/fuzz/target}
cargo fuzz build --sanitizer none --features libfuzzer --target-dir "$target_dir"
bins=$target_dir/$(rustc -vV | sed -n 's/^host: //p')/release
[ $# -gt 0 ] || set -- $(sed -n 's/^path = "fuzz_targets\/\(.*\)\.rs"/\1/p' fuzz/Cargo.toml)
mkdir -p fuzz/last
failed=()
for target; do
    mkdir -p "fuzz/corpus/$target" "fuzz/artifacts/$target"
    log=fuzz/last/$target.log
    # A hang is what takes 20 s; memory is bounded by the input, which has 8 KiB at most.
    if XDSCTL_FUZZ_LAST=fuzz/last/$target nice -n 19 "$bins/$target" "fuzz/corpus/$target" \
        -artifact_prefix="fuzz/artifacts/$target/" -dict=fuzz/corpus/dictionary.txt -max_total_time="$seconds" -max_len=8192 \
        -timeout=20 -rss_limit_mb=2048 -print_final_stats=1 -verbosity=1 >"$log" 2>&1; then
        end=ok
    else
        end="ended with $?: fuzz/last/$target, fuzz/artifacts/$target, $log"
        failed+=("$target")
    fi
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    peak=$(sed -n 's/^stat::peak_rss_mb: *//p' "$log")
    printf '%-24s %10s runs  %6s MB  %s\n' "$target" "${runs:-?}" "${peak:-?}" "$end"
done
[ ${#failed[@]} -eq 0 ]
