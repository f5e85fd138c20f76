
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
            cand lint 'Say which resources a gRPC client would reject, drop or ignore, and at which field'
            cand explain 'Explain a rule or a line of a client''s log, or list all rules'
            cand clients 'List the clients that xdsctl knows, and what each has since which version'
            cand tree 'Show the tree of LB policies that a channel builds'
            cand route 'Say which route takes an RPC, and why not the others'
            cand pick 'Follow an RPC to its endpoint, with the reason at each layer'
            cand admit 'Say which connection a server takes and which RPC it lets in, and why'
            cand test 'Run suites: what clients, backends and a control plane do over time, and what is expected of it'
            cand simulate 'Show event by event what happens during a test of a suite'
            cand policy 'Test the project''s own policies, or write one to start from'
            cand retry 'Show what the client makes of a retry policy'
            cand cookie 'Read or write session cookies'
            cand init 'Write an xdsctl.toml with the defaults'
            cand config 'Show the settings of the project'
            cand diff 'Say what changes for a client from one configuration to another'
            cand who 'Say what refers to a resource, and what it leads to'
            cand fetch 'Save what a running client, proxy or control plane has as one dump'
            cand serve 'Serve a dump to real clients, and compare their verdicts with the prediction'
            cand ui 'Show all of it in a browser: what a client holds, where RPCs go, and what if'
            cand lsp 'Serve an editor: findings, meanings and names while one types'
            cand completions 'Print the completion script of a shell'
            cand mask 'Print a document as a report may quote it'
            cand generate 'Write the man pages'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'xdsctl;validate'= {
            cand --as 'Read bare resources and arrays as this type'
            cand --stdin-filename 'Name to show for standard input'
            cand --bootstrap 'Use this gRPC bootstrap file. Without it, certificate providers are not checked'
            cand --env 'Set an environment switch of the client; may be repeated'
            cand --with 'Answer for a program that brings this, too; may be repeated'
            cand --world 'Which files are one world, what one client sees; default is `auto`'
            cand --config 'Use this configuration file; the default is xdsctl.toml in this directory or one above'
            cand --allow-read 'Let files name files below this directory, not only below their own; may be repeated'
            cand --node 'Node id for `ads://`, instead of the bootstrap''s'
            cand --ca 'Speak TLS, and trust the certificates in this PEM file'
            cand --cert 'Own certificate chain for mTLS, PEM'
            cand --key 'Private key of --cert, PEM'
            cand --server-name 'Name that the server''s certificate must have, if it is not the host'
            cand --token-file 'Send the token in this file as `authorization: Bearer`'
            cand --wait 'Longest wait for all answers together, in seconds; a gRPC client waits 15'
            cand --max-size 'Largest size in MiB, of one message and of all that is kept of an `ads://` stream'
            cand --retries 'How often to try again if the address cannot be reached, after 1 s, 2 s, 4 s, ...'
            cand --client 'Clients to ask instead of C-core 1.85.1: `cpp@1.66.2,go,java@1.80,node`, `python@1.70`, `current` or `all`'
            cand --client-from 'Ask the clients that sent this: a CSDS dump, or requests, with the user agent of each node'
            cand --target 'Check also what happens to a channel to this target. The input is all that it gets'
            cand --authority 'Authority of that channel, instead of the target''s name'
            cand --listen 'Check also what a gRPC server that listens on this address asks for. The input is all that it gets'
            cand --explain-error 'Show the place that a line of a client''s log, or the error message of an RPC, is about'
            cand --format 'Format of the report, and the file for it instead of standard output; may be repeated [default: human]'
            cand --fail-on 'Exit with 1 if a finding is at least this severe; after it, `not-checked` and clients that count: the others only warn [default: error]'
            cand --min-severity 'Show findings of at least this severity, and count the others [default: warning, in JSON note]'
            cand --baseline 'Leave out the findings that this file lists'
            cand --write-baseline 'Write the present findings to this file, for --baseline'
            cand --today 'Day on which suppressions end, instead of today'
            cand --max-findings 'Show at most so many findings of each severity, and count the others'
            cand --show 'Print also what the client keeps of each accepted resource'
            cand --reach 'With `--show reached`, begin at the resources of this name; may be repeated'
            cand -D 'Make findings of these rules, families, effects or `all` errors; the last of -D, -W and -A counts'
            cand --deny 'Make findings of these rules, families, effects or `all` errors; the last of -D, -W and -A counts'
            cand -W 'Make them warnings'
            cand --warn 'Make them warnings'
            cand -A 'Drop them; RULE=FIELD,... means these fields only'
            cand --allow 'Drop them; RULE=FIELD,... means these fields only'
            cand --color 'When to colour the report'
            cand --merge 'Take all inputs for one world: `--world all`'
            cand --no-config 'Use no configuration file'
            cand --show-secrets 'Print passwords, keys and tokens instead of masking them'
            cand --tls 'Speak TLS, and trust the system''s certificates'
            cand --matrix 'Print a table of resources and clients, then the reasons, instead of the findings'
            cand --complete 'The input is complete: a reference that leads to nothing is an error'
            cand --watch 'Keep watching a running system, check each new version, and exit with 1 at the first bad one'
            cand --fix 'Apply the fixes that are certain to the JSON and YAML files'
            cand --diff 'Print those fixes as a patch instead of the report. Change nothing'
            cand --dry-run 'Print those fixes as a patch instead of the report. Change nothing'
            cand --all-findings 'Show every finding, not five of a rule'
            cand --all 'Judge also what was made for a proxy, and show every finding'
            cand --explain-suppressed 'Print also the findings that are not shown, each with the reason. For the formats human and json'
            cand --statistics 'Print the number of findings of each rule instead of the findings'
            cand -q 'Print findings only, no summary and no progress'
            cand --quiet 'Print findings only, no summary and no progress'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'xdsctl;lint'= {
            cand --as 'Read bare resources and arrays as this type'
            cand --stdin-filename 'Name to show for standard input'
            cand --bootstrap 'Use this gRPC bootstrap file. Without it, certificate providers are not checked'
            cand --env 'Set an environment switch of the client; may be repeated'
            cand --with 'Answer for a program that brings this, too; may be repeated'
            cand --world 'Which files are one world, what one client sees; default is `auto`'
            cand --config 'Use this configuration file; the default is xdsctl.toml in this directory or one above'
            cand --allow-read 'Let files name files below this directory, not only below their own; may be repeated'
            cand --node 'Node id for `ads://`, instead of the bootstrap''s'
            cand --ca 'Speak TLS, and trust the certificates in this PEM file'
            cand --cert 'Own certificate chain for mTLS, PEM'
            cand --key 'Private key of --cert, PEM'
            cand --server-name 'Name that the server''s certificate must have, if it is not the host'
            cand --token-file 'Send the token in this file as `authorization: Bearer`'
            cand --wait 'Longest wait for all answers together, in seconds; a gRPC client waits 15'
            cand --max-size 'Largest size in MiB, of one message and of all that is kept of an `ads://` stream'
            cand --retries 'How often to try again if the address cannot be reached, after 1 s, 2 s, 4 s, ...'
            cand --client 'Clients to ask instead of C-core 1.85.1: `cpp@1.66.2,go,java@1.80,node`, `python@1.70`, `current` or `all`'
            cand --client-from 'Ask the clients that sent this: a CSDS dump, or requests, with the user agent of each node'
            cand --target 'Check also what happens to a channel to this target. The input is all that it gets'
            cand --authority 'Authority of that channel, instead of the target''s name'
            cand --listen 'Check also what a gRPC server that listens on this address asks for. The input is all that it gets'
            cand --explain-error 'Show the place that a line of a client''s log, or the error message of an RPC, is about'
            cand --format 'Format of the report, and the file for it instead of standard output; may be repeated [default: human]'
            cand --fail-on 'Exit with 1 if a finding is at least this severe; after it, `not-checked` and clients that count: the others only warn [default: error]'
            cand --min-severity 'Show findings of at least this severity, and count the others [default: warning, in JSON note]'
            cand --baseline 'Leave out the findings that this file lists'
            cand --write-baseline 'Write the present findings to this file, for --baseline'
            cand --today 'Day on which suppressions end, instead of today'
            cand --max-findings 'Show at most so many findings of each severity, and count the others'
            cand --show 'Print also what the client keeps of each accepted resource'
            cand --reach 'With `--show reached`, begin at the resources of this name; may be repeated'
            cand -D 'Make findings of these rules, families, effects or `all` errors; the last of -D, -W and -A counts'
            cand --deny 'Make findings of these rules, families, effects or `all` errors; the last of -D, -W and -A counts'
            cand -W 'Make them warnings'
            cand --warn 'Make them warnings'
            cand -A 'Drop them; RULE=FIELD,... means these fields only'
            cand --allow 'Drop them; RULE=FIELD,... means these fields only'
            cand --color 'When to colour the report'
            cand --merge 'Take all inputs for one world: `--world all`'
            cand --no-config 'Use no configuration file'
            cand --show-secrets 'Print passwords, keys and tokens instead of masking them'
            cand --tls 'Speak TLS, and trust the system''s certificates'
            cand --matrix 'Print a table of resources and clients, then the reasons, instead of the findings'
            cand --complete 'The input is complete: a reference that leads to nothing is an error'
            cand --watch 'Keep watching a running system, check each new version, and exit with 1 at the first bad one'
            cand --fix 'Apply the fixes that are certain to the JSON and YAML files'
            cand --diff 'Print those fixes as a patch instead of the report. Change nothing'
            cand --dry-run 'Print those fixes as a patch instead of the report. Change nothing'
            cand --all-findings 'Show every finding, not five of a rule'
            cand --all 'Judge also what was made for a proxy, and show every finding'
            cand --explain-suppressed 'Print also the findings that are not shown, each with the reason. For the formats human and json'
            cand --statistics 'Print the number of findings of each rule instead of the findings'
            cand -q 'Print findings only, no summary and no progress'
            cand --quiet 'Print findings only, no summary and no progress'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'xdsctl;explain'= {
            cand --config 'Use this configuration file; the default is xdsctl.toml in this directory or one above'
            cand --allow-read 'Let files name files below this directory, not only below their own; may be repeated'
            cand --format 'Output format'
            cand --list 'List all rules'
            cand --no-config 'Use no configuration file'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'xdsctl;clients'= {
            cand --format 'Output format'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'xdsctl;tree'= {
            cand --as 'Read bare resources and arrays as this type'
            cand --stdin-filename 'Name to show for standard input'
            cand --bootstrap 'Use this gRPC bootstrap file. Without it, certificate providers are not checked'
            cand --env 'Set an environment switch of the client; may be repeated'
            cand --with 'Answer for a program that brings this, too; may be repeated'
            cand --world 'Which files are one world, what one client sees; default is `auto`'
            cand --config 'Use this configuration file; the default is xdsctl.toml in this directory or one above'
            cand --allow-read 'Let files name files below this directory, not only below their own; may be repeated'
            cand --node 'Node id for `ads://`, instead of the bootstrap''s'
            cand --ca 'Speak TLS, and trust the certificates in this PEM file'
            cand --cert 'Own certificate chain for mTLS, PEM'
            cand --key 'Private key of --cert, PEM'
            cand --server-name 'Name that the server''s certificate must have, if it is not the host'
            cand --token-file 'Send the token in this file as `authorization: Bearer`'
            cand --wait 'Longest wait for all answers together, in seconds; a gRPC client waits 15'
            cand --max-size 'Largest size in MiB, of one message and of all that is kept of an `ads://` stream'
            cand --retries 'How often to try again if the address cannot be reached, after 1 s, 2 s, 4 s, ...'
            cand --client 'Client to simulate, instead of C-core 1.85.1: `go`, `cpp@1.62`; several, as in `go,java,cpp`, are compared'
            cand --in 'World of the channel, if there are several: `xds/prod`, as standard error names it'
            cand --target 'Target of the channel; default is the only API listener'
            cand --authority 'Authority of the channel, instead of the target''s name'
            cand --route-config 'Start at this RouteConfiguration, without a listener and its filters'
            cand --cluster 'Start at this cluster, without listener and routes'
            cand --resolve 'Addresses of a DNS name; may be repeated'
            cand --health 'Health of an endpoint instead of the one in EDS, such as DRAINING; may be repeated'
            cand --remove 'Endpoint to remove from EDS; may be repeated'
            cand --format 'Output format'
            cand --layout 'Which client''s tree'
            cand --color 'When to colour the text'
            cand --merge 'Take all inputs for one world: `--world all`'
            cand --no-config 'Use no configuration file'
            cand --show-secrets 'Print passwords, keys and tokens instead of masking them'
            cand --tls 'Speak TLS, and trust the system''s certificates'
            cand --all 'Show everything that is dropped, however much it is'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'xdsctl;route'= {
            cand --as 'Read bare resources and arrays as this type'
            cand --stdin-filename 'Name to show for standard input'
            cand --bootstrap 'Use this gRPC bootstrap file. Without it, certificate providers are not checked'
            cand --env 'Set an environment switch of the client; may be repeated'
            cand --with 'Answer for a program that brings this, too; may be repeated'
            cand --world 'Which files are one world, what one client sees; default is `auto`'
            cand --config 'Use this configuration file; the default is xdsctl.toml in this directory or one above'
            cand --allow-read 'Let files name files below this directory, not only below their own; may be repeated'
            cand --node 'Node id for `ads://`, instead of the bootstrap''s'
            cand --ca 'Speak TLS, and trust the certificates in this PEM file'
            cand --cert 'Own certificate chain for mTLS, PEM'
            cand --key 'Private key of --cert, PEM'
            cand --server-name 'Name that the server''s certificate must have, if it is not the host'
            cand --token-file 'Send the token in this file as `authorization: Bearer`'
            cand --wait 'Longest wait for all answers together, in seconds; a gRPC client waits 15'
            cand --max-size 'Largest size in MiB, of one message and of all that is kept of an `ads://` stream'
            cand --retries 'How often to try again if the address cannot be reached, after 1 s, 2 s, 4 s, ...'
            cand --client 'Client to simulate, instead of C-core 1.85.1: `go`, `cpp@1.62`; several, as in `go,java,cpp`, are compared'
            cand --in 'World of the channel, if there are several: `xds/prod`, as standard error names it'
            cand --target 'Target of the channel; default is the only API listener'
            cand --authority 'Authority of the channel, instead of the target''s name'
            cand --route-config 'Start at this RouteConfiguration, without a listener and its filters'
            cand --cluster 'Start at this cluster, without listener and routes'
            cand --resolve 'Addresses of a DNS name; may be repeated'
            cand --health 'Health of an endpoint instead of the one in EDS, such as DRAINING; may be repeated'
            cand --remove 'Endpoint to remove from EDS; may be repeated'
            cand --method 'Method of the RPC [default: /pkg.Service/Method]'
            cand --header 'Metadata of the RPC, also as `NAME: VALUE`; may be repeated'
            cand --cookie 'Cookie of the RPC, as a client sends it; may be repeated'
            cand --timeout 'Deadline that the application sets'
            cand --seed 'Start of the random numbers'
            cand --format 'Output format'
            cand --color 'When to colour the text'
            cand --merge 'Take all inputs for one world: `--world all`'
            cand --no-config 'Use no configuration file'
            cand --show-secrets 'Print passwords, keys and tokens instead of masking them'
            cand --tls 'Speak TLS, and trust the system''s certificates'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'xdsctl;pick'= {
            cand --as 'Read bare resources and arrays as this type'
            cand --stdin-filename 'Name to show for standard input'
            cand --bootstrap 'Use this gRPC bootstrap file. Without it, certificate providers are not checked'
            cand --env 'Set an environment switch of the client; may be repeated'
            cand --with 'Answer for a program that brings this, too; may be repeated'
            cand --world 'Which files are one world, what one client sees; default is `auto`'
            cand --config 'Use this configuration file; the default is xdsctl.toml in this directory or one above'
            cand --allow-read 'Let files name files below this directory, not only below their own; may be repeated'
            cand --node 'Node id for `ads://`, instead of the bootstrap''s'
            cand --ca 'Speak TLS, and trust the certificates in this PEM file'
            cand --cert 'Own certificate chain for mTLS, PEM'
            cand --key 'Private key of --cert, PEM'
            cand --server-name 'Name that the server''s certificate must have, if it is not the host'
            cand --token-file 'Send the token in this file as `authorization: Bearer`'
            cand --wait 'Longest wait for all answers together, in seconds; a gRPC client waits 15'
            cand --max-size 'Largest size in MiB, of one message and of all that is kept of an `ads://` stream'
            cand --retries 'How often to try again if the address cannot be reached, after 1 s, 2 s, 4 s, ...'
            cand --client 'Client to simulate, instead of C-core 1.85.1: `go`, `cpp@1.62`; several, as in `go,java,cpp`, are compared'
            cand --in 'World of the channel, if there are several: `xds/prod`, as standard error names it'
            cand --target 'Target of the channel; default is the only API listener'
            cand --authority 'Authority of the channel, instead of the target''s name'
            cand --route-config 'Start at this RouteConfiguration, without a listener and its filters'
            cand --cluster 'Start at this cluster, without listener and routes'
            cand --resolve 'Addresses of a DNS name; may be repeated'
            cand --health 'Health of an endpoint instead of the one in EDS, such as DRAINING; may be repeated'
            cand --remove 'Endpoint to remove from EDS; may be repeated'
            cand --method 'Method of the RPC [default: /pkg.Service/Method]'
            cand --header 'Metadata of the RPC, also as `NAME: VALUE`; may be repeated'
            cand --cookie 'Cookie of the RPC, as a client sends it; may be repeated'
            cand --timeout 'Deadline that the application sets'
            cand --seed 'Start of the random numbers'
            cand --count 'Send the RPC this often and show the shares'
            cand --session 'Give the RPC the session cookie of this address'
            cand --address 'Show where this address is in the tree, instead of sending an RPC'
            cand --reachable 'Addresses that accept connections. All others refuse; by default all accept'
            cand --down 'Addresses, localities or clusters that refuse connections; may be repeated'
            cand --state 'State of the connection to an address; may be repeated'
            cand --eject 'Address that outlier detection has ejected; may be repeated'
            cand --respond 'Let the first N attempts of each RPC fail with this code'
            cand --lookup 'Cluster that the lookup service (RLS) returns for every lookup; repeat it for clusters to use when the first one fails'
            cand --requests 'Play these steps on the channel, one JSON object a line; `-` is standard input'
            cand --max-events 'Limit of events for one RPC or step; beyond it the simulation ends with an error'
            cand --format 'Output format'
            cand --color 'When to colour the text'
            cand --merge 'Take all inputs for one world: `--world all`'
            cand --no-config 'Use no configuration file'
            cand --show-secrets 'Print passwords, keys and tokens instead of masking them'
            cand --tls 'Speak TLS, and trust the system''s certificates'
            cand --wait-for-ready 'Wait for a connection instead of failing'
            cand --explain 'Show everything, also picks that were queued'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'xdsctl;admit'= {
            cand --as 'Read bare resources and arrays as this type'
            cand --stdin-filename 'Name to show for standard input'
            cand --bootstrap 'Use this gRPC bootstrap file. Without it, certificate providers are not checked'
            cand --env 'Set an environment switch of the client; may be repeated'
            cand --with 'Answer for a program that brings this, too; may be repeated'
            cand --world 'Which files are one world, what one client sees; default is `auto`'
            cand --config 'Use this configuration file; the default is xdsctl.toml in this directory or one above'
            cand --allow-read 'Let files name files below this directory, not only below their own; may be repeated'
            cand --node 'Node id for `ads://`, instead of the bootstrap''s'
            cand --ca 'Speak TLS, and trust the certificates in this PEM file'
            cand --cert 'Own certificate chain for mTLS, PEM'
            cand --key 'Private key of --cert, PEM'
            cand --server-name 'Name that the server''s certificate must have, if it is not the host'
            cand --token-file 'Send the token in this file as `authorization: Bearer`'
            cand --wait 'Longest wait for all answers together, in seconds; a gRPC client waits 15'
            cand --max-size 'Largest size in MiB, of one message and of all that is kept of an `ads://` stream'
            cand --retries 'How often to try again if the address cannot be reached, after 1 s, 2 s, 4 s, ...'
            cand --client 'Server to simulate, instead of C-core 1.85.1: `cpp@1.62`; several, as in `cpp,cpp@1.62`, are compared'
            cand --in 'World of the server, if there are several: `xds/prod`, as standard error names it'
            cand --listen 'Address that the server listens on; the bootstrap makes the name of its Listener of it. Default is the only server''s Listener'
            cand --from 'Address at the other end of the connection; a port of 0 is one that no chain names [default: 127.0.0.1]'
            cand --to 'The server''s own address, which the connection is to [default: that of --listen, or 127.0.0.1]'
            cand --certificate 'Certificate that the client shows, in PEM; keys in the file are passed over'
            cand --san 'Alternative names of the certificate that the client shows: `dns:a.example`, `uri:spiffe://prod/cart`, `email:`, `ip:`'
            cand --subject 'Subject of the certificate that the client shows, as in `CN=cart,O=Shop`'
            cand --roots 'Roots that the server trusts, in PEM; without them it trusts every certificate'
            cand --at 'Time at which certificates must be valid; without it any time will do'
            cand --method 'Method of the RPC; without it the answer ends with the connection'
            cand --authority 'Authority of the RPC [default: that of --listen]'
            cand --header 'Metadata of the RPC, also as `NAME: VALUE`; may be repeated'
            cand --seed 'Start of the random numbers'
            cand --format 'Output format'
            cand --color 'When to colour the text'
            cand --merge 'Take all inputs for one world: `--world all`'
            cand --no-config 'Use no configuration file'
            cand --show-secrets 'Print passwords, keys and tokens instead of masking them'
            cand --tls 'Speak TLS, and trust the system''s certificates'
            cand --over-tls 'The client speaks TLS; it shows a certificate if there is one of the following'
            cand --plaintext 'The client speaks plaintext, which is the default'
            cand --no-xds-credentials 'The server''s program has no xDS credentials: what the Listener says of TLS is not read'
            cand --who 'Show as a table who may call the method, or without --method each one that routes and policies name'
            cand --unimplemented 'The server has no such method'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'xdsctl;test'= {
            cand --world 'World for tests that name none, such as files of router_check_tool; may be repeated'
            cand --client 'Client of tests that name none with `kind`, instead of C-core 1.85.1: `go`, `java@1.80`'
            cand --allow-read 'Let a suite name files below this directory, not only below its own; may be repeated'
            cand --run 'Run only tests whose name, as `FILE: NAME`, matches this'
            cand --format 'Format of the report, and the file for it instead of standard output; may be repeated [default: human]'
            cand --fail-under 'Exit with 1 if less of the configuration was used'
            cand --max-events 'Limit of events for one step; beyond it the test ends with an error'
            cand --max-rpcs 'Most RPCs of a test, after which it ends with an error; ten `never` and expectations count as one'
            cand --color 'When to colour the report'
            cand --update 'Replace what the suites expected by what happened, and run them again'
            cand --init 'Print a suite with a step for each route of the files. The files are its world'
            cand --schema 'Print the JSON Schema of a suite, for editors'
            cand --record 'Print a suite made from a client''s verbose log'
            cand --explain 'Show the whole path of an RPC, also picks that were queued'
            cand --coverage 'List the routes, clusters and endpoints that no RPC has used'
            cand -q 'Do not print tests that pass'
            cand --quiet 'Do not print tests that pass'
            cand --show-secrets 'Print passwords, keys and tokens instead of masking them'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'xdsctl;simulate'= {
            cand --world 'World for a test that names none; may be repeated'
            cand --client 'Client of tests that name none with `kind`, instead of C-core 1.85.1: `go`, `java@1.80`'
            cand --allow-read 'Let a suite name files below this directory, not only below its own; may be repeated'
            cand --run 'The test whose name matches this; needed where there are several'
            cand --until 'Stop after so many seconds of simulated time'
            cand --seed 'Seed for chance, instead of the suite''s'
            cand --only 'Show these layers only, such as `step,rpc,priority`'
            cand --format 'Output format'
            cand --max-events 'Most events of one step, after which the simulation ends with an error'
            cand --max-rpcs 'Most RPCs of a test, after which it ends with an error; ten `never` and expectations count as one'
            cand --color 'When to colour the text'
            cand --chart 'Show charts below: RPCs, latency and connections by backend'
            cand --show-secrets 'Print passwords, keys and tokens instead of masking them'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'xdsctl;policy'= {
            cand -h 'Print help'
            cand --help 'Print help'
            cand test 'Run the cases of policies: what each must accept and reject'
            cand new 'Print a policy about what stands in a line of a file'
            cand schema 'Print the JSON Schema of what an expression may look at'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'xdsctl;policy;test'= {
            cand --config 'Use this configuration file; the default is xdsctl.toml in this directory or one above'
            cand --allow-read 'Let files name files below this directory, not only below their own; may be repeated'
            cand --client 'Clients to ask instead of C-core 1.85.1: `cpp@1.66.2,go,java@1.80,node`, `python@1.70`, `current` or `all`'
            cand --client-from 'Ask the clients that sent this: a CSDS dump, or requests, with the user agent of each node'
            cand --run 'Run only cases whose name, as `ID accepts NAME`, matches this'
            cand --format 'Format of the report, and the file for it instead of standard output; may be repeated [default: human]'
            cand --color 'When to colour the report'
            cand --no-config 'Use no configuration file'
            cand -q 'Do not print cases that pass'
            cand --quiet 'Do not print cases that pass'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'xdsctl;policy;new'= {
            cand --from 'The file with the resource, and the line of the field'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'xdsctl;policy;schema'= {
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'xdsctl;policy;help'= {
            cand test 'Run the cases of policies: what each must accept and reject'
            cand new 'Print a policy about what stands in a line of a file'
            cand schema 'Print the JSON Schema of what an expression may look at'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'xdsctl;policy;help;test'= {
        }
        &'xdsctl;policy;help;new'= {
        }
        &'xdsctl;policy;help;schema'= {
        }
        &'xdsctl;policy;help;help'= {
        }
        &'xdsctl;retry'= {
            cand --as 'Read bare resources and arrays as this type'
            cand --stdin-filename 'Name to show for standard input'
            cand --bootstrap 'Use this gRPC bootstrap file. Without it, certificate providers are not checked'
            cand --env 'Set an environment switch of the client; may be repeated'
            cand --with 'Answer for a program that brings this, too; may be repeated'
            cand --world 'Which files are one world, what one client sees; default is `auto`'
            cand --config 'Use this configuration file; the default is xdsctl.toml in this directory or one above'
            cand --allow-read 'Let files name files below this directory, not only below their own; may be repeated'
            cand --node 'Node id for `ads://`, instead of the bootstrap''s'
            cand --ca 'Speak TLS, and trust the certificates in this PEM file'
            cand --cert 'Own certificate chain for mTLS, PEM'
            cand --key 'Private key of --cert, PEM'
            cand --server-name 'Name that the server''s certificate must have, if it is not the host'
            cand --token-file 'Send the token in this file as `authorization: Bearer`'
            cand --wait 'Longest wait for all answers together, in seconds; a gRPC client waits 15'
            cand --max-size 'Largest size in MiB, of one message and of all that is kept of an `ads://` stream'
            cand --retries 'How often to try again if the address cannot be reached, after 1 s, 2 s, 4 s, ...'
            cand --client 'Client to simulate, instead of C-core 1.85.1: `go`, `cpp@1.62`; several, as in `go,java,cpp`, are compared'
            cand --in 'World of the channel, if there are several: `xds/prod`, as standard error names it'
            cand --target 'Target of the channel; default is the only API listener'
            cand --authority 'Authority of the channel, instead of the target''s name'
            cand --route-config 'Start at this RouteConfiguration, without a listener and its filters'
            cand --cluster 'Start at this cluster, without listener and routes'
            cand --resolve 'Addresses of a DNS name; may be repeated'
            cand --health 'Health of an endpoint instead of the one in EDS, such as DRAINING; may be repeated'
            cand --remove 'Endpoint to remove from EDS; may be repeated'
            cand --method 'Method of the RPC [default: /pkg.Service/Method]'
            cand --header 'Metadata of the RPC, also as `NAME: VALUE`; may be repeated'
            cand --cookie 'Cookie of the RPC, as a client sends it; may be repeated'
            cand --timeout 'Deadline that the application sets'
            cand --seed 'Start of the random numbers'
            cand --retry-on 'Show a policy with this retry_on instead of a route''s policy'
            cand --num-retries 'The field num_retries'
            cand --base-interval 'The field retry_back_off.base_interval'
            cand --max-interval 'The field retry_back_off.max_interval'
            cand --script 'Statuses of the attempts in order. The last one repeats. CODE:MS asks for a delay'
            cand --format 'Output format'
            cand --merge 'Take all inputs for one world: `--world all`'
            cand --no-config 'Use no configuration file'
            cand --show-secrets 'Print passwords, keys and tokens instead of masking them'
            cand --tls 'Speak TLS, and trust the system''s certificates'
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
        &'xdsctl;init'= {
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'xdsctl;config'= {
            cand -h 'Print help'
            cand --help 'Print help'
            cand show 'Print each setting, its value, and where it comes from'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'xdsctl;config;show'= {
            cand --config 'Use this configuration file; the default is xdsctl.toml in this directory or one above'
            cand --allow-read 'Let files name files below this directory, not only below their own; may be repeated'
            cand --format 'Output format'
            cand --no-config 'Use no configuration file'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'xdsctl;config;help'= {
            cand show 'Print each setting, its value, and where it comes from'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'xdsctl;config;help;show'= {
        }
        &'xdsctl;config;help;help'= {
        }
        &'xdsctl;diff'= {
            cand --as 'Read bare resources and arrays as this type'
            cand --stdin-filename 'Name to show for standard input'
            cand --bootstrap 'Use this gRPC bootstrap file. Without it, certificate providers are not checked'
            cand --env 'Set an environment switch of the client; may be repeated'
            cand --with 'Answer for a program that brings this, too; may be repeated'
            cand --world 'Which files are one world, what one client sees; default is `auto`'
            cand --config 'Use this configuration file; the default is xdsctl.toml in this directory or one above'
            cand --allow-read 'Let files name files below this directory, not only below their own; may be repeated'
            cand --node 'Node id for `ads://`, instead of the bootstrap''s'
            cand --ca 'Speak TLS, and trust the certificates in this PEM file'
            cand --cert 'Own certificate chain for mTLS, PEM'
            cand --key 'Private key of --cert, PEM'
            cand --server-name 'Name that the server''s certificate must have, if it is not the host'
            cand --token-file 'Send the token in this file as `authorization: Bearer`'
            cand --wait 'Longest wait for all answers together, in seconds; a gRPC client waits 15'
            cand --max-size 'Largest size in MiB, of one message and of all that is kept of an `ads://` stream'
            cand --retries 'How often to try again if the address cannot be reached, after 1 s, 2 s, 4 s, ...'
            cand --client 'Clients to ask instead of C-core 1.85.1: `cpp@1.66.2,go,java@1.80,node`, `python@1.70`, `current` or `all`'
            cand --client-from 'Ask the clients that sent this: a CSDS dump, or requests, with the user agent of each node'
            cand --target 'Compare only what a channel to this target uses'
            cand --authority 'Authority of that channel, instead of the target''s name'
            cand --fail-on 'Exit with 1 if this changes, and only then: where RPCs go, or verdicts; or if something was not compared; a list for any'
            cand --format 'Form of the report, and the file that it goes to instead of standard output; may be repeated [default: human]'
            cand --color 'When to colour the report'
            cand --merge 'Take all inputs for one world: `--world all`'
            cand --no-config 'Use no configuration file'
            cand --show-secrets 'Print passwords, keys and tokens instead of masking them'
            cand --tls 'Speak TLS, and trust the system''s certificates'
            cand --exit-code 'Exit with 1 if anything changes'
            cand --all 'Show every change, and values in full'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'xdsctl;who'= {
            cand --as 'Read bare resources and arrays as this type'
            cand --stdin-filename 'Name to show for standard input'
            cand --bootstrap 'Use this gRPC bootstrap file. Without it, certificate providers are not checked'
            cand --env 'Set an environment switch of the client; may be repeated'
            cand --with 'Answer for a program that brings this, too; may be repeated'
            cand --world 'Which files are one world, what one client sees; default is `auto`'
            cand --config 'Use this configuration file; the default is xdsctl.toml in this directory or one above'
            cand --allow-read 'Let files name files below this directory, not only below their own; may be repeated'
            cand --node 'Node id for `ads://`, instead of the bootstrap''s'
            cand --ca 'Speak TLS, and trust the certificates in this PEM file'
            cand --cert 'Own certificate chain for mTLS, PEM'
            cand --key 'Private key of --cert, PEM'
            cand --server-name 'Name that the server''s certificate must have, if it is not the host'
            cand --token-file 'Send the token in this file as `authorization: Bearer`'
            cand --wait 'Longest wait for all answers together, in seconds; a gRPC client waits 15'
            cand --max-size 'Largest size in MiB, of one message and of all that is kept of an `ads://` stream'
            cand --retries 'How often to try again if the address cannot be reached, after 1 s, 2 s, 4 s, ...'
            cand --in 'Only this world, if there are several: `xds/prod`, as standard error names it'
            cand --type 'Only a resource of this type'
            cand --format 'Output format'
            cand --merge 'Take all inputs for one world: `--world all`'
            cand --no-config 'Use no configuration file'
            cand --show-secrets 'Print passwords, keys and tokens instead of masking them'
            cand --tls 'Speak TLS, and trust the system''s certificates'
            cand --all 'Show every place that refers'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'xdsctl;fetch'= {
            cand -o 'File for the dump, instead of standard output. With --raw, `.pb` and `.binpb` are in wire format'
            cand --output 'File for the dump, instead of standard output. With --raw, `.pb` and `.binpb` are in wire format'
            cand --target 'Ask an `ads://` control plane only for what a channel to this target needs; may be repeated'
            cand --scope 'Take only the client of this `client_scope` of a CSDS answer'
            cand --bootstrap 'gRPC bootstrap file with the node and the server of `ads://`; default is GRPC_XDS_BOOTSTRAP, GRPC_XDS_BOOTSTRAP_CONFIG'
            cand --env 'Set an environment switch of the client that judges for `ads://`; may be repeated'
            cand --config 'Use this configuration file; the default is xdsctl.toml in this directory or one above'
            cand --allow-read 'Let files name files below this directory, not only below their own; may be repeated'
            cand --node 'Node id for `ads://`, instead of the bootstrap''s'
            cand --ca 'Speak TLS, and trust the certificates in this PEM file'
            cand --cert 'Own certificate chain for mTLS, PEM'
            cand --key 'Private key of --cert, PEM'
            cand --server-name 'Name that the server''s certificate must have, if it is not the host'
            cand --token-file 'Send the token in this file as `authorization: Bearer`'
            cand --wait 'Longest wait for all answers together, in seconds; a gRPC client waits 15'
            cand --max-size 'Largest size in MiB, of one message and of all that is kept of an `ads://` stream'
            cand --retries 'How often to try again if the address cannot be reached, after 1 s, 2 s, 4 s, ...'
            cand --raw 'Keep passwords, keys and tokens instead of masking them'
            cand --redact 'Mask passwords, keys and tokens; this is the default'
            cand --partial 'Write also an incomplete dump. The exit code is still 2'
            cand --watch 'Keep running, write the dump again after each change, and print a line for each'
            cand --delta 'Speak Delta to an `ads://` control plane'
            cand -q 'Print no progress'
            cand --quiet 'Print no progress'
            cand --no-config 'Use no configuration file'
            cand --tls 'Speak TLS, and trust the system''s certificates'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'xdsctl;serve'= {
            cand --as 'Read bare resources and arrays as this type'
            cand --stdin-filename 'Name to show for standard input'
            cand --bootstrap 'Use this gRPC bootstrap file. Without it, certificate providers are not checked'
            cand --env 'Set an environment switch of the client; may be repeated'
            cand --with 'Answer for a program that brings this, too; may be repeated'
            cand --world 'Which files are one world, what one client sees; default is `auto`'
            cand --config 'Use this configuration file; the default is xdsctl.toml in this directory or one above'
            cand --allow-read 'Let files name files below this directory, not only below their own; may be repeated'
            cand --node 'Node id for `ads://`, instead of the bootstrap''s'
            cand --ca 'Speak TLS, and trust the certificates in this PEM file'
            cand --cert 'Own certificate chain for mTLS, PEM'
            cand --key 'Private key of --cert, PEM'
            cand --server-name 'Name that the server''s certificate must have, if it is not the host'
            cand --token-file 'Send the token in this file as `authorization: Bearer`'
            cand --wait 'Longest wait for all answers together, in seconds; a gRPC client waits 15'
            cand --max-size 'Largest size in MiB, of one message and of all that is kept of an `ads://` stream'
            cand --retries 'How often to try again if the address cannot be reached, after 1 s, 2 s, 4 s, ...'
            cand --listen 'Address to listen on; port 0 for a free one'
            cand --tls-cert 'Speak TLS with this certificate chain, PEM'
            cand --tls-key 'Private key of --tls-cert, PEM'
            cand --client-ca 'Accept only clients with a certificate from an authority in this PEM file'
            cand --write-bootstrap 'Write the bootstrap for a gRPC client to this file'
            cand --merge 'Take all inputs for one world: `--world all`'
            cand --no-config 'Use no configuration file'
            cand --show-secrets 'Print passwords, keys and tokens instead of masking them'
            cand --tls 'Speak TLS, and trust the system''s certificates'
            cand --compare 'End when the first client disconnects. Exit with 1 if a verdict differs from the prediction'
            cand -q 'Print only rejections and differences'
            cand --quiet 'Print only rejections and differences'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'xdsctl;ui'= {
            cand --port 'Port of this machine to listen on; 0 for a free one'
            cand --node 'Node id for `ads://`, instead of the bootstrap''s'
            cand --ca 'Speak TLS, and trust the certificates in this PEM file'
            cand --cert 'Own certificate chain for mTLS, PEM'
            cand --key 'Private key of --cert, PEM'
            cand --server-name 'Name that the server''s certificate must have, if it is not the host'
            cand --token-file 'Send the token in this file as `authorization: Bearer`'
            cand --wait 'Longest wait for all answers together, in seconds; a gRPC client waits 15'
            cand --max-size 'Largest size in MiB, of one message and of all that is kept of an `ads://` stream'
            cand --retries 'How often to try again if the address cannot be reached, after 1 s, 2 s, 4 s, ...'
            cand --watch 'Show new versions of what is open as they come'
            cand --tls 'Speak TLS, and trust the system''s certificates'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'xdsctl;lsp'= {
            cand --stdio 'Speak on standard input and output, as some editors ask for: there is no other way'
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'xdsctl;completions'= {
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'xdsctl;mask'= {
            cand -h 'Print help'
            cand --help 'Print help'
        }
        &'xdsctl;generate'= {
            cand --out 'Directory to write to'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'xdsctl;help'= {
            cand validate 'Say which resources a gRPC client would reject, drop or ignore, and at which field'
            cand explain 'Explain a rule or a line of a client''s log, or list all rules'
            cand clients 'List the clients that xdsctl knows, and what each has since which version'
            cand tree 'Show the tree of LB policies that a channel builds'
            cand route 'Say which route takes an RPC, and why not the others'
            cand pick 'Follow an RPC to its endpoint, with the reason at each layer'
            cand admit 'Say which connection a server takes and which RPC it lets in, and why'
            cand test 'Run suites: what clients, backends and a control plane do over time, and what is expected of it'
            cand simulate 'Show event by event what happens during a test of a suite'
            cand policy 'Test the project''s own policies, or write one to start from'
            cand retry 'Show what the client makes of a retry policy'
            cand cookie 'Read or write session cookies'
            cand init 'Write an xdsctl.toml with the defaults'
            cand config 'Show the settings of the project'
            cand diff 'Say what changes for a client from one configuration to another'
            cand who 'Say what refers to a resource, and what it leads to'
            cand fetch 'Save what a running client, proxy or control plane has as one dump'
            cand serve 'Serve a dump to real clients, and compare their verdicts with the prediction'
            cand ui 'Show all of it in a browser: what a client holds, where RPCs go, and what if'
            cand lsp 'Serve an editor: findings, meanings and names while one types'
            cand completions 'Print the completion script of a shell'
            cand mask 'Print a document as a report may quote it'
            cand generate 'Write the man pages'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'xdsctl;help;validate'= {
        }
        &'xdsctl;help;explain'= {
        }
        &'xdsctl;help;clients'= {
        }
        &'xdsctl;help;tree'= {
        }
        &'xdsctl;help;route'= {
        }
        &'xdsctl;help;pick'= {
        }
        &'xdsctl;help;admit'= {
        }
        &'xdsctl;help;test'= {
        }
        &'xdsctl;help;simulate'= {
        }
        &'xdsctl;help;policy'= {
            cand test 'Run the cases of policies: what each must accept and reject'
            cand new 'Print a policy about what stands in a line of a file'
            cand schema 'Print the JSON Schema of what an expression may look at'
        }
        &'xdsctl;help;policy;test'= {
        }
        &'xdsctl;help;policy;new'= {
        }
        &'xdsctl;help;policy;schema'= {
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
        &'xdsctl;help;init'= {
        }
        &'xdsctl;help;config'= {
            cand show 'Print each setting, its value, and where it comes from'
        }
        &'xdsctl;help;config;show'= {
        }
        &'xdsctl;help;diff'= {
        }
        &'xdsctl;help;who'= {
        }
        &'xdsctl;help;fetch'= {
        }
        &'xdsctl;help;serve'= {
        }
        &'xdsctl;help;ui'= {
        }
        &'xdsctl;help;lsp'= {
        }
        &'xdsctl;help;completions'= {
        }
        &'xdsctl;help;mask'= {
        }
        &'xdsctl;help;generate'= {
        }
        &'xdsctl;help;help'= {
        }
    ]
    $completions[$command]
}
