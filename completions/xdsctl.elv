
use builtin;
use str;

set edit:completion:arg-completer[xdsctl] = {|@words|
    fn spaces {|n|
        builtin:repeat $n ' ' | str:join ''
    }
    fn cand {|text desc|
        edit:complex-candidate $text &display=$text' '(spaces (- 14 (wcswidth $text)))$desc
    }
    var command = 'xdsctl'
    for word $words[1..-1] {
        if (str:has-prefix $word '-') {
            break
        }
        set command = $command';'$word
    }
    var completions = [
        &'xdsctl'= {
            cand -h 'Print help'
            cand --help 'Print help'
            cand -V 'Print version'
            cand --version 'Print version'
            cand validate 'Say which resources a gRPC client would reject, drop or ignore, and at which field'
            cand explain 'Explain a rule, or list all rules'
            cand tree 'Show the tree of LB policies that a channel builds'
            cand route 'Say which route takes an RPC, and why not the others'
            cand pick 'Follow an RPC to its endpoint, with the reason at each layer'
            cand retry 'Show what becomes of a retry policy'
            cand cookie 'Read or write session cookies'
            cand generate 'Write man pages or shell completions'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'xdsctl;validate'= {
            cand --as 'Take bare resources and arrays for this type'
            cand --stdin-filename 'Name to show for standard input'
            cand --bootstrap 'Use this gRPC bootstrap file: certificate providers (not checked without it), trusted servers, authorities'
            cand --env 'Set an environment switch of the client; may be repeated'
            cand --client 'Clients to ask instead of C-core 1.85.1: `cpp@1.66.2,go,java@1.80,node`, `python@1.70`, `current` or `all`'
            cand --target 'Check also what becomes of a channel to this target, which gets nothing but the input'
            cand --authority 'Authority of that channel, instead of the target''s name'
            cand --format 'Form of the report, and the file that it goes to instead of standard output; may be repeated'
            cand --fail-on 'Exit with 1 if a finding is at least this severe'
            cand --min-severity 'Show findings of at least this severity, count the others [default: warning, in JSON note]'
            cand --show 'Print also what the client keeps of each accepted resource'
            cand -D 'Make findings of these rules, families, effects or `all` errors; the last of -D, -W and -A counts'
            cand --deny 'Make findings of these rules, families, effects or `all` errors; the last of -D, -W and -A counts'
            cand -W 'Make them warnings'
            cand --warn 'Make them warnings'
            cand -A 'Drop them; RULE=FIELD,... means these fields only'
            cand --allow 'Drop them; RULE=FIELD,... means these fields only'
            cand --color 'When to colour the report'
            cand --merge 'Take all inputs for one world'
            cand --show-secrets 'Print passwords, keys and tokens instead of masking them'
            cand --all 'Show every finding, also the thousandth of its kind'
            cand --statistics 'Write how often there was each rule instead of the findings'
            cand -q 'Write findings only: no summary, no progress'
            cand --quiet 'Write findings only: no summary, no progress'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'xdsctl;explain'= {
            cand --format 'Output format'
            cand --list 'List all rules'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'xdsctl;tree'= {
            cand --as 'Take bare resources and arrays for this type'
            cand --stdin-filename 'Name to show for standard input'
            cand --bootstrap 'Use this gRPC bootstrap file: certificate providers (not checked without it), trusted servers, authorities'
            cand --env 'Set an environment switch of the client; may be repeated'
            cand --target 'Target of the channel; default is the only API listener'
            cand --authority 'Authority of the channel, instead of the target''s name'
            cand --cluster 'Start at this cluster, without listener and routes'
            cand --resolve 'Addresses of a DNS name; may be repeated'
            cand --format 'Output format'
            cand --layout 'Which client''s tree'
            cand --color 'When to colour the text'
            cand --merge 'Take all inputs for one world'
            cand --show-secrets 'Print passwords, keys and tokens instead of masking them'
            cand --all 'Show everything that is dropped, also the hundredth of its kind'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'xdsctl;route'= {
            cand --as 'Take bare resources and arrays for this type'
            cand --stdin-filename 'Name to show for standard input'
            cand --bootstrap 'Use this gRPC bootstrap file: certificate providers (not checked without it), trusted servers, authorities'
            cand --env 'Set an environment switch of the client; may be repeated'
            cand --target 'Target of the channel; default is the only API listener'
            cand --authority 'Authority of the channel, instead of the target''s name'
            cand --cluster 'Start at this cluster, without listener and routes'
            cand --resolve 'Addresses of a DNS name; may be repeated'
            cand --method 'Method of the RPC'
            cand --header 'Metadata of the RPC; may be repeated'
            cand --cookie 'Cookie of the RPC, as a client sends it; may be repeated'
            cand --timeout 'Deadline that the application sets'
            cand --seed 'Start of the random numbers'
            cand --format 'Output format'
            cand --color 'When to colour the text'
            cand --merge 'Take all inputs for one world'
            cand --show-secrets 'Print passwords, keys and tokens instead of masking them'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'xdsctl;pick'= {
            cand --as 'Take bare resources and arrays for this type'
            cand --stdin-filename 'Name to show for standard input'
            cand --bootstrap 'Use this gRPC bootstrap file: certificate providers (not checked without it), trusted servers, authorities'
            cand --env 'Set an environment switch of the client; may be repeated'
            cand --target 'Target of the channel; default is the only API listener'
            cand --authority 'Authority of the channel, instead of the target''s name'
            cand --cluster 'Start at this cluster, without listener and routes'
            cand --resolve 'Addresses of a DNS name; may be repeated'
            cand --method 'Method of the RPC'
            cand --header 'Metadata of the RPC; may be repeated'
            cand --cookie 'Cookie of the RPC, as a client sends it; may be repeated'
            cand --timeout 'Deadline that the application sets'
            cand --seed 'Start of the random numbers'
            cand --count 'Send the RPC this often and show the shares'
            cand --session 'Give the RPC the session cookie of this address'
            cand --address 'Say where this address stands in the tree, instead of sending an RPC'
            cand --reachable 'Addresses that answer, all others refuse; without it all answer'
            cand --down 'Address, locality or cluster that refuses connections; may be repeated'
            cand --state 'State that the connection to an address is in; may be repeated'
            cand --eject 'Address that outlier detection has ejected; may be repeated'
            cand --respond 'Let the first N attempts of each RPC fail with this code'
            cand --requests 'Play these steps on the channel, one JSON object a line; `-` is standard input'
            cand --max-events 'Most events of one RPC or step, after which the simulation ends with an error'
            cand --format 'Output format'
            cand --color 'When to colour the text'
            cand --merge 'Take all inputs for one world'
            cand --show-secrets 'Print passwords, keys and tokens instead of masking them'
            cand --wait-for-ready 'Wait for a connection instead of failing'
            cand --explain 'Tell everything, also picks that were queued'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'xdsctl;retry'= {
            cand --as 'Take bare resources and arrays for this type'
            cand --stdin-filename 'Name to show for standard input'
            cand --bootstrap 'Use this gRPC bootstrap file: certificate providers (not checked without it), trusted servers, authorities'
            cand --env 'Set an environment switch of the client; may be repeated'
            cand --target 'Target of the channel; default is the only API listener'
            cand --authority 'Authority of the channel, instead of the target''s name'
            cand --cluster 'Start at this cluster, without listener and routes'
            cand --resolve 'Addresses of a DNS name; may be repeated'
            cand --method 'Method of the RPC'
            cand --header 'Metadata of the RPC; may be repeated'
            cand --cookie 'Cookie of the RPC, as a client sends it; may be repeated'
            cand --timeout 'Deadline that the application sets'
            cand --seed 'Start of the random numbers'
            cand --retry-on 'Show this policy instead of a route''s: the field retry_on'
            cand --num-retries 'The field num_retries'
            cand --base-interval 'The field retry_back_off.base_interval'
            cand --max-interval 'The field retry_back_off.max_interval'
            cand --script 'Statuses of the attempts in order, the last one for all that follow; CODE:MS asks for a delay'
            cand --format 'Output format'
            cand --merge 'Take all inputs for one world'
            cand --show-secrets 'Print passwords, keys and tokens instead of masking them'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'xdsctl;cookie'= {
            cand -h 'Print help'
            cand --help 'Print help'
            cand encode 'Write the value of a session cookie'
            cand decode 'Read the value of a session cookie'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'xdsctl;cookie;encode'= {
            cand --cluster 'Cluster that the endpoint is in'
            cand --name 'Name of the cookie, to print NAME=VALUE'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'xdsctl;cookie;decode'= {
            cand --format 'Output format'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'xdsctl;cookie;help'= {
            cand encode 'Write the value of a session cookie'
            cand decode 'Read the value of a session cookie'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'xdsctl;cookie;help;encode'= {
        }
        &'xdsctl;cookie;help;decode'= {
        }
        &'xdsctl;cookie;help;help'= {
        }
        &'xdsctl;generate'= {
            cand --out 'Directory to write to'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'xdsctl;help'= {
            cand validate 'Say which resources a gRPC client would reject, drop or ignore, and at which field'
            cand explain 'Explain a rule, or list all rules'
            cand tree 'Show the tree of LB policies that a channel builds'
            cand route 'Say which route takes an RPC, and why not the others'
            cand pick 'Follow an RPC to its endpoint, with the reason at each layer'
            cand retry 'Show what becomes of a retry policy'
            cand cookie 'Read or write session cookies'
            cand generate 'Write man pages or shell completions'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'xdsctl;help;validate'= {
        }
        &'xdsctl;help;explain'= {
        }
        &'xdsctl;help;tree'= {
        }
        &'xdsctl;help;route'= {
        }
        &'xdsctl;help;pick'= {
        }
        &'xdsctl;help;retry'= {
        }
        &'xdsctl;help;cookie'= {
            cand encode 'Write the value of a session cookie'
            cand decode 'Read the value of a session cookie'
        }
        &'xdsctl;help;cookie;encode'= {
        }
        &'xdsctl;help;cookie;decode'= {
        }
        &'xdsctl;help;generate'= {
        }
        &'xdsctl;help;help'= {
        }
    ]
    $completions[$command]
}
