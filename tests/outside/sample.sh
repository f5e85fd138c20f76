# A repository as a user has it, checked in the ways that docs/ci.md names. Sourced by tests/outside.sh, whose functions it uses.
# With CI set a tool that is missing is a failure here.

# Writes a small world of three files: a route leads to the cluster `$2` of `$1`.
small_world() {
    mkdir -p "$1"
    cat >"$1/listener.yaml" <<END
"@type": type.googleapis.com/envoy.config.listener.v3.Listener
name: shop
api_listener:
  api_listener:
    "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
    rds: {route_config_name: shop, config_source: {ads: {}}}
    http_filters:
    - name: router
      typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}
END
    cat >"$1/routes.yaml" <<END
"@type": type.googleapis.com/envoy.config.route.v3.RouteConfiguration
name: shop
virtual_hosts:
- name: all
  domains: ["*"]
  routes:
  - match: {prefix: ""}
    route: {cluster: $2}
END
    for name in "$2" spare; do
        cat >"$1/cluster-$name.yaml" <<END
"@type": type.googleapis.com/envoy.config.cluster.v3.Cluster
name: $name
type: EDS
eds_cluster_config: {eds_config: {ads: {}}}
END
    done
}

# A repository with two worlds, one in a directory with a space in its name.
sample() {
    rm -rf "$1"
    small_world "$1/xds" shop
    small_world "$1/more xds" pay
    git -C "$1" init -q -b main
    git -C "$1" config user.name sample
    git -C "$1" config user.email sample@example.com
    git -C "$1" config commit.gpgsign false
    git -C "$1" add .
    git -C "$1" commit -q -m sample
}

# Runs a command, what it writes in $work/said, and wants this exit code.
gives() {
    local wanted=$1 code=0
    shift
    "$@" >"$work/said" 2>&1 </dev/null || code=$?
    [ "$code" = "$wanted" ] || { echo "exit code $code instead of $wanted: $*"; cat "$work/said"; return 1; }
}

# What a command wrote has this.
says() { grep -qF -- "$1" "$work/said" || { echo "does not say: $1"; cat "$work/said"; return 1; }; }

# A PATH without any xdsctl, with a cargo that installs the binary at hand where it is told to, and says how it was asked.
without_xdsctl() {
    local directory path=
    rm -rf "$work/tools"
    mkdir -p "$work/tools"
    while read -r -d : directory; do
        [ -x "$directory/xdsctl" ] || path=$path:$directory
    done <<<"$PATH:"
    if [ "${XDSCTL_OUTSIDE:-}" != all ]; then
        cat >"$work/tools/cargo" <<END
#!/usr/bin/env bash
printf '%s\n' "\$*" >>"$work/tools/asked"
while [ \$# -gt 0 ]; do
    [ "\$1" != --root ] || { mkdir -p "\$2/bin" && cp "$xdsctl" "\$2/bin/xdsctl"; }
    shift
done
END
    fi
    # Where the system's Python is managed by others, its pip installs nothing.
    cat >"$work/tools/python3" <<END
#!/usr/bin/env bash
[ "\$1 \$2" != "-m pip" ] || { echo "error: externally-managed-environment" >&2; exit 1; }
exec "$(command -v python3)" "\$@"
END
    chmod +x "$work"/tools/*
    echo "$work/tools$path"
}

part_revision() { # what a change of a pull request means, against a revision
    need git
    local dir=$work/revision
    sample "$dir"
    cd "$dir"
    gives 0 xdsctl diff --exit-code git:HEAD:xds xds
    gives 0 xdsctl diff --exit-code git:HEAD:. .
    says 'nothing changes for a client'
    cd "more xds"
    gives 0 xdsctl diff --exit-code git:HEAD:. .
    gives 0 xdsctl diff --exit-code "git:HEAD:./" "../more xds"
    cd ..
    # gRPC does not read `timeout`; it takes the deadline from `max_stream_duration`.
    sed -i 's/{cluster: shop}/{cluster: shop, timeout: 1s}/' xds/routes.yaml
    gives 0 xdsctl diff --exit-code git:HEAD:. .
    sed -i 's/timeout: 1s/max_stream_duration: {max_stream_duration: 3s}/' xds/routes.yaml
    gives 1 xdsctl diff --exit-code git:HEAD:. .
    gives 0 xdsctl diff --fail-on verdicts git:HEAD:. .
    gives 1 xdsctl diff --fail-on rpcs git:HEAD:. .
    says 'deadline: none → 3s'
    git commit -q -a -m deadline
    sed -i 's/cluster: shop/cluster: spare/' xds/routes.yaml
    sed -i 's/type: EDS/type: STATIC/' "more xds/cluster-pay.yaml"
    : >summary.md
    GITHUB_WORKSPACE=$dir GITHUB_STEP_SUMMARY=$dir/summary.md \
        gives 1 xdsctl diff --fail-on rpcs --format github --format markdown=out.md git:HEAD:. .
    says '::warning file=xds/routes.yaml,line=1,'
    says '::error file=more xds/cluster-pay.yaml,line=1,'
    grep -q '^### xdsctl diff' out.md
    cmp out.md summary.md
    git checkout -q xds
    gives 1 xdsctl diff --fail-on verdicts git:HEAD:. .
    gives 2 xdsctl diff --fail-on rpcs --format github git:nowhere:. .
    says '::error title=xdsctl::cannot read `git:nowhere:.`'
    git checkout -q .
    # The first pull request of a directory: everything is new.
    cp -r xds first
    gives 0 xdsctl diff --fail-on rpcs,verdicts --format github git:HEAD:first first
    says 'all of `first` is new'
    gives 2 xdsctl diff --fail-on rpcs git:HEAD:frist first
    rm -r first
    # What routes still name is deleted: the clusters among others, and all of them.
    rm xds/cluster-shop.yaml
    gives 1 xdsctl validate --fail-on warning xds
    gives 1 xdsctl diff --fail-on rpcs git:HEAD:xds xds
    says 'is lost: RPCs to it fail'
    rm xds/cluster-spare.yaml
    gives 0 xdsctl validate --fail-on warning xds
    gives 1 xdsctl validate --complete xds
    gives 1 xdsctl diff --fail-on rpcs git:HEAD:xds xds
    says 'is lost: RPCs to it fail'
}

# A step of the action, with the environment that GitHub gives it: the directories that the step before named are on the PATH.
step() {
    local number=$1 path=$PATH directory
    shift
    while read -r directory; do path=$directory:$path; done <"$RUNNER_TEMP/path"
    gives "$1" env PATH="$path" GITHUB_PATH="$RUNNER_TEMP/path" "${@:2}" bash --noprofile --norc -eo pipefail "$work/step-$number.sh"
}

part_action() { # the steps of the action, with the environment that GitHub gives them
    need git
    python PyYAML
    wheel
    local dir=$work/action name wheel
    wheel=$(echo "$work"/wheels/*.whl)
    sample "$dir"
    "$work/venv/bin/python" tests/outside/steps.py action.yml "$work/step"
    cd "$dir"
    export RUNNER_TEMP=$work/runner GITHUB_WORKSPACE=$dir GITHUB_STEP_SUMMARY=$dir/summary.md
    fresh() { rm -rf "$RUNNER_TEMP"; mkdir "$RUNNER_TEMP"; : >"$RUNNER_TEMP/path"; : >"$GITHUB_STEP_SUMMARY"; }
    PATH=$(without_xdsctl)
    fresh
    step 0 0 WHEEL='' SOURCE="$root"
    says "xdsctl 0."
    [ "${XDSCTL_OUTSIDE:-}" = all ] || grep -q -- "--locked --path $root/crates/cli" "$work/tools/asked"
    step 1 0 PATHS=. ARGS='' SARIF=''
    # Whoever registers a name in an index would run code here.
    for name in xdsctl xdsctl==0.1.0 http://127.0.0.1:9/xdsctl-0.1.0.whl --index-url=x.whl; do
        fresh
        step 0 2 WHEEL="$name" SOURCE="$root"
        says '::error::wheel must be a path or an https URL'
    done
    fresh
    step 0 0 WHEEL="$wheel" SOURCE="$root"
    says "xdsctl 0."
    # Every line, and words with spaces.
    echo 'not: [xDS' >"more xds/notes.yaml"
    step 1 0 PATHS=xds ARGS='' SARIF=''
    step 1 1 PATHS=$'xds\n"more xds"\n' ARGS='' SARIF=''
    rm "more xds/notes.yaml"
    sed -i 's/type: EDS/type: STATIC/' "more xds/cluster-pay.yaml"
    step 1 0 PATHS=$'xds\n' ARGS=$'--fail-on\n  warning\n' SARIF=''
    for name in $'xds\nmore\\ xds\n' "'more xds'" '"more xds"/cluster-pay.yaml xds/routes.yaml'; do
        : >"$GITHUB_STEP_SUMMARY"
        step 1 1 PATHS="$name" ARGS=$'--min-severity error\n--fail-on warning' SARIF='out file.sarif'
        says '::error file=more xds/cluster-pay.yaml,line='
        grep -q '^### xdsctl: ' "$GITHUB_STEP_SUMMARY"
        grep -q '"uri":"more%20xds/cluster-pay.yaml"' "out file.sarif"
        rm "out file.sarif"
    done
    # Nothing is run or expanded, and a path is no option.
    step 1 2 PATHS='$(touch ran) `touch ran` ;touch ran * $HOME' ARGS='' SARIF=''
    says 'cannot read `$HOME`'
    says 'cannot read `*`'
    says '::error title=xdsctl::cannot read `*`'
    [ ! -e ran ]
    step 1 2 PATHS=xds ARGS='--fail-on nonsense' SARIF=''
    says '::error title=xdsctl::invalid value'
    step 1 2 PATHS='--quiet xds' ARGS='' SARIF=''
    says 'cannot read `--quiet`'
    step 1 2 PATHS='"xds' ARGS='' SARIF=''
    says 'does not end'
    step 1 2 PATHS=$' \n' ARGS='' SARIF=''
    says '::error::paths is empty'
}

part_gitlab() { # the script of the template, as a runner gives it to a shell
    need git
    python PyYAML
    local dir=$work/gitlab path shell commit
    commit=$(git rev-parse HEAD)
    sample "$dir"
    "$work/venv/bin/python" tests/outside/steps.py packaging/gitlab/xdsctl.yml "$work/job"
    cd "$dir"
    path=$(without_xdsctl)
    job() { gives "$1" env CI_PROJECT_DIR="$dir" XDSCTL_GIT= XDSCTL_COMMIT= XDSCTL_PATHS=. XDSCTL_ARGS= "${@:2}" $shell "$work/job-0.sh"; }
    for shell in "bash -eo pipefail" "sh -e"; do
        job 2 PATH="$path"
        says 'set XDSCTL_GIT to a URL and XDSCTL_COMMIT to 40 hex digits'
        job 2 PATH="$path" XDSCTL_GIT="file://$root" XDSCTL_COMMIT=main
        job 0 PATH="$path" XDSCTL_GIT="file://$root" XDSCTL_COMMIT="$commit"
        [ "${XDSCTL_OUTSIDE:-}" = all ] || grep -q -- "--locked --git file://$root --rev $commit" "$work/tools/asked"
        sed -i 's/type: EDS/type: STATIC/' "more xds/cluster-pay.yaml"
        job 0 XDSCTL_PATHS=xds
        job 1 XDSCTL_PATHS=$'xds\n"more xds"' XDSCTL_ARGS=$'--min-severity error\n--fail-on warning'
        grep -q 'more xds/cluster-pay.yaml' xdsctl-codequality.json
        grep -q '<failure' xdsctl-junit.xml
        job 2 XDSCTL_PATHS='$(touch ran) `touch ran` * --quiet'
        says 'cannot read `--quiet`'
        [ ! -e ran ]
        git checkout -q .
        rm xdsctl-codequality.json xdsctl-junit.xml
    done
}

part_hook() { # the real pre-commit, in a repository that commits
    need git
    python pre-commit
    local dir=$work/hook hooks=$work/hooks id=xdsctl-system
    export PRE_COMMIT_HOME=$work/pre-commit
    rm -rf "$hooks"
    mkdir "$hooks"
    if [ "${XDSCTL_OUTSIDE:-}" = all ]; then
        id=xdsctl
        git ls-files -z | xargs -0 cp --parents -t "$hooks"
    else
        cp .pre-commit-hooks.yaml "$hooks"
    fi
    git -C "$hooks" init -q
    git -C "$hooks" add .
    git -C "$hooks" -c user.name=x -c user.email=x@example.com -c commit.gpgsign=false commit -q -m hooks
    local rev
    rev=$(git -C "$hooks" rev-parse HEAD)
    sample "$dir"
    cd "$dir"
    configure() { printf 'repos:\n- repo: %s\n  rev: %s\n  hooks:\n  - {id: %s%s}\n' "$hooks" "$rev" "$id" "$1" >.pre-commit-config.yaml; }
    configure ''
    git add .
    "$work/venv/bin/pre-commit" install >/dev/null
    gives 0 git commit -m hook
    says 'Passed'
    # Only one of the two files changes.
    sed -i 's/cluster: shop/cluster: shpo/' xds/routes.yaml
    gives 1 git commit -a -m misspelt
    says 'shpo'
    git checkout -q HEAD xds
    sed -i 's/name: shop/name: shpo/' xds/cluster-shop.yaml
    gives 1 git commit -a -m renamed
    git checkout -q HEAD xds
    git rm -q xds/cluster-shop.yaml
    gives 1 git commit -m deleted
    git reset -q --hard
    # What is known already stays known while another file changes.
    sed -i 's/type: EDS/type: STATIC/' xds/cluster-spare.yaml
    xdsctl validate --complete --write-baseline known.json xds >/dev/null 2>&1
    configure ', args: [--baseline, known.json, --complete, --fail-on, warning, --, xds]'
    git add .
    gives 0 git commit -m known
    echo '# changed' >>xds/routes.yaml
    gives 0 git commit -a -m changed
    says 'Passed'
    # Several directories, with spaces, and a file that is called like an option.
    configure ', args: [--fail-on, error, --, "more xds", --quiet.yaml]'
    cp xds/cluster-shop.yaml ./--quiet.yaml
    git add .
    gives 0 git commit -m directories
    sed -i 's/type: EDS/type: STATIC/' ./--quiet.yaml
    gives 1 git commit -a -m option
    says 'quiet.yaml'
}

part_names() { # nothing is installed by a name in an index that is not ours
    local found
    found=$(grep -rnE '(pip3?|pipx|uv|npm|yarn|gem|brew|cargo) +(install|add|i)( +-[^ ]+)* +["'"'"']?@?xdsctl|npx( +-[^ ]+)* +@?xdsctl' \
        README.md docs packaging action.yml .pre-commit-hooks.yaml .github || true)
    [ -z "$found" ] || { echo "$found"; return 1; }
}
