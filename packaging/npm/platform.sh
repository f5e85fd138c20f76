#!/usr/bin/env bash
# platform.sh PLATFORM BINARY DIRECTORY: makes the package @xdsctl/PLATFORM (as node names it: linux-x64) of a binary.
set -euo pipefail
platform=$1 binary=$2 out=$3
version=$(sed -n 's/^  "version": "\(.*\)",$/\1/p' "$(dirname "$0")/xdsctl/package.json")
mkdir -p "$out/bin"
install -m 755 "$binary" "$out/bin/"
cat >"$out/package.json" <<END
{
  "name": "@xdsctl/$platform",
  "version": "$version",
  "description": "The binary of xdsctl for $platform",
  "license": "Apache-2.0",
  "os": ["${platform%-*}"],
  "cpu": ["${platform#*-}"],
  "files": ["bin"]
}
END
