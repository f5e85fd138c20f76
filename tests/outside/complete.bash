# Loads the completions into bash and asks them.
eval "$(xdsctl completions bash)"
ask() { # the words so far, the last one to complete
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    COMPREPLY=()
    _xdsctl xdsctl "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
    printf '%s\n' "${COMPREPLY[@]}"
}
expect() {
    local wanted=$1
    shift
    ask "$@" | grep -qx -- "$wanted" || { echo "no \`$wanted\` for \`$*\`: $(ask "$@" | head -5)"; exit 1; }
}
expect validate xdsctl val
expect --fail-on xdsctl validate --fail
expect cds-lb-policy-unsupported xdsctl validate -D cds-lb-pol
expect cds-lb-policy-unsupported xdsctl explain cds-lb-pol
expect sarif xdsctl validate --format sa
# Files are what is left to the shell.
[ -z "$(ask xdsctl validate tests/outside.s)" ] && complete -p xdsctl | grep -q -- '-o default' || { echo "no files"; exit 1; }
