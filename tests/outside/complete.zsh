# Loads the completions into zsh and asks them through a terminal of zsh's own.
zmodload zsh/zpty || { print "zsh/zpty is missing"; exit 1 }
dir=$(mktemp -d)
trap 'rm -rf $dir' EXIT
xdsctl completions zsh >$dir/_xdsctl
zpty -b shell zsh -f -i
# What is answered is printed by a widget instead of being inserted.
zpty -w shell "PS1= PS2=; stty -echo; fpath=($dir \$fpath); autoload -Uz compinit; compinit -u -D; zstyle ':completion:*' list-prompt ''; LISTMAX=10000; COLUMNS=200; LINES=9999; bindkey '^I' complete-word; bindkey '^X' list-choices; print READY"
answer() {
    local out= chunk= waited=0
    while (( waited < 100 )); do
        if zpty -rt shell chunk; then out+=$chunk; else sleep 0.05; (( waited++ )); fi
        [[ $out == *$1* ]] && { return 0 }
    done
    print -r -- "no \`$1\`: ${out[1,500]}"
    return 1
}
answer READY || exit 1
expect() { # what is to be there, the line so far
    zpty -w -n shell $'\C-u'"$2"$'\C-x'
    answer "$1" || { print -r -- "for \`$2\`"; exit 1 }
    zpty -w -n shell $'\C-c'
    sleep 0.1
}
expect 'validate' 'xdsctl v'
expect 'fail-on' 'xdsctl validate --f'
expect 'cds-lb-policy-unsupported' 'xdsctl validate -D cds-lb-policy-un'
expect 'sarif' 'xdsctl validate --format '
expect 'outside.sh' 'xdsctl validate tests/out'
