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
complete -c xdsctl -n "__fish_xdsctl_needs_command" -f -a "tree" -d 'Show the tree of LB policies that a channel builds'
complete -c xdsctl -n "__fish_xdsctl_needs_command" -f -a "route" -d 'Say which route takes an RPC, and why not the others'
complete -c xdsctl -n "__fish_xdsctl_needs_command" -f -a "pick" -d 'Follow an RPC to its endpoint, with the reason at each layer'
complete -c xdsctl -n "__fish_xdsctl_needs_command" -f -a "retry" -d 'Show what becomes of a retry policy'
complete -c xdsctl -n "__fish_xdsctl_needs_command" -f -a "cookie" -d 'Read or write session cookies'
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
complete -c xdsctl -n "__fish_xdsctl_using_subcommand validate" -l bootstrap -d 'Use this gRPC bootstrap file: certificate providers (not checked without it), trusted servers, authorities' -r -F
complete -c xdsctl -n "__fish_xdsctl_using_subcommand validate" -l env -d 'Set an environment switch of the client; may be repeated' -r
complete -c xdsctl -n "__fish_xdsctl_using_subcommand validate" -l client -d 'Clients to ask instead of C-core 1.85.1: `cpp@1.66.2,go,java@1.80,node`, `python@1.70`, `current` or `all`' -r
complete -c xdsctl -n "__fish_xdsctl_using_subcommand validate" -l target -d 'Check also what becomes of a channel to this target, which gets nothing but the input' -r
complete -c xdsctl -n "__fish_xdsctl_using_subcommand validate" -l authority -d 'Authority of that channel, instead of the target\'s name' -r
complete -c xdsctl -n "__fish_xdsctl_using_subcommand validate" -l format -d 'Form of the report, and the file that it goes to instead of standard output; may be repeated' -r -f -a "human\t'For people, with the lines around each finding'
concise\t'A finding a line: `path:line:col: severity rule: message`'
json\t'Everything, for programs'
sarif\t'SARIF 2.1.0, for code scanning'
junit\t'JUnit XML: a test case a resource'
github\t'Annotations and a step summary in GitHub Actions'
gitlab\t'GitLab\'s code quality report'
markdown\t'A comment for a pull request'"
complete -c xdsctl -n "__fish_xdsctl_using_subcommand validate" -l fail-on -d 'Exit with 1 if a finding is at least this severe' -r -f -a "error\t'Errors only'
warning\t'Warnings and errors'
note\t'Everything'"
complete -c xdsctl -n "__fish_xdsctl_using_subcommand validate" -l min-severity -d 'Show findings of at least this severity, count the others [default: warning, in JSON note]' -r -f -a "error\t'Errors only'
warning\t'Warnings and errors'
note\t'Everything'"
complete -c xdsctl -n "__fish_xdsctl_using_subcommand validate" -l show -d 'Print also what the client keeps of each accepted resource' -r -f -a "parsed\t'What the client keeps of each accepted resource'"
complete -c xdsctl -n "__fish_xdsctl_using_subcommand validate" -s D -l deny -d 'Make findings of these rules, families, effects or `all` errors; the last of -D, -W and -A counts' -r
complete -c xdsctl -n "__fish_xdsctl_using_subcommand validate" -s W -l warn -d 'Make them warnings' -r
complete -c xdsctl -n "__fish_xdsctl_using_subcommand validate" -s A -l allow -d 'Drop them; RULE=FIELD,... means these fields only' -r
complete -c xdsctl -n "__fish_xdsctl_using_subcommand validate" -l color -d 'When to colour the report' -r -f -a "auto\t'On a terminal that can, unless NO_COLOR says otherwise'
always\t'Always'
never\t'Never'"
complete -c xdsctl -n "__fish_xdsctl_using_subcommand validate" -l merge -d 'Take all inputs for one world'
complete -c xdsctl -n "__fish_xdsctl_using_subcommand validate" -l show-secrets -d 'Print passwords, keys and tokens instead of masking them'
complete -c xdsctl -n "__fish_xdsctl_using_subcommand validate" -l all -d 'Show every finding, also the thousandth of its kind'
complete -c xdsctl -n "__fish_xdsctl_using_subcommand validate" -l statistics -d 'Write how often there was each rule instead of the findings'
complete -c xdsctl -n "__fish_xdsctl_using_subcommand validate" -s q -l quiet -d 'Write findings only: no summary, no progress'
complete -c xdsctl -n "__fish_xdsctl_using_subcommand validate" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c xdsctl -n "__fish_xdsctl_using_subcommand explain" -l format -d 'Output format' -r -f -a "human\t'For people'
json\t'For programs'"
complete -c xdsctl -n "__fish_xdsctl_using_subcommand explain" -l list -d 'List all rules'
complete -c xdsctl -n "__fish_xdsctl_using_subcommand explain" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c xdsctl -n "__fish_xdsctl_using_subcommand tree" -l as -d 'Take bare resources and arrays for this type' -r -f -a "lds\t'Listener'
rds\t'RouteConfiguration'
cds\t'Cluster'
eds\t'ClusterLoadAssignment'
bootstrap\t'gRPC bootstrap file'
discovery-response\t'DiscoveryResponse'
csds\t'ClientStatusResponse'
config-dump\t'Envoy admin config dump'
any\t'google.protobuf.Any'"
complete -c xdsctl -n "__fish_xdsctl_using_subcommand tree" -l stdin-filename -d 'Name to show for standard input' -r
complete -c xdsctl -n "__fish_xdsctl_using_subcommand tree" -l bootstrap -d 'Use this gRPC bootstrap file: certificate providers (not checked without it), trusted servers, authorities' -r -F
complete -c xdsctl -n "__fish_xdsctl_using_subcommand tree" -l env -d 'Set an environment switch of the client; may be repeated' -r
complete -c xdsctl -n "__fish_xdsctl_using_subcommand tree" -l target -d 'Target of the channel; default is the only API listener' -r
complete -c xdsctl -n "__fish_xdsctl_using_subcommand tree" -l authority -d 'Authority of the channel, instead of the target\'s name' -r
complete -c xdsctl -n "__fish_xdsctl_using_subcommand tree" -l cluster -d 'Start at this cluster, without listener and routes' -r
complete -c xdsctl -n "__fish_xdsctl_using_subcommand tree" -l resolve -d 'Addresses of a DNS name; may be repeated' -r
complete -c xdsctl -n "__fish_xdsctl_using_subcommand tree" -l format -d 'Output format' -r -f -a "human\t'For people'
json\t'The LB configs as the client generates them'
dot\t'Graphviz'
mermaid\t'Mermaid flow chart'
svg\t'Picture'"
complete -c xdsctl -n "__fish_xdsctl_using_subcommand tree" -l layout -d 'Which client\'s tree' -r -f -a "a75\t'A cds policy for each leaf of an aggregate cluster (gRFC A75)'
a37\t'One cluster resolver below an aggregate cluster (gRFC A37, gRPC C-core up to 1.62)'"
complete -c xdsctl -n "__fish_xdsctl_using_subcommand tree" -l color -d 'When to colour the text' -r -f -a "auto\t'On a terminal that can, unless NO_COLOR says otherwise'
always\t'Always'
never\t'Never'"
complete -c xdsctl -n "__fish_xdsctl_using_subcommand tree" -l merge -d 'Take all inputs for one world'
complete -c xdsctl -n "__fish_xdsctl_using_subcommand tree" -l show-secrets -d 'Print passwords, keys and tokens instead of masking them'
complete -c xdsctl -n "__fish_xdsctl_using_subcommand tree" -l all -d 'Show everything that is dropped, also the hundredth of its kind'
complete -c xdsctl -n "__fish_xdsctl_using_subcommand tree" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c xdsctl -n "__fish_xdsctl_using_subcommand route" -l as -d 'Take bare resources and arrays for this type' -r -f -a "lds\t'Listener'
rds\t'RouteConfiguration'
cds\t'Cluster'
eds\t'ClusterLoadAssignment'
bootstrap\t'gRPC bootstrap file'
discovery-response\t'DiscoveryResponse'
csds\t'ClientStatusResponse'
config-dump\t'Envoy admin config dump'
any\t'google.protobuf.Any'"
complete -c xdsctl -n "__fish_xdsctl_using_subcommand route" -l stdin-filename -d 'Name to show for standard input' -r
complete -c xdsctl -n "__fish_xdsctl_using_subcommand route" -l bootstrap -d 'Use this gRPC bootstrap file: certificate providers (not checked without it), trusted servers, authorities' -r -F
complete -c xdsctl -n "__fish_xdsctl_using_subcommand route" -l env -d 'Set an environment switch of the client; may be repeated' -r
complete -c xdsctl -n "__fish_xdsctl_using_subcommand route" -l target -d 'Target of the channel; default is the only API listener' -r
complete -c xdsctl -n "__fish_xdsctl_using_subcommand route" -l authority -d 'Authority of the channel, instead of the target\'s name' -r
complete -c xdsctl -n "__fish_xdsctl_using_subcommand route" -l cluster -d 'Start at this cluster, without listener and routes' -r
complete -c xdsctl -n "__fish_xdsctl_using_subcommand route" -l resolve -d 'Addresses of a DNS name; may be repeated' -r
complete -c xdsctl -n "__fish_xdsctl_using_subcommand route" -l method -d 'Method of the RPC' -r
complete -c xdsctl -n "__fish_xdsctl_using_subcommand route" -l header -d 'Metadata of the RPC; may be repeated' -r
complete -c xdsctl -n "__fish_xdsctl_using_subcommand route" -l cookie -d 'Cookie of the RPC, as a client sends it; may be repeated' -r
complete -c xdsctl -n "__fish_xdsctl_using_subcommand route" -l timeout -d 'Deadline that the application sets' -r
complete -c xdsctl -n "__fish_xdsctl_using_subcommand route" -l seed -d 'Start of the random numbers' -r
complete -c xdsctl -n "__fish_xdsctl_using_subcommand route" -l format -d 'Output format' -r -f -a "human\t'For people'
json\t'For programs'"
complete -c xdsctl -n "__fish_xdsctl_using_subcommand route" -l color -d 'When to colour the text' -r -f -a "auto\t'On a terminal that can, unless NO_COLOR says otherwise'
always\t'Always'
never\t'Never'"
complete -c xdsctl -n "__fish_xdsctl_using_subcommand route" -l merge -d 'Take all inputs for one world'
complete -c xdsctl -n "__fish_xdsctl_using_subcommand route" -l show-secrets -d 'Print passwords, keys and tokens instead of masking them'
complete -c xdsctl -n "__fish_xdsctl_using_subcommand route" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c xdsctl -n "__fish_xdsctl_using_subcommand pick" -l as -d 'Take bare resources and arrays for this type' -r -f -a "lds\t'Listener'
rds\t'RouteConfiguration'
cds\t'Cluster'
eds\t'ClusterLoadAssignment'
bootstrap\t'gRPC bootstrap file'
discovery-response\t'DiscoveryResponse'
csds\t'ClientStatusResponse'
config-dump\t'Envoy admin config dump'
any\t'google.protobuf.Any'"
complete -c xdsctl -n "__fish_xdsctl_using_subcommand pick" -l stdin-filename -d 'Name to show for standard input' -r
complete -c xdsctl -n "__fish_xdsctl_using_subcommand pick" -l bootstrap -d 'Use this gRPC bootstrap file: certificate providers (not checked without it), trusted servers, authorities' -r -F
complete -c xdsctl -n "__fish_xdsctl_using_subcommand pick" -l env -d 'Set an environment switch of the client; may be repeated' -r
complete -c xdsctl -n "__fish_xdsctl_using_subcommand pick" -l target -d 'Target of the channel; default is the only API listener' -r
complete -c xdsctl -n "__fish_xdsctl_using_subcommand pick" -l authority -d 'Authority of the channel, instead of the target\'s name' -r
complete -c xdsctl -n "__fish_xdsctl_using_subcommand pick" -l cluster -d 'Start at this cluster, without listener and routes' -r
complete -c xdsctl -n "__fish_xdsctl_using_subcommand pick" -l resolve -d 'Addresses of a DNS name; may be repeated' -r
complete -c xdsctl -n "__fish_xdsctl_using_subcommand pick" -l method -d 'Method of the RPC' -r
complete -c xdsctl -n "__fish_xdsctl_using_subcommand pick" -l header -d 'Metadata of the RPC; may be repeated' -r
complete -c xdsctl -n "__fish_xdsctl_using_subcommand pick" -l cookie -d 'Cookie of the RPC, as a client sends it; may be repeated' -r
complete -c xdsctl -n "__fish_xdsctl_using_subcommand pick" -l timeout -d 'Deadline that the application sets' -r
complete -c xdsctl -n "__fish_xdsctl_using_subcommand pick" -l seed -d 'Start of the random numbers' -r
complete -c xdsctl -n "__fish_xdsctl_using_subcommand pick" -l count -d 'Send the RPC this often and show the shares' -r
complete -c xdsctl -n "__fish_xdsctl_using_subcommand pick" -l session -d 'Give the RPC the session cookie of this address' -r
complete -c xdsctl -n "__fish_xdsctl_using_subcommand pick" -l address -d 'Say where this address stands in the tree, instead of sending an RPC' -r
complete -c xdsctl -n "__fish_xdsctl_using_subcommand pick" -l reachable -d 'Addresses that answer, all others refuse; without it all answer' -r
complete -c xdsctl -n "__fish_xdsctl_using_subcommand pick" -l down -d 'Address, locality or cluster that refuses connections; may be repeated' -r
complete -c xdsctl -n "__fish_xdsctl_using_subcommand pick" -l state -d 'State that the connection to an address is in; may be repeated' -r
complete -c xdsctl -n "__fish_xdsctl_using_subcommand pick" -l eject -d 'Address that outlier detection has ejected; may be repeated' -r
complete -c xdsctl -n "__fish_xdsctl_using_subcommand pick" -l respond -d 'Let the first N attempts of each RPC fail with this code' -r
complete -c xdsctl -n "__fish_xdsctl_using_subcommand pick" -l requests -d 'Play these steps on the channel, one JSON object a line; `-` is standard input' -r -F
complete -c xdsctl -n "__fish_xdsctl_using_subcommand pick" -l max-events -d 'Most events of one RPC or step, after which the simulation ends with an error' -r
complete -c xdsctl -n "__fish_xdsctl_using_subcommand pick" -l format -d 'Output format' -r -f -a "human\t'For people'
json\t'For programs'"
complete -c xdsctl -n "__fish_xdsctl_using_subcommand pick" -l color -d 'When to colour the text' -r -f -a "auto\t'On a terminal that can, unless NO_COLOR says otherwise'
always\t'Always'
never\t'Never'"
complete -c xdsctl -n "__fish_xdsctl_using_subcommand pick" -l merge -d 'Take all inputs for one world'
complete -c xdsctl -n "__fish_xdsctl_using_subcommand pick" -l show-secrets -d 'Print passwords, keys and tokens instead of masking them'
complete -c xdsctl -n "__fish_xdsctl_using_subcommand pick" -l wait-for-ready -d 'Wait for a connection instead of failing'
complete -c xdsctl -n "__fish_xdsctl_using_subcommand pick" -l explain -d 'Tell everything, also picks that were queued'
complete -c xdsctl -n "__fish_xdsctl_using_subcommand pick" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c xdsctl -n "__fish_xdsctl_using_subcommand retry" -l as -d 'Take bare resources and arrays for this type' -r -f -a "lds\t'Listener'
rds\t'RouteConfiguration'
cds\t'Cluster'
eds\t'ClusterLoadAssignment'
bootstrap\t'gRPC bootstrap file'
discovery-response\t'DiscoveryResponse'
csds\t'ClientStatusResponse'
config-dump\t'Envoy admin config dump'
any\t'google.protobuf.Any'"
complete -c xdsctl -n "__fish_xdsctl_using_subcommand retry" -l stdin-filename -d 'Name to show for standard input' -r
complete -c xdsctl -n "__fish_xdsctl_using_subcommand retry" -l bootstrap -d 'Use this gRPC bootstrap file: certificate providers (not checked without it), trusted servers, authorities' -r -F
complete -c xdsctl -n "__fish_xdsctl_using_subcommand retry" -l env -d 'Set an environment switch of the client; may be repeated' -r
complete -c xdsctl -n "__fish_xdsctl_using_subcommand retry" -l target -d 'Target of the channel; default is the only API listener' -r
complete -c xdsctl -n "__fish_xdsctl_using_subcommand retry" -l authority -d 'Authority of the channel, instead of the target\'s name' -r
complete -c xdsctl -n "__fish_xdsctl_using_subcommand retry" -l cluster -d 'Start at this cluster, without listener and routes' -r
complete -c xdsctl -n "__fish_xdsctl_using_subcommand retry" -l resolve -d 'Addresses of a DNS name; may be repeated' -r
complete -c xdsctl -n "__fish_xdsctl_using_subcommand retry" -l method -d 'Method of the RPC' -r
complete -c xdsctl -n "__fish_xdsctl_using_subcommand retry" -l header -d 'Metadata of the RPC; may be repeated' -r
complete -c xdsctl -n "__fish_xdsctl_using_subcommand retry" -l cookie -d 'Cookie of the RPC, as a client sends it; may be repeated' -r
complete -c xdsctl -n "__fish_xdsctl_using_subcommand retry" -l timeout -d 'Deadline that the application sets' -r
complete -c xdsctl -n "__fish_xdsctl_using_subcommand retry" -l seed -d 'Start of the random numbers' -r
complete -c xdsctl -n "__fish_xdsctl_using_subcommand retry" -l retry-on -d 'Show this policy instead of a route\'s: the field retry_on' -r
complete -c xdsctl -n "__fish_xdsctl_using_subcommand retry" -l num-retries -d 'The field num_retries' -r
complete -c xdsctl -n "__fish_xdsctl_using_subcommand retry" -l base-interval -d 'The field retry_back_off.base_interval' -r
complete -c xdsctl -n "__fish_xdsctl_using_subcommand retry" -l max-interval -d 'The field retry_back_off.max_interval' -r
complete -c xdsctl -n "__fish_xdsctl_using_subcommand retry" -l script -d 'Statuses of the attempts in order, the last one for all that follow; CODE:MS asks for a delay' -r
complete -c xdsctl -n "__fish_xdsctl_using_subcommand retry" -l format -d 'Output format' -r -f -a "human\t'For people'
json\t'For programs'"
complete -c xdsctl -n "__fish_xdsctl_using_subcommand retry" -l merge -d 'Take all inputs for one world'
complete -c xdsctl -n "__fish_xdsctl_using_subcommand retry" -l show-secrets -d 'Print passwords, keys and tokens instead of masking them'
complete -c xdsctl -n "__fish_xdsctl_using_subcommand retry" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c xdsctl -n "__fish_xdsctl_using_subcommand cookie; and not __fish_seen_subcommand_from encode decode help" -s h -l help -d 'Print help'
complete -c xdsctl -n "__fish_xdsctl_using_subcommand cookie; and not __fish_seen_subcommand_from encode decode help" -f -a "encode" -d 'Write the value of a session cookie'
complete -c xdsctl -n "__fish_xdsctl_using_subcommand cookie; and not __fish_seen_subcommand_from encode decode help" -f -a "decode" -d 'Read the value of a session cookie'
complete -c xdsctl -n "__fish_xdsctl_using_subcommand cookie; and not __fish_seen_subcommand_from encode decode help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c xdsctl -n "__fish_xdsctl_using_subcommand cookie; and __fish_seen_subcommand_from encode" -l cluster -d 'Cluster that the endpoint is in' -r
complete -c xdsctl -n "__fish_xdsctl_using_subcommand cookie; and __fish_seen_subcommand_from encode" -l name -d 'Name of the cookie, to print NAME=VALUE' -r
complete -c xdsctl -n "__fish_xdsctl_using_subcommand cookie; and __fish_seen_subcommand_from encode" -s h -l help -d 'Print help'
complete -c xdsctl -n "__fish_xdsctl_using_subcommand cookie; and __fish_seen_subcommand_from decode" -l format -d 'Output format' -r -f -a "human\t'For people'
json\t'For programs'"
complete -c xdsctl -n "__fish_xdsctl_using_subcommand cookie; and __fish_seen_subcommand_from decode" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c xdsctl -n "__fish_xdsctl_using_subcommand cookie; and __fish_seen_subcommand_from help" -f -a "encode" -d 'Write the value of a session cookie'
complete -c xdsctl -n "__fish_xdsctl_using_subcommand cookie; and __fish_seen_subcommand_from help" -f -a "decode" -d 'Read the value of a session cookie'
complete -c xdsctl -n "__fish_xdsctl_using_subcommand cookie; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c xdsctl -n "__fish_xdsctl_using_subcommand generate" -l out -d 'Directory to write to' -r -F
complete -c xdsctl -n "__fish_xdsctl_using_subcommand generate" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c xdsctl -n "__fish_xdsctl_using_subcommand help; and not __fish_seen_subcommand_from validate explain tree route pick retry cookie generate help" -f -a "validate" -d 'Say which resources a gRPC client would reject, drop or ignore, and at which field'
complete -c xdsctl -n "__fish_xdsctl_using_subcommand help; and not __fish_seen_subcommand_from validate explain tree route pick retry cookie generate help" -f -a "explain" -d 'Explain a rule, or list all rules'
complete -c xdsctl -n "__fish_xdsctl_using_subcommand help; and not __fish_seen_subcommand_from validate explain tree route pick retry cookie generate help" -f -a "tree" -d 'Show the tree of LB policies that a channel builds'
complete -c xdsctl -n "__fish_xdsctl_using_subcommand help; and not __fish_seen_subcommand_from validate explain tree route pick retry cookie generate help" -f -a "route" -d 'Say which route takes an RPC, and why not the others'
complete -c xdsctl -n "__fish_xdsctl_using_subcommand help; and not __fish_seen_subcommand_from validate explain tree route pick retry cookie generate help" -f -a "pick" -d 'Follow an RPC to its endpoint, with the reason at each layer'
complete -c xdsctl -n "__fish_xdsctl_using_subcommand help; and not __fish_seen_subcommand_from validate explain tree route pick retry cookie generate help" -f -a "retry" -d 'Show what becomes of a retry policy'
complete -c xdsctl -n "__fish_xdsctl_using_subcommand help; and not __fish_seen_subcommand_from validate explain tree route pick retry cookie generate help" -f -a "cookie" -d 'Read or write session cookies'
complete -c xdsctl -n "__fish_xdsctl_using_subcommand help; and not __fish_seen_subcommand_from validate explain tree route pick retry cookie generate help" -f -a "generate" -d 'Write man pages or shell completions'
complete -c xdsctl -n "__fish_xdsctl_using_subcommand help; and not __fish_seen_subcommand_from validate explain tree route pick retry cookie generate help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c xdsctl -n "__fish_xdsctl_using_subcommand help; and __fish_seen_subcommand_from cookie" -f -a "encode" -d 'Write the value of a session cookie'
complete -c xdsctl -n "__fish_xdsctl_using_subcommand help; and __fish_seen_subcommand_from cookie" -f -a "decode" -d 'Read the value of a session cookie'
