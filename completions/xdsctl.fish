# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_xdsctl_global_optspecs
    string join \n h/help V/version
end

function __fish_xdsctl_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_xdsctl_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_xdsctl_using_subcommand
    set -l cmd (__fish_xdsctl_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c xdsctl -n "__fish_xdsctl_needs_command" -s h -l help -d 'Print help'
complete -c xdsctl -n "__fish_xdsctl_needs_command" -s V -l version -d 'Print version'
complete -c xdsctl -n "__fish_xdsctl_needs_command" -f -a "validate" -d 'Say which resources a gRPC client would reject, drop or ignore, and at which field'
complete -c xdsctl -n "__fish_xdsctl_needs_command" -f -a "explain" -d 'Explain a rule, or list all rules'
complete -c xdsctl -n "__fish_xdsctl_needs_command" -f -a "generate" -d 'Write man pages or shell completions'
complete -c xdsctl -n "__fish_xdsctl_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c xdsctl -n "__fish_xdsctl_using_subcommand validate" -l as -d 'Take bare resources and arrays for this type' -r -f -a "lds\t'Listener'
rds\t'RouteConfiguration'
cds\t'Cluster'
eds\t'ClusterLoadAssignment'
bootstrap\t'gRPC bootstrap file'
discovery-response\t'DiscoveryResponse'
csds\t'ClientStatusResponse'
config-dump\t'Envoy admin config dump'
any\t'google.protobuf.Any'"
complete -c xdsctl -n "__fish_xdsctl_using_subcommand validate" -l stdin-filename -d 'Name to show for standard input' -r
complete -c xdsctl -n "__fish_xdsctl_using_subcommand validate" -l bootstrap -d 'Use this gRPC bootstrap file: certificate providers, trusted servers, authorities' -r -F
complete -c xdsctl -n "__fish_xdsctl_using_subcommand validate" -l env -d 'Set an environment switch of the client; may be repeated' -r
complete -c xdsctl -n "__fish_xdsctl_using_subcommand validate" -l format -d 'Output format' -r -f -a "human\t'For people'
json\t'For programs'"
complete -c xdsctl -n "__fish_xdsctl_using_subcommand validate" -l fail-on -d 'Exit with 1 if a finding is at least this severe' -r -f -a "error\t'Errors only'
warning\t'Warnings and errors'
note\t'Everything'"
complete -c xdsctl -n "__fish_xdsctl_using_subcommand validate" -l min-severity -d 'Show findings of at least this severity, count the others' -r -f -a "error\t'Errors only'
warning\t'Warnings and errors'
note\t'Everything'"
complete -c xdsctl -n "__fish_xdsctl_using_subcommand validate" -l show -d 'Print also what the client keeps of each accepted resource' -r -f -a "parsed\t'What the client keeps of each accepted resource'"
complete -c xdsctl -n "__fish_xdsctl_using_subcommand validate" -s D -l deny -d 'Make findings of this rule or effect errors; may be repeated' -r
complete -c xdsctl -n "__fish_xdsctl_using_subcommand validate" -s W -l warn -d 'Make findings of this rule or effect warnings; may be repeated' -r
complete -c xdsctl -n "__fish_xdsctl_using_subcommand validate" -s A -l allow -d 'Drop findings of this rule or effect; may be repeated' -r
complete -c xdsctl -n "__fish_xdsctl_using_subcommand validate" -l color -d 'When to colour the report' -r -f -a "auto\t'On a terminal that can, unless NO_COLOR says otherwise'
always\t'Always'
never\t'Never'"
complete -c xdsctl -n "__fish_xdsctl_using_subcommand validate" -l merge -d 'Take all inputs for one world'
complete -c xdsctl -n "__fish_xdsctl_using_subcommand validate" -l no-mmap -d 'Read large files instead of mapping them'
complete -c xdsctl -n "__fish_xdsctl_using_subcommand validate" -l all -d 'Show every finding, also the thousandth of its kind'
complete -c xdsctl -n "__fish_xdsctl_using_subcommand validate" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c xdsctl -n "__fish_xdsctl_using_subcommand explain" -l format -d 'Output format' -r -f -a "human\t'For people'
json\t'For programs'"
complete -c xdsctl -n "__fish_xdsctl_using_subcommand explain" -l list -d 'List all rules'
complete -c xdsctl -n "__fish_xdsctl_using_subcommand explain" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c xdsctl -n "__fish_xdsctl_using_subcommand generate" -l out -d 'Directory to write to' -r -F
complete -c xdsctl -n "__fish_xdsctl_using_subcommand generate" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c xdsctl -n "__fish_xdsctl_using_subcommand help; and not __fish_seen_subcommand_from validate explain generate help" -f -a "validate" -d 'Say which resources a gRPC client would reject, drop or ignore, and at which field'
complete -c xdsctl -n "__fish_xdsctl_using_subcommand help; and not __fish_seen_subcommand_from validate explain generate help" -f -a "explain" -d 'Explain a rule, or list all rules'
complete -c xdsctl -n "__fish_xdsctl_using_subcommand help; and not __fish_seen_subcommand_from validate explain generate help" -f -a "generate" -d 'Write man pages or shell completions'
complete -c xdsctl -n "__fish_xdsctl_using_subcommand help; and not __fish_seen_subcommand_from validate explain generate help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
