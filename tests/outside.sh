#!/usr/bin/env bash
# What others make of xdsctl's output and packages: schemas, shells, man, installers. None of it is ours.
#
#   tests/outside.sh [PART...]
#
# parts: schemas sarif junit terminal patch man completions manifests names wheel revision hook action gitlab npm static
#
# A part that needs what is not there says so and is skipped, or fails if CI is set. What is installed goes to a cache below the
# target directory. XDSCTL names the binary; without it the debug build is taken. Hook, action and template build from the
# source, and `static` runs, only with XDSCTL_OUTSIDE=all.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
target=${CARGO_TARGET_DIR:-$root/target}
work=$target/outside
xdsctl=${XDSCTL:-$target/debug/xdsctl}
[ -n "${XDSCTL:-}" ] || cargo build --quiet --package xdsctl-cli
mkdir -p "$work/bin"
ln -sf "$xdsctl" "$work/bin/xdsctl"
export PATH=$work/bin:$PATH
failed=0

skip() {
    [ -z "${CI:-}" ] || { echo "$1"; exit 1; }
    echo "skipped: $1"
    exit 0
}
need() { command -v "$1" >/dev/null || skip "there is no $1"; }

# Installs Python packages into the cache, once.
python() {
    need python3
    local venv=$work/venv
    [ -x "$venv/bin/python" ] || python3 -m venv "$venv" >/dev/null 2>&1 || skip "python3 makes no virtual environment"
    for package in "$@"; do
        [ -e "$venv/$package" ] && continue
        timeout 120 "$venv/bin/pip" install --quiet --disable-pip-version-check "$package" >"$work/pip.log" 2>&1 ||
            skip "pip cannot install $package"
        touch "$venv/$package"
    done
}

# Says whether the command given validates, and ends with 1.
finds() {
    local code=0
    "$@" validate --quiet "$root/fixtures/examples/shop.yaml" >"$work/finds.txt" 2>/dev/null || code=$?
    [ "$code" = 1 ] || { echo "exit code $code"; return 1; }
    grep -q cds-lb-policy-unsupported "$work/finds.txt"
}

# Every dump and example, in one form: findings are expected.
report() { "$xdsctl" validate --min-severity note --format "$1" fixtures/dumps fixtures/examples 2>/dev/null || true; }

# A suite with a failure of each kind, in one form.
suites() {
    mkdir -p "$work/suites"
    cat >"$work/suites/bad.yaml" <<END
world: $root/fixtures/suites/world/shop.yaml
tests:
- {name: expectation, steps: [{pick: {method: /shop.Pay/Charge}, expect: {status: INTERNAL}}]}
- {name: never, never: {fails: false}, steps: [{pick: {method: /shop.Pay/Charge}}]}
- {name: step, steps: [{drain: 10.9.9.9:80}]}
END
    (cd "$work/suites" && "$xdsctl" test --format "$1" bad.yaml 2>/dev/null) || true
}

part_schemas() { # every JSON answer against its schema
    python jsonschema PyYAML
    "$work/venv/bin/python" tests/outside/schemas.py
}

part_sarif() { # the schema, and the rules of code scanning
    need npm
    local package=@microsoft/sarif-multitool dir=$work/npm tool
    if [ ! -d "$dir/node_modules/$package" ]; then
        mkdir -p "$dir"
        (cd "$dir" && timeout 120 npm install --silent --no-audit --no-fund --ignore-scripts "$package" >npm.log 2>&1) ||
            skip "npm cannot install $package"
    fi
    tool=$(ls "$dir"/node_modules/@microsoft/sarif-multitool-*/Sarif.Multitool 2>/dev/null | head -1)
    [ -n "$tool" ] || skip "$package has no program for this platform"
    chmod u+x "$tool"
    lint() { # a page of the project's own is all that may be missing
        "$tool" validate "$1" --rule-kind 'Sarif;Gh' 2>&1 | grep -E ': (error|warning) ' | grep -v SARIF2005 || true
    }
    report sarif >"$work/out.sarif"
    local said
    said=$(lint "$work/out.sarif")
    [ -z "$said" ] || { echo "$said"; return 1; }
    suites sarif >"$work/suites.sarif"
    said=$(lint "$work/suites.sarif")
    [ -z "$said" ] || { echo "$said"; return 1; }
    # It does see faults.
    sed 's/"help":/"no_help":/; s/"locations":/"no_locations":/' "$work/out.sarif" >"$work/bad.sarif"
    lint "$work/bad.sarif" | grep -q 'GH2012.*help' || { echo "the validator finds no fault"; return 1; }
}

part_junit() { # the schema that pytest's reports are tested with
    python lxml
    local schema=$work/junit-10.xsd file
    if [ ! -f "$schema" ]; then
        timeout 120 "$work/venv/bin/pip" download --quiet --disable-pip-version-check --no-deps --no-binary :all: \
            --dest "$work/pytest" pytest >"$work/pip.log" 2>&1 || skip "pip cannot get pytest's source"
        tar -xzf "$work"/pytest/pytest-*.tar.gz --wildcards '*/junit-10.xsd' -O >"$schema"
    fi
    is_valid() {
        "$work/venv/bin/python" -c 'import sys; from lxml import etree as e; e.XMLSchema(e.parse(sys.argv[1])).assertValid(e.parse(sys.argv[2]))' \
            "$schema" "$1" 2>"$work/schema.log"
    }
    report junit >"$work/out.xml"
    suites junit >"$work/suites.xml"
    for file in "$work/out.xml" "$work/suites.xml"; do
        is_valid "$file" || { tail -1 "$work/schema.log"; return 1; }
    done
    sed 's/<testcase /<test /' "$work/out.xml" >"$work/bad.xml"
    ! is_valid "$work/bad.xml" || { echo "the validator finds no fault"; return 1; }
}

part_terminal() { # a real terminal: its width, its colours, no control character of a document
    need python3
    python3 tests/outside/terminal.py
}

part_patch() { # what --diff prints, applied by others: it is what --fix does
    need git
    need patch
    local dir=$work/patch name code
    rm -rf "$dir"
    mkdir -p "$dir"/{before,fixed}/xds
    cat >"$dir/before/xds/routes.yaml" <<'END'
"@type": type.googleapis.com/envoy.config.route.v3.RouteConfiguration
name: r # kept as it is
ignore-port-in-host-matching: true
virtual_hosts:
- domains: ["*"]
  routes:
  - match: {prefix: /, headers: [{name: X-User, present_match: true}]}
    route: {cluster: c, retry_policy: {retry_on: 'unavailable,Deadline_Exceeded'}}
END
    printf '%s' '{"@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "c",
 "type": "EDS", "eds-cluster-config": {"eds_config": {"ads": {}}}}' >"$dir/before/xds/no newline.json"
    cp -r "$dir/before/." "$dir/fixed/"
    code=0
    (cd "$dir/fixed" && "$xdsctl" validate --fix --quiet xds >/dev/null 2>&1) || code=$?
    [ "$code" = 0 ] || { echo "--fix: exit code $code"; return 1; }
    ! diff -r "$dir/before" "$dir/fixed" >/dev/null || { echo "nothing was fixed"; return 1; }
    for name in patch git; do
        cp -r "$dir/before" "$dir/$name"
        code=0
        (cd "$dir/$name" && "$xdsctl" validate --diff --show-secrets xds >"$dir/$name.diff" 2>/dev/null) || code=$?
        [ "$code" = 1 ] || { echo "--diff: exit code $code"; return 1; }
    done
    (cd "$dir/patch" && patch --quiet -p1 <"$dir/patch.diff")
    (cd "$dir/git" && git init -q . && git apply --check "$dir/git.diff" && git apply "$dir/git.diff" && rm -rf .git)
    for name in patch git; do
        diff -r "$dir/fixed" "$dir/$name" || { echo "$name makes something else of it"; return 1; }
    done
}

part_man() { # groff's warnings
    need man
    need groff
    local page said
    for page in man/*.1; do
        said=$(LC_ALL=C.UTF-8 MANROFFSEQ='' MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z "$page" 2>&1 >/dev/null)
        [ -z "$said" ] || { echo "$page: $said"; return 1; }
    done
}

part_completions() { # each shell loads its script and completes with it
    need bash
    bash tests/outside/complete.bash || { echo "bash"; return 1; }
    need zsh
    zsh -f tests/outside/complete.zsh || { echo "zsh"; return 1; }
    need fish
    fish --no-config tests/outside/complete.fish || { echo "fish"; return 1; }
}

part_manifests() { # files for CI systems, against those systems' schemas
    python check-jsonschema pre-commit
    local check=$work/venv/bin/check-jsonschema
    "$check" -q --builtin-schema vendor.github-actions action.yml
    "$check" -q --builtin-schema vendor.github-workflows .github/workflows/*.yml
    "$check" -q --builtin-schema vendor.gitlab-ci packaging/gitlab/xdsctl.yml
    "$work/venv/bin/pre-commit" validate-manifest .pre-commit-hooks.yaml
    report gitlab >"$work/out.gitlab.json"
    "$check" -q --schemafile tests/outside/gitlab-codequality.json "$work/out.gitlab.json"
    suites gitlab >"$work/suites.gitlab.json"
    "$check" -q --schemafile tests/outside/gitlab-codequality.json "$work/suites.gitlab.json"
}

# Builds a wheel, once, of what the tests were built of: maturin calls a cargo that builds the whole workspace, because one crate
# alone has other features and would be built anew.
wheel() {
    [ ! -e "$work/wheels" ] || return 0
    python maturin
    mkdir -p "$work/cargo"
    cat >"$work/cargo/cargo" <<'END'
#!/bin/sh
[ "$1" = rustc ] || exec "$CARGO_OF_TESTS" "$@"
exec "$CARGO_OF_TESTS" build --profile test --workspace --features xdsctl-cli/net,xdsctl-net/live --bin xdsctl \
    --message-format json-render-diagnostics
END
    chmod u+x "$work/cargo/cargo"
    CARGO_OF_TESTS=$(command -v cargo) PATH=$work/cargo:$PATH \
        "$work/venv/bin/maturin" build --quiet --profile dev --strip --out "$work/wheels" >"$work/maturin.log" 2>&1 ||
        { tail -5 "$work/maturin.log"; return 1; }
}

part_wheel() { # built, and installed where nothing else is
    rm -rf "$work/wheels" "$work/fresh"
    wheel
    python3 -m venv "$work/fresh"
    "$work/fresh/bin/pip" install --quiet --disable-pip-version-check --no-index "$work"/wheels/*.whl
    "$work/fresh/bin/xdsctl" --version >/dev/null
    finds "$work/fresh/bin/xdsctl"
}

part_npm() { # packed, installed and run as npx runs it
    need npm
    need node
    local dir=$work/npx platform
    platform=$(node -p '`${process.platform}-${process.arch}`')
    rm -rf "$dir"
    mkdir -p "$dir/packs" "$dir/project"
    packaging/npm/platform.sh "$platform" "$work/bin/xdsctl" "$dir/platform"
    npm pack --silent "$dir/platform" ./packaging/npm/xdsctl --pack-destination "$dir/packs" >/dev/null 2>&1
    cd "$dir/project"
    npm install --silent --no-audit --no-fund --offline --omit=optional "$dir"/packs/*.tgz >"$work/npm.log" 2>&1 ||
        { tail -5 "$work/npm.log"; return 1; }
    npx --offline xdsctl --version >/dev/null 2>&1
    finds npx --offline xdsctl
}

part_static() { # a binary that needs no library, in an empty root
    [ "${XDSCTL_OUTSIDE:-}" = all ] || { echo "only with XDSCTL_OUTSIDE=all"; return 0; }
    [ "$(uname -s)" = Linux ] || skip "only for Linux"
    local triple dir=$work/scratch
    triple=$(rustc -vV | sed -n 's/^host: //p')
    RUSTFLAGS='-C target-feature=+crt-static' cargo build --quiet --profile dist --package xdsctl-cli --target "$triple"
    rm -rf "$dir"
    mkdir -p "$dir/dumps"
    cp "$target/$triple/dist/xdsctl" "$dir/"
    cp fixtures/examples/shop.yaml "$dir/dumps/"
    local code=0
    ! ldd "$dir/xdsctl" >/dev/null 2>&1 || ldd "$dir/xdsctl" | grep -q 'statically linked'
    unshare -r chroot "$dir" /xdsctl validate --statistics /dumps/shop.yaml >"$work/static.txt" || code=$?
    [ "$code" = 1 ] || { echo "exit code $code"; return 1; }
    grep -q cds-lb-policy-unsupported "$work/static.txt"
}

# shellcheck source=tests/outside/sample.sh
. tests/outside/sample.sh

all="schemas sarif junit terminal patch man completions manifests names wheel revision hook action gitlab npm static"
# shellcheck disable=SC2086 # words
[ $# -gt 0 ] || set -- $all
for part in "$@"; do
    code=0
    # In the background, because an `if` would switch `set -e` off.
    (part_"$part") >"$work/$part.log" 2>&1 &
    wait $! || code=$?
    if [ "$code" = 0 ]; then
        echo "$part: $(tail -1 "$work/$part.log" | grep . || echo ok)"
    else
        echo "$part: FAILED"
        tail -20 "$work/$part.log" | sed 's/^/  /'
        failed=1
    fi
done
exit "$failed"
