# shellcheck shell=bash
# A part of tests/real.sh: TLS and mTLS in both directions, with certificates made here, and nothing secret in what is written.

part_tls() {
    secluded
    grpc
    command -v openssl >/dev/null || skip "there is no openssl"
    local keys=$work/run/keys secret="s3cr3t-t0k3n-$RANDOM$RANDOM"
    mkdir "$keys"
    tests/real/keys.sh "$keys" >/dev/null 2>&1 || fail "openssl makes no certificates"
    start plane --tls "$keys"
    local secure plain; secure=$(of_said tls) plain=$(of_said port)
    echo "$secret" >"$keys/token"
    local mtls=(--ca "$keys/ca.pem" --cert "$keys/client.pem" --key "$keys/client.key")
    ends 0 "" fetch "ads://localhost:$secure?target=xds:///shop" "${mtls[@]}" --token-file "$keys/token" -o "$work/run/tls.json"
    tells rejected "$work/run/tls.json" bad cds-lb-policy-unsupported
    ends 2 "UnknownIssuer" fetch "ads://localhost:$secure" --ca "$keys/other.pem"
    ends 2 "--cert and --key" fetch "ads://localhost:$secure" --ca "$keys/ca.pem"
    ends 2 "does it want TLS?" fetch "ads://localhost:$secure" --wait 5
    ends 2 "does not speak TLS" fetch "ads://localhost:$plain" --ca "$keys/ca.pem"
    ends 2 "--server-name" fetch "ads://127.0.0.1:$secure" "${mtls[@]}" --server-name elsewhere
    ends 2 "a token is sent over TLS" fetch "ads://192.0.2.1:1" --token-file "$keys/token"
    ends 1 "" validate --format human --all "ads://localhost:$secure?target=xds:///shop" "${mtls[@]}" --token-file "$keys/token"
    ends 1 "not answered within 1 s" fetch "ads://localhost:$secure" --target xds:///other --wait 1 "${mtls[@]}" --token-file "$keys/token" --partial

    # The other way round: a real client of ours, with a resource that holds a real key.
    "$python" tests/real/secure.py resource "$keys/client.key" >"$work/run/with-key.yaml"
    local bootstrap=$keys/bootstrap.json own=(--tls-cert "$keys/server.pem" --tls-key "$keys/server.key")
    serve --compare "${own[@]}" --client-ca "$keys/ca.pem" --write-bootstrap "$bootstrap" fixtures/examples/checkout.yaml "$work/run/with-key.yaml"
    cp "$work/run/serve.out" "$work/run/serve-of-tls.out"
    ends 0 "" fetch "ads://localhost:$port" "${mtls[@]}" -o "$work/run/served.json"
    grep -q '"inline_string": "\[redacted\]"' "$work/run/served.json" || fail "the key is not masked"
    ends 0 "" fetch --raw "ads://localhost:$port" "${mtls[@]}" -o "$keys/raw.json"
    grep -qF "$(sed -n 2p "$keys/client.key")" "$keys/raw.json" || fail "--raw does not keep the key"
    ends 2 "--cert and --key" fetch "ads://localhost:$port" --ca "$keys/ca.pem"
    ends 2 "does it want TLS?" fetch "ads://localhost:$port"
    ends 2 "UnknownIssuer" fetch "ads://localhost:$port" --ca "$keys/other.pem" --cert "$keys/client.pem" --key "$keys/client.key"
    GRPC_XDS_BOOTSTRAP=$bootstrap timeout 60 "$python" tests/real/secure.py client "$keys" checkout 2>"$work/run/client.err" ||
        { cat "$work/run/client.err"; fail "the client holds nothing"; }
    wait "${started[-1]}" || { cat "$work/run/serve.out"; fail "verdicts differ"; }
    for words in "ACK  Listener" "NACK Cluster" "do not agree on TLS"; do
        grep -qF "$words" "$work/run/serve.out" || { cat "$work/run/serve.out"; fail "serve does not say \`$words\`"; }
    done
    ends 2 "cannot be used" serve --listen 127.0.0.1:0 --tls-cert "$keys/server.pem" --tls-key "$keys/client.key" fixtures/examples/checkout.yaml
    ends 2 "has no PEM part" serve --listen 127.0.0.1:0 --tls-cert "$keys/server.key" --tls-key "$keys/server.key" fixtures/examples/checkout.yaml

    # Nothing that was written anywhere holds a key or the token.
    rm "$work/run/with-key.yaml"
    local written; written=$(find "$work/run" -path "$keys" -prune -o -type f -print)
    for file in "$keys/client.key" "$keys/server.key" "$keys/token"; do
        # A line in the middle of a key; the token has only one.
        local line; line=$(sed -n '$!{2p}' "$file")
        # shellcheck disable=SC2086
        if grep -lF -e "${line:-$secret}" $written; then fail "a secret of $(basename "$file") was written"; fi
    done
    grep -q "ACK\|NACK" "$work/run/all" || fail "what was printed is not looked at"
}
