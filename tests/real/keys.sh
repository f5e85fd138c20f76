#!/usr/bin/env bash
# keys.sh DIRECTORY: certificates for a day: ca, server (localhost, 127.0.0.1), client, and another ca.
set -euo pipefail
cd "$1"
authority() { openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj "/CN=$1" -keyout "$1.key" -out "$1.pem"; }
signed() {
    openssl req -newkey rsa:2048 -nodes -subj "/CN=$1" -keyout "$1.key" -out "$1.csr"
    printf 'subjectAltName=DNS:localhost,IP:127.0.0.1\nbasicConstraints=CA:FALSE\n' >"$1.ext"
    openssl x509 -req -in "$1.csr" -CA ca.pem -CAkey ca.key -CAcreateserial -days 1 -extfile "$1.ext" -out "$1.pem"
}
authority ca
authority other
signed server
signed client
