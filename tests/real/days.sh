# shellcheck shell=bash
# A part of tests/real.sh: servers on a bad day (tests/real/bad_days.py). Each has its message, ends in time and with 2, and what had
# arrived is kept when asked for.

# A hundred megabytes, in one message and in many. In memory they are once, and what is written is nowhere as a whole: the rest is
# for the command itself, whose unoptimised code takes tens of megabytes.
heavy() {
    start big; local port; port=$(of_said port)
    local address=127.0.0.1:$port most=190 form
    for form in "csds://$address" "ads://$address" "ads://$address?delta"; do
        ends 2 "sends a message that is too large" fetch --max-size 50 "$form"
        grep -q -- "--max-size raises that" "$work/run/err" || fail "the flag is not named"
        for file in big.json big.binpb; do
            "$python" tests/real/tells.py peak "$most" "$xdsctl" fetch --raw --wait 60 "$form" -o "$work/run/$file" 2>"$work/run/err" ||
                { cat "$work/run/err"; fail "$form into $file"; }
            [ "$(stat -c %s "$work/run/$file")" -gt 100000000 ] || fail "$file is too small"
        done
    done
    start pieces; port=$(of_said port)
    ends 2 "has sent resources of more than 52428800 bytes: --max-size raises that" fetch --max-size 50 "ads://127.0.0.1:$port"
    ends 2 "the incomplete dump was written" fetch --max-size 50 --partial --wait 60 "ads://127.0.0.1:$port" -o "$work/run/part.json"
    [ "$(stat -c %s "$work/run/part.json")" -gt 50000000 ] || fail "what had arrived was not kept"
    "$python" tests/real/tells.py peak "$most" "$xdsctl" fetch --wait 60 "ads://127.0.0.1:$port" -o "$work/run/pieces.json" 2>"$work/run/err" ||
        { cat "$work/run/err"; fail "many messages"; }
    rm "$work"/run/big.* "$work"/run/part.json "$work"/run/pieces.json
}

part_days() {
    grpc
    local port
    ends 2 "Connection refused" fetch csds://127.0.0.1:1
    ends 2 "Connection refused" fetch envoy://127.0.0.1:1
    start silent; port=$(of_said port)
    ends 2 "has not said everything within 1 s" fetch "csds://127.0.0.1:$port" --wait 1
    ends 2 "has not said everything within 1 s" fetch "envoy://127.0.0.1:$port" --wait 1
    ends 2 "has not said everything within 1 s" fetch "ads://127.0.0.1:$port" --wait 1
    start text; port=$(of_said port)
    ends 2 "127.0.0.1:$port" fetch "csds://127.0.0.1:$port" --wait 5
    ends 2 "127.0.0.1:$port" fetch "envoy://127.0.0.1:$port" --wait 5
    start bytes; port=$(of_said port)
    ends 2 "is not a ClientStatusResponse" fetch "csds://127.0.0.1:$port"
    ends 2 "a message is not a DiscoveryResponse" fetch "ads://127.0.0.1:$port"
    start half; port=$(of_said port)
    ends 2 "a message is not a DiscoveryResponse" fetch "ads://127.0.0.1:$port"
    start other; port=$(of_said port)
    ends 2 "which was not asked for" fetch "ads://127.0.0.1:$port"
    # Answers that come too late, byte by byte, or without end: what had arrived is kept when asked for.
    start drip; port=$(of_said port)
    for scheme in csds envoy ads; do
        ends 2 "has not said everything within 1 s" fetch "$scheme://127.0.0.1:$port" --wait 1
    done
    for day in slow flood; do
        start "$day"; port=$(of_said port)
        ends 2 "has not said everything within 1 s: Cluster; --partial keeps" fetch "ads://127.0.0.1:$port" --wait 1 -o "$work/run/late.json"
        [ ! -e "$work/run/late.json" ] || fail "half a dump was written"
        ends 2 "the incomplete dump was written" fetch "ads://127.0.0.1:$port" --wait 1 --partial -o "$work/run/late.json"
        grep -q "envoy.config.listener.v3.Listener" "$work/run/late.json" || fail "what had arrived was not kept"
        rm "$work/run/late.json"
    done
    start loop; port=$(of_said port)
    ends 0 "NACK 1" fetch "ads://127.0.0.1:$port" --wait 5
    timeout -s INT 4 "$xdsctl" fetch --watch "ads://127.0.0.1:$port" -o "$work/run/loop.json" 2>"$work/run/err" || true
    # Of each type once, and nothing has changed since the first dump.
    [ "$(grep -c NACK "$work/run/err")" = 2 ] && [ "$(grep -c ^dump "$work/run/err")" = 1 ] ||
        { cat "$work/run/err"; fail "a loop is not told once"; }
    start many; port=$(of_said port)
    ends 0 "20000 resources" fetch "ads://127.0.0.1:$port" -o "$work/run/many.json"
    start reset; port=$(of_said port)
    ends 2 "gives no answer" fetch "ads://127.0.0.1:$port" -o "$work/run/reset.json"
    [ ! -e "$work/run/reset.json" ] || fail "half a dump was written"
    ends 2 "the incomplete dump was written" fetch "ads://127.0.0.1:$port" --partial -o "$work/run/reset.json"
    grep -q "envoy.config.listener.v3.Listener" "$work/run/reset.json" || fail "what had arrived was not kept"
    heavy
    # What had arrived is kept when asked for, also at Ctrl-C.
    start slow; port=$(of_said port)
    local code=0
    timeout -s INT 2 "$xdsctl" fetch --partial "ads://127.0.0.1:$port" -o "$work/run/partial.json" 2>"$work/run/err" || code=$?
    grep -q "interrupted; the incomplete dump was written" "$work/run/err" || { cat "$work/run/err"; fail "Ctrl-C is not told: $code"; }
    [ -s "$work/run/partial.json" ] || fail "nothing was kept"
}
