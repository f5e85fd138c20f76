
using namespace System.Management.Automation
using namespace System.Management.Automation.Language

Register-ArgumentCompleter -Native -CommandName 'xdsctl' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $commandElements = $commandAst.CommandElements
    $command = @(
        'xdsctl'
        for ($i = 1; $i -lt $commandElements.Count; $i++) {
            $element = $commandElements[$i]
            if ($element -isnot [StringConstantExpressionAst] -or
                $element.StringConstantType -ne [StringConstantType]::BareWord -or
                $element.Value.StartsWith('-') -or
                $element.Value -eq $wordToComplete) {
                break
        }
        $element.Value
    }) -join ';'

    $completions = @(switch ($command) {
        'xdsctl' {
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('validate', 'validate', [CompletionResultType]::ParameterValue, 'Say which resources a gRPC client would reject, drop or ignore, and at which field')
            [CompletionResult]::new('lint', 'lint', [CompletionResultType]::ParameterValue, 'Say which resources a gRPC client would reject, drop or ignore, and at which field')
            [CompletionResult]::new('explain', 'explain', [CompletionResultType]::ParameterValue, 'Explain a rule or a line of a client''s log, or list all rules')
            [CompletionResult]::new('clients', 'clients', [CompletionResultType]::ParameterValue, 'List the clients that xdsctl knows, and what each has since which version')
            [CompletionResult]::new('tree', 'tree', [CompletionResultType]::ParameterValue, 'Show the tree of LB policies that a channel builds')
            [CompletionResult]::new('route', 'route', [CompletionResultType]::ParameterValue, 'Say which route takes an RPC, and why not the others')
            [CompletionResult]::new('pick', 'pick', [CompletionResultType]::ParameterValue, 'Follow an RPC to its endpoint, with the reason at each layer')
            [CompletionResult]::new('admit', 'admit', [CompletionResultType]::ParameterValue, 'Say which connection a server takes and which RPC it lets in, and why')
            [CompletionResult]::new('test', 'test', [CompletionResultType]::ParameterValue, 'Run suites: what clients, backends and a control plane do over time, and what is expected of it')
            [CompletionResult]::new('simulate', 'simulate', [CompletionResultType]::ParameterValue, 'Show event by event what happens during a test of a suite')
            [CompletionResult]::new('policy', 'policy', [CompletionResultType]::ParameterValue, 'Test the project''s own policies, or write one to start from')
            [CompletionResult]::new('retry', 'retry', [CompletionResultType]::ParameterValue, 'Show what the client makes of a retry policy')
            [CompletionResult]::new('cookie', 'cookie', [CompletionResultType]::ParameterValue, 'Read or write session cookies')
            [CompletionResult]::new('init', 'init', [CompletionResultType]::ParameterValue, 'Write an xdsctl.toml with the defaults')
            [CompletionResult]::new('config', 'config', [CompletionResultType]::ParameterValue, 'Show the settings of the project')
            [CompletionResult]::new('diff', 'diff', [CompletionResultType]::ParameterValue, 'Say what changes for a client from one configuration to another')
            [CompletionResult]::new('who', 'who', [CompletionResultType]::ParameterValue, 'Say what refers to a resource, and what it leads to')
            [CompletionResult]::new('fetch', 'fetch', [CompletionResultType]::ParameterValue, 'Save what a running client, proxy or control plane has as one dump')
            [CompletionResult]::new('serve', 'serve', [CompletionResultType]::ParameterValue, 'Serve a dump to real clients, and compare their verdicts with the prediction')
            [CompletionResult]::new('ui', 'ui', [CompletionResultType]::ParameterValue, 'Show all of it in a browser: what a client holds, where RPCs go, and what if')
            [CompletionResult]::new('lsp', 'lsp', [CompletionResultType]::ParameterValue, 'Serve an editor: findings, meanings and names while one types')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Print the completion script of a shell')
            [CompletionResult]::new('mask', 'mask', [CompletionResultType]::ParameterValue, 'Print a document as a report may quote it')
            [CompletionResult]::new('generate', 'generate', [CompletionResultType]::ParameterValue, 'Write the man pages')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'xdsctl;validate' {
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'Read bare resources and arrays as this type')
            [CompletionResult]::new('--stdin-filename', '--stdin-filename', [CompletionResultType]::ParameterName, 'Name to show for standard input')
            [CompletionResult]::new('--bootstrap', '--bootstrap', [CompletionResultType]::ParameterName, 'Use this gRPC bootstrap file. Without it, certificate providers are not checked')
            [CompletionResult]::new('--env', '--env', [CompletionResultType]::ParameterName, 'Set an environment switch of the client; may be repeated')
            [CompletionResult]::new('--with', '--with', [CompletionResultType]::ParameterName, 'Answer for a program that brings this, too; may be repeated')
            [CompletionResult]::new('--world', '--world', [CompletionResultType]::ParameterName, 'Which files are one world, what one client sees; default is `auto`')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Use this configuration file; the default is xdsctl.toml in this directory or one above')
            [CompletionResult]::new('--allow-read', '--allow-read', [CompletionResultType]::ParameterName, 'Let files name files below this directory, not only below their own; may be repeated')
            [CompletionResult]::new('--node', '--node', [CompletionResultType]::ParameterName, 'Node id for `ads://`, instead of the bootstrap''s')
            [CompletionResult]::new('--ca', '--ca', [CompletionResultType]::ParameterName, 'Speak TLS, and trust the certificates in this PEM file')
            [CompletionResult]::new('--cert', '--cert', [CompletionResultType]::ParameterName, 'Own certificate chain for mTLS, PEM')
            [CompletionResult]::new('--key', '--key', [CompletionResultType]::ParameterName, 'Private key of --cert, PEM')
            [CompletionResult]::new('--server-name', '--server-name', [CompletionResultType]::ParameterName, 'Name that the server''s certificate must have, if it is not the host')
            [CompletionResult]::new('--token-file', '--token-file', [CompletionResultType]::ParameterName, 'Send the token in this file as `authorization: Bearer`')
            [CompletionResult]::new('--wait', '--wait', [CompletionResultType]::ParameterName, 'Longest wait for all answers together, in seconds; a gRPC client waits 15')
            [CompletionResult]::new('--max-size', '--max-size', [CompletionResultType]::ParameterName, 'Largest size in MiB, of one message and of all that is kept of an `ads://` stream')
            [CompletionResult]::new('--retries', '--retries', [CompletionResultType]::ParameterName, 'How often to try again if the address cannot be reached, after 1 s, 2 s, 4 s, ...')
            [CompletionResult]::new('--client', '--client', [CompletionResultType]::ParameterName, 'Clients to ask instead of C-core 1.85.1: `cpp@1.66.2,go,java@1.80,node`, `python@1.70`, `current` or `all`')
            [CompletionResult]::new('--client-from', '--client-from', [CompletionResultType]::ParameterName, 'Ask the clients that sent this: a CSDS dump, or requests, with the user agent of each node')
            [CompletionResult]::new('--target', '--target', [CompletionResultType]::ParameterName, 'Check also what happens to a channel to this target. The input is all that it gets')
            [CompletionResult]::new('--authority', '--authority', [CompletionResultType]::ParameterName, 'Authority of that channel, instead of the target''s name')
            [CompletionResult]::new('--listen', '--listen', [CompletionResultType]::ParameterName, 'Check also what a gRPC server that listens on this address asks for. The input is all that it gets')
            [CompletionResult]::new('--explain-error', '--explain-error', [CompletionResultType]::ParameterName, 'Show the place that a line of a client''s log, or the error message of an RPC, is about')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Format of the report, and the file for it instead of standard output; may be repeated [default: human]')
            [CompletionResult]::new('--fail-on', '--fail-on', [CompletionResultType]::ParameterName, 'Exit with 1 if a finding is at least this severe; after it, `not-checked` and clients that count: the others only warn [default: error]')
            [CompletionResult]::new('--min-severity', '--min-severity', [CompletionResultType]::ParameterName, 'Show findings of at least this severity, and count the others [default: warning, in JSON note]')
            [CompletionResult]::new('--baseline', '--baseline', [CompletionResultType]::ParameterName, 'Leave out the findings that this file lists')
            [CompletionResult]::new('--write-baseline', '--write-baseline', [CompletionResultType]::ParameterName, 'Write the present findings to this file, for --baseline')
            [CompletionResult]::new('--today', '--today', [CompletionResultType]::ParameterName, 'Day on which suppressions end, instead of today')
            [CompletionResult]::new('--max-findings', '--max-findings', [CompletionResultType]::ParameterName, 'Show at most so many findings of each severity, and count the others')
            [CompletionResult]::new('--show', '--show', [CompletionResultType]::ParameterName, 'Print also what the client keeps of each accepted resource')
            [CompletionResult]::new('--reach', '--reach', [CompletionResultType]::ParameterName, 'With `--show reached`, begin at the resources of this name; may be repeated')
            [CompletionResult]::new('-D', '-D ', [CompletionResultType]::ParameterName, 'Make findings of these rules, families, effects or `all` errors; the last of -D, -W and -A counts')
            [CompletionResult]::new('--deny', '--deny', [CompletionResultType]::ParameterName, 'Make findings of these rules, families, effects or `all` errors; the last of -D, -W and -A counts')
            [CompletionResult]::new('-W', '-W ', [CompletionResultType]::ParameterName, 'Make them warnings')
            [CompletionResult]::new('--warn', '--warn', [CompletionResultType]::ParameterName, 'Make them warnings')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'Drop them; RULE=FIELD,... means these fields only')
            [CompletionResult]::new('--allow', '--allow', [CompletionResultType]::ParameterName, 'Drop them; RULE=FIELD,... means these fields only')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the report')
            [CompletionResult]::new('--merge', '--merge', [CompletionResultType]::ParameterName, 'Take all inputs for one world: `--world all`')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Use no configuration file')
            [CompletionResult]::new('--show-secrets', '--show-secrets', [CompletionResultType]::ParameterName, 'Print passwords, keys and tokens instead of masking them')
            [CompletionResult]::new('--tls', '--tls', [CompletionResultType]::ParameterName, 'Speak TLS, and trust the system''s certificates')
            [CompletionResult]::new('--matrix', '--matrix', [CompletionResultType]::ParameterName, 'Print a table of resources and clients, then the reasons, instead of the findings')
            [CompletionResult]::new('--complete', '--complete', [CompletionResultType]::ParameterName, 'The input is complete: a reference that leads to nothing is an error')
            [CompletionResult]::new('--watch', '--watch', [CompletionResultType]::ParameterName, 'Keep watching a running system, check each new version, and exit with 1 at the first bad one')
            [CompletionResult]::new('--fix', '--fix', [CompletionResultType]::ParameterName, 'Apply the fixes that are certain to the JSON and YAML files')
            [CompletionResult]::new('--diff', '--diff', [CompletionResultType]::ParameterName, 'Print those fixes as a patch instead of the report. Change nothing')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Print those fixes as a patch instead of the report. Change nothing')
            [CompletionResult]::new('--all-findings', '--all-findings', [CompletionResultType]::ParameterName, 'Show every finding, not five of a rule')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Judge also what was made for a proxy, and show every finding')
            [CompletionResult]::new('--explain-suppressed', '--explain-suppressed', [CompletionResultType]::ParameterName, 'Print also the findings that are not shown, each with the reason. For the formats human and json')
            [CompletionResult]::new('--statistics', '--statistics', [CompletionResultType]::ParameterName, 'Print the number of findings of each rule instead of the findings')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print findings only, no summary and no progress')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print findings only, no summary and no progress')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'xdsctl;lint' {
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'Read bare resources and arrays as this type')
            [CompletionResult]::new('--stdin-filename', '--stdin-filename', [CompletionResultType]::ParameterName, 'Name to show for standard input')
            [CompletionResult]::new('--bootstrap', '--bootstrap', [CompletionResultType]::ParameterName, 'Use this gRPC bootstrap file. Without it, certificate providers are not checked')
            [CompletionResult]::new('--env', '--env', [CompletionResultType]::ParameterName, 'Set an environment switch of the client; may be repeated')
            [CompletionResult]::new('--with', '--with', [CompletionResultType]::ParameterName, 'Answer for a program that brings this, too; may be repeated')
            [CompletionResult]::new('--world', '--world', [CompletionResultType]::ParameterName, 'Which files are one world, what one client sees; default is `auto`')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Use this configuration file; the default is xdsctl.toml in this directory or one above')
            [CompletionResult]::new('--allow-read', '--allow-read', [CompletionResultType]::ParameterName, 'Let files name files below this directory, not only below their own; may be repeated')
            [CompletionResult]::new('--node', '--node', [CompletionResultType]::ParameterName, 'Node id for `ads://`, instead of the bootstrap''s')
            [CompletionResult]::new('--ca', '--ca', [CompletionResultType]::ParameterName, 'Speak TLS, and trust the certificates in this PEM file')
            [CompletionResult]::new('--cert', '--cert', [CompletionResultType]::ParameterName, 'Own certificate chain for mTLS, PEM')
            [CompletionResult]::new('--key', '--key', [CompletionResultType]::ParameterName, 'Private key of --cert, PEM')
            [CompletionResult]::new('--server-name', '--server-name', [CompletionResultType]::ParameterName, 'Name that the server''s certificate must have, if it is not the host')
            [CompletionResult]::new('--token-file', '--token-file', [CompletionResultType]::ParameterName, 'Send the token in this file as `authorization: Bearer`')
            [CompletionResult]::new('--wait', '--wait', [CompletionResultType]::ParameterName, 'Longest wait for all answers together, in seconds; a gRPC client waits 15')
            [CompletionResult]::new('--max-size', '--max-size', [CompletionResultType]::ParameterName, 'Largest size in MiB, of one message and of all that is kept of an `ads://` stream')
            [CompletionResult]::new('--retries', '--retries', [CompletionResultType]::ParameterName, 'How often to try again if the address cannot be reached, after 1 s, 2 s, 4 s, ...')
            [CompletionResult]::new('--client', '--client', [CompletionResultType]::ParameterName, 'Clients to ask instead of C-core 1.85.1: `cpp@1.66.2,go,java@1.80,node`, `python@1.70`, `current` or `all`')
            [CompletionResult]::new('--client-from', '--client-from', [CompletionResultType]::ParameterName, 'Ask the clients that sent this: a CSDS dump, or requests, with the user agent of each node')
            [CompletionResult]::new('--target', '--target', [CompletionResultType]::ParameterName, 'Check also what happens to a channel to this target. The input is all that it gets')
            [CompletionResult]::new('--authority', '--authority', [CompletionResultType]::ParameterName, 'Authority of that channel, instead of the target''s name')
            [CompletionResult]::new('--listen', '--listen', [CompletionResultType]::ParameterName, 'Check also what a gRPC server that listens on this address asks for. The input is all that it gets')
            [CompletionResult]::new('--explain-error', '--explain-error', [CompletionResultType]::ParameterName, 'Show the place that a line of a client''s log, or the error message of an RPC, is about')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Format of the report, and the file for it instead of standard output; may be repeated [default: human]')
            [CompletionResult]::new('--fail-on', '--fail-on', [CompletionResultType]::ParameterName, 'Exit with 1 if a finding is at least this severe; after it, `not-checked` and clients that count: the others only warn [default: error]')
            [CompletionResult]::new('--min-severity', '--min-severity', [CompletionResultType]::ParameterName, 'Show findings of at least this severity, and count the others [default: warning, in JSON note]')
            [CompletionResult]::new('--baseline', '--baseline', [CompletionResultType]::ParameterName, 'Leave out the findings that this file lists')
            [CompletionResult]::new('--write-baseline', '--write-baseline', [CompletionResultType]::ParameterName, 'Write the present findings to this file, for --baseline')
            [CompletionResult]::new('--today', '--today', [CompletionResultType]::ParameterName, 'Day on which suppressions end, instead of today')
            [CompletionResult]::new('--max-findings', '--max-findings', [CompletionResultType]::ParameterName, 'Show at most so many findings of each severity, and count the others')
            [CompletionResult]::new('--show', '--show', [CompletionResultType]::ParameterName, 'Print also what the client keeps of each accepted resource')
            [CompletionResult]::new('--reach', '--reach', [CompletionResultType]::ParameterName, 'With `--show reached`, begin at the resources of this name; may be repeated')
            [CompletionResult]::new('-D', '-D ', [CompletionResultType]::ParameterName, 'Make findings of these rules, families, effects or `all` errors; the last of -D, -W and -A counts')
            [CompletionResult]::new('--deny', '--deny', [CompletionResultType]::ParameterName, 'Make findings of these rules, families, effects or `all` errors; the last of -D, -W and -A counts')
            [CompletionResult]::new('-W', '-W ', [CompletionResultType]::ParameterName, 'Make them warnings')
            [CompletionResult]::new('--warn', '--warn', [CompletionResultType]::ParameterName, 'Make them warnings')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'Drop them; RULE=FIELD,... means these fields only')
            [CompletionResult]::new('--allow', '--allow', [CompletionResultType]::ParameterName, 'Drop them; RULE=FIELD,... means these fields only')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the report')
            [CompletionResult]::new('--merge', '--merge', [CompletionResultType]::ParameterName, 'Take all inputs for one world: `--world all`')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Use no configuration file')
            [CompletionResult]::new('--show-secrets', '--show-secrets', [CompletionResultType]::ParameterName, 'Print passwords, keys and tokens instead of masking them')
            [CompletionResult]::new('--tls', '--tls', [CompletionResultType]::ParameterName, 'Speak TLS, and trust the system''s certificates')
            [CompletionResult]::new('--matrix', '--matrix', [CompletionResultType]::ParameterName, 'Print a table of resources and clients, then the reasons, instead of the findings')
            [CompletionResult]::new('--complete', '--complete', [CompletionResultType]::ParameterName, 'The input is complete: a reference that leads to nothing is an error')
            [CompletionResult]::new('--watch', '--watch', [CompletionResultType]::ParameterName, 'Keep watching a running system, check each new version, and exit with 1 at the first bad one')
            [CompletionResult]::new('--fix', '--fix', [CompletionResultType]::ParameterName, 'Apply the fixes that are certain to the JSON and YAML files')
            [CompletionResult]::new('--diff', '--diff', [CompletionResultType]::ParameterName, 'Print those fixes as a patch instead of the report. Change nothing')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Print those fixes as a patch instead of the report. Change nothing')
            [CompletionResult]::new('--all-findings', '--all-findings', [CompletionResultType]::ParameterName, 'Show every finding, not five of a rule')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Judge also what was made for a proxy, and show every finding')
            [CompletionResult]::new('--explain-suppressed', '--explain-suppressed', [CompletionResultType]::ParameterName, 'Print also the findings that are not shown, each with the reason. For the formats human and json')
            [CompletionResult]::new('--statistics', '--statistics', [CompletionResultType]::ParameterName, 'Print the number of findings of each rule instead of the findings')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print findings only, no summary and no progress')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print findings only, no summary and no progress')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'xdsctl;explain' {
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Use this configuration file; the default is xdsctl.toml in this directory or one above')
            [CompletionResult]::new('--allow-read', '--allow-read', [CompletionResultType]::ParameterName, 'Let files name files below this directory, not only below their own; may be repeated')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--list', '--list', [CompletionResultType]::ParameterName, 'List all rules')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Use no configuration file')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'xdsctl;clients' {
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'xdsctl;tree' {
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'Read bare resources and arrays as this type')
            [CompletionResult]::new('--stdin-filename', '--stdin-filename', [CompletionResultType]::ParameterName, 'Name to show for standard input')
            [CompletionResult]::new('--bootstrap', '--bootstrap', [CompletionResultType]::ParameterName, 'Use this gRPC bootstrap file. Without it, certificate providers are not checked')
            [CompletionResult]::new('--env', '--env', [CompletionResultType]::ParameterName, 'Set an environment switch of the client; may be repeated')
            [CompletionResult]::new('--with', '--with', [CompletionResultType]::ParameterName, 'Answer for a program that brings this, too; may be repeated')
            [CompletionResult]::new('--world', '--world', [CompletionResultType]::ParameterName, 'Which files are one world, what one client sees; default is `auto`')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Use this configuration file; the default is xdsctl.toml in this directory or one above')
            [CompletionResult]::new('--allow-read', '--allow-read', [CompletionResultType]::ParameterName, 'Let files name files below this directory, not only below their own; may be repeated')
            [CompletionResult]::new('--node', '--node', [CompletionResultType]::ParameterName, 'Node id for `ads://`, instead of the bootstrap''s')
            [CompletionResult]::new('--ca', '--ca', [CompletionResultType]::ParameterName, 'Speak TLS, and trust the certificates in this PEM file')
            [CompletionResult]::new('--cert', '--cert', [CompletionResultType]::ParameterName, 'Own certificate chain for mTLS, PEM')
            [CompletionResult]::new('--key', '--key', [CompletionResultType]::ParameterName, 'Private key of --cert, PEM')
            [CompletionResult]::new('--server-name', '--server-name', [CompletionResultType]::ParameterName, 'Name that the server''s certificate must have, if it is not the host')
            [CompletionResult]::new('--token-file', '--token-file', [CompletionResultType]::ParameterName, 'Send the token in this file as `authorization: Bearer`')
            [CompletionResult]::new('--wait', '--wait', [CompletionResultType]::ParameterName, 'Longest wait for all answers together, in seconds; a gRPC client waits 15')
            [CompletionResult]::new('--max-size', '--max-size', [CompletionResultType]::ParameterName, 'Largest size in MiB, of one message and of all that is kept of an `ads://` stream')
            [CompletionResult]::new('--retries', '--retries', [CompletionResultType]::ParameterName, 'How often to try again if the address cannot be reached, after 1 s, 2 s, 4 s, ...')
            [CompletionResult]::new('--client', '--client', [CompletionResultType]::ParameterName, 'Client to simulate, instead of C-core 1.85.1: `go`, `cpp@1.62`; several, as in `go,java,cpp`, are compared')
            [CompletionResult]::new('--in', '--in', [CompletionResultType]::ParameterName, 'World of the channel, if there are several: `xds/prod`, as standard error names it')
            [CompletionResult]::new('--target', '--target', [CompletionResultType]::ParameterName, 'Target of the channel; default is the only API listener')
            [CompletionResult]::new('--authority', '--authority', [CompletionResultType]::ParameterName, 'Authority of the channel, instead of the target''s name')
            [CompletionResult]::new('--route-config', '--route-config', [CompletionResultType]::ParameterName, 'Start at this RouteConfiguration, without a listener and its filters')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'Start at this cluster, without listener and routes')
            [CompletionResult]::new('--resolve', '--resolve', [CompletionResultType]::ParameterName, 'Addresses of a DNS name; may be repeated')
            [CompletionResult]::new('--health', '--health', [CompletionResultType]::ParameterName, 'Health of an endpoint instead of the one in EDS, such as DRAINING; may be repeated')
            [CompletionResult]::new('--remove', '--remove', [CompletionResultType]::ParameterName, 'Endpoint to remove from EDS; may be repeated')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--layout', '--layout', [CompletionResultType]::ParameterName, 'Which client''s tree')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the text')
            [CompletionResult]::new('--merge', '--merge', [CompletionResultType]::ParameterName, 'Take all inputs for one world: `--world all`')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Use no configuration file')
            [CompletionResult]::new('--show-secrets', '--show-secrets', [CompletionResultType]::ParameterName, 'Print passwords, keys and tokens instead of masking them')
            [CompletionResult]::new('--tls', '--tls', [CompletionResultType]::ParameterName, 'Speak TLS, and trust the system''s certificates')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Show everything that is dropped, however much it is')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'xdsctl;route' {
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'Read bare resources and arrays as this type')
            [CompletionResult]::new('--stdin-filename', '--stdin-filename', [CompletionResultType]::ParameterName, 'Name to show for standard input')
            [CompletionResult]::new('--bootstrap', '--bootstrap', [CompletionResultType]::ParameterName, 'Use this gRPC bootstrap file. Without it, certificate providers are not checked')
            [CompletionResult]::new('--env', '--env', [CompletionResultType]::ParameterName, 'Set an environment switch of the client; may be repeated')
            [CompletionResult]::new('--with', '--with', [CompletionResultType]::ParameterName, 'Answer for a program that brings this, too; may be repeated')
            [CompletionResult]::new('--world', '--world', [CompletionResultType]::ParameterName, 'Which files are one world, what one client sees; default is `auto`')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Use this configuration file; the default is xdsctl.toml in this directory or one above')
            [CompletionResult]::new('--allow-read', '--allow-read', [CompletionResultType]::ParameterName, 'Let files name files below this directory, not only below their own; may be repeated')
            [CompletionResult]::new('--node', '--node', [CompletionResultType]::ParameterName, 'Node id for `ads://`, instead of the bootstrap''s')
            [CompletionResult]::new('--ca', '--ca', [CompletionResultType]::ParameterName, 'Speak TLS, and trust the certificates in this PEM file')
            [CompletionResult]::new('--cert', '--cert', [CompletionResultType]::ParameterName, 'Own certificate chain for mTLS, PEM')
            [CompletionResult]::new('--key', '--key', [CompletionResultType]::ParameterName, 'Private key of --cert, PEM')
            [CompletionResult]::new('--server-name', '--server-name', [CompletionResultType]::ParameterName, 'Name that the server''s certificate must have, if it is not the host')
            [CompletionResult]::new('--token-file', '--token-file', [CompletionResultType]::ParameterName, 'Send the token in this file as `authorization: Bearer`')
            [CompletionResult]::new('--wait', '--wait', [CompletionResultType]::ParameterName, 'Longest wait for all answers together, in seconds; a gRPC client waits 15')
            [CompletionResult]::new('--max-size', '--max-size', [CompletionResultType]::ParameterName, 'Largest size in MiB, of one message and of all that is kept of an `ads://` stream')
            [CompletionResult]::new('--retries', '--retries', [CompletionResultType]::ParameterName, 'How often to try again if the address cannot be reached, after 1 s, 2 s, 4 s, ...')
            [CompletionResult]::new('--client', '--client', [CompletionResultType]::ParameterName, 'Client to simulate, instead of C-core 1.85.1: `go`, `cpp@1.62`; several, as in `go,java,cpp`, are compared')
            [CompletionResult]::new('--in', '--in', [CompletionResultType]::ParameterName, 'World of the channel, if there are several: `xds/prod`, as standard error names it')
            [CompletionResult]::new('--target', '--target', [CompletionResultType]::ParameterName, 'Target of the channel; default is the only API listener')
            [CompletionResult]::new('--authority', '--authority', [CompletionResultType]::ParameterName, 'Authority of the channel, instead of the target''s name')
            [CompletionResult]::new('--route-config', '--route-config', [CompletionResultType]::ParameterName, 'Start at this RouteConfiguration, without a listener and its filters')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'Start at this cluster, without listener and routes')
            [CompletionResult]::new('--resolve', '--resolve', [CompletionResultType]::ParameterName, 'Addresses of a DNS name; may be repeated')
            [CompletionResult]::new('--health', '--health', [CompletionResultType]::ParameterName, 'Health of an endpoint instead of the one in EDS, such as DRAINING; may be repeated')
            [CompletionResult]::new('--remove', '--remove', [CompletionResultType]::ParameterName, 'Endpoint to remove from EDS; may be repeated')
            [CompletionResult]::new('--method', '--method', [CompletionResultType]::ParameterName, 'Method of the RPC [default: /pkg.Service/Method]')
            [CompletionResult]::new('--header', '--header', [CompletionResultType]::ParameterName, 'Metadata of the RPC, also as `NAME: VALUE`; may be repeated')
            [CompletionResult]::new('--cookie', '--cookie', [CompletionResultType]::ParameterName, 'Cookie of the RPC, as a client sends it; may be repeated')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Deadline that the application sets')
            [CompletionResult]::new('--seed', '--seed', [CompletionResultType]::ParameterName, 'Start of the random numbers')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the text')
            [CompletionResult]::new('--merge', '--merge', [CompletionResultType]::ParameterName, 'Take all inputs for one world: `--world all`')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Use no configuration file')
            [CompletionResult]::new('--show-secrets', '--show-secrets', [CompletionResultType]::ParameterName, 'Print passwords, keys and tokens instead of masking them')
            [CompletionResult]::new('--tls', '--tls', [CompletionResultType]::ParameterName, 'Speak TLS, and trust the system''s certificates')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'xdsctl;pick' {
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'Read bare resources and arrays as this type')
            [CompletionResult]::new('--stdin-filename', '--stdin-filename', [CompletionResultType]::ParameterName, 'Name to show for standard input')
            [CompletionResult]::new('--bootstrap', '--bootstrap', [CompletionResultType]::ParameterName, 'Use this gRPC bootstrap file. Without it, certificate providers are not checked')
            [CompletionResult]::new('--env', '--env', [CompletionResultType]::ParameterName, 'Set an environment switch of the client; may be repeated')
            [CompletionResult]::new('--with', '--with', [CompletionResultType]::ParameterName, 'Answer for a program that brings this, too; may be repeated')
            [CompletionResult]::new('--world', '--world', [CompletionResultType]::ParameterName, 'Which files are one world, what one client sees; default is `auto`')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Use this configuration file; the default is xdsctl.toml in this directory or one above')
            [CompletionResult]::new('--allow-read', '--allow-read', [CompletionResultType]::ParameterName, 'Let files name files below this directory, not only below their own; may be repeated')
            [CompletionResult]::new('--node', '--node', [CompletionResultType]::ParameterName, 'Node id for `ads://`, instead of the bootstrap''s')
            [CompletionResult]::new('--ca', '--ca', [CompletionResultType]::ParameterName, 'Speak TLS, and trust the certificates in this PEM file')
            [CompletionResult]::new('--cert', '--cert', [CompletionResultType]::ParameterName, 'Own certificate chain for mTLS, PEM')
            [CompletionResult]::new('--key', '--key', [CompletionResultType]::ParameterName, 'Private key of --cert, PEM')
            [CompletionResult]::new('--server-name', '--server-name', [CompletionResultType]::ParameterName, 'Name that the server''s certificate must have, if it is not the host')
            [CompletionResult]::new('--token-file', '--token-file', [CompletionResultType]::ParameterName, 'Send the token in this file as `authorization: Bearer`')
            [CompletionResult]::new('--wait', '--wait', [CompletionResultType]::ParameterName, 'Longest wait for all answers together, in seconds; a gRPC client waits 15')
            [CompletionResult]::new('--max-size', '--max-size', [CompletionResultType]::ParameterName, 'Largest size in MiB, of one message and of all that is kept of an `ads://` stream')
            [CompletionResult]::new('--retries', '--retries', [CompletionResultType]::ParameterName, 'How often to try again if the address cannot be reached, after 1 s, 2 s, 4 s, ...')
            [CompletionResult]::new('--client', '--client', [CompletionResultType]::ParameterName, 'Client to simulate, instead of C-core 1.85.1: `go`, `cpp@1.62`; several, as in `go,java,cpp`, are compared')
            [CompletionResult]::new('--in', '--in', [CompletionResultType]::ParameterName, 'World of the channel, if there are several: `xds/prod`, as standard error names it')
            [CompletionResult]::new('--target', '--target', [CompletionResultType]::ParameterName, 'Target of the channel; default is the only API listener')
            [CompletionResult]::new('--authority', '--authority', [CompletionResultType]::ParameterName, 'Authority of the channel, instead of the target''s name')
            [CompletionResult]::new('--route-config', '--route-config', [CompletionResultType]::ParameterName, 'Start at this RouteConfiguration, without a listener and its filters')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'Start at this cluster, without listener and routes')
            [CompletionResult]::new('--resolve', '--resolve', [CompletionResultType]::ParameterName, 'Addresses of a DNS name; may be repeated')
            [CompletionResult]::new('--health', '--health', [CompletionResultType]::ParameterName, 'Health of an endpoint instead of the one in EDS, such as DRAINING; may be repeated')
            [CompletionResult]::new('--remove', '--remove', [CompletionResultType]::ParameterName, 'Endpoint to remove from EDS; may be repeated')
            [CompletionResult]::new('--method', '--method', [CompletionResultType]::ParameterName, 'Method of the RPC [default: /pkg.Service/Method]')
            [CompletionResult]::new('--header', '--header', [CompletionResultType]::ParameterName, 'Metadata of the RPC, also as `NAME: VALUE`; may be repeated')
            [CompletionResult]::new('--cookie', '--cookie', [CompletionResultType]::ParameterName, 'Cookie of the RPC, as a client sends it; may be repeated')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Deadline that the application sets')
            [CompletionResult]::new('--seed', '--seed', [CompletionResultType]::ParameterName, 'Start of the random numbers')
            [CompletionResult]::new('--count', '--count', [CompletionResultType]::ParameterName, 'Send the RPC this often and show the shares')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Give the RPC the session cookie of this address')
            [CompletionResult]::new('--address', '--address', [CompletionResultType]::ParameterName, 'Show where this address is in the tree, instead of sending an RPC')
            [CompletionResult]::new('--reachable', '--reachable', [CompletionResultType]::ParameterName, 'Addresses that accept connections. All others refuse; by default all accept')
            [CompletionResult]::new('--down', '--down', [CompletionResultType]::ParameterName, 'Addresses, localities or clusters that refuse connections; may be repeated')
            [CompletionResult]::new('--state', '--state', [CompletionResultType]::ParameterName, 'State of the connection to an address; may be repeated')
            [CompletionResult]::new('--eject', '--eject', [CompletionResultType]::ParameterName, 'Address that outlier detection has ejected; may be repeated')
            [CompletionResult]::new('--respond', '--respond', [CompletionResultType]::ParameterName, 'Let the first N attempts of each RPC fail with this code')
            [CompletionResult]::new('--lookup', '--lookup', [CompletionResultType]::ParameterName, 'Cluster that the lookup service (RLS) returns for every lookup; repeat it for clusters to use when the first one fails')
            [CompletionResult]::new('--requests', '--requests', [CompletionResultType]::ParameterName, 'Play these steps on the channel, one JSON object a line; `-` is standard input')
            [CompletionResult]::new('--max-events', '--max-events', [CompletionResultType]::ParameterName, 'Limit of events for one RPC or step; beyond it the simulation ends with an error')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the text')
            [CompletionResult]::new('--merge', '--merge', [CompletionResultType]::ParameterName, 'Take all inputs for one world: `--world all`')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Use no configuration file')
            [CompletionResult]::new('--show-secrets', '--show-secrets', [CompletionResultType]::ParameterName, 'Print passwords, keys and tokens instead of masking them')
            [CompletionResult]::new('--tls', '--tls', [CompletionResultType]::ParameterName, 'Speak TLS, and trust the system''s certificates')
            [CompletionResult]::new('--wait-for-ready', '--wait-for-ready', [CompletionResultType]::ParameterName, 'Wait for a connection instead of failing')
            [CompletionResult]::new('--explain', '--explain', [CompletionResultType]::ParameterName, 'Show everything, also picks that were queued')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'xdsctl;admit' {
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'Read bare resources and arrays as this type')
            [CompletionResult]::new('--stdin-filename', '--stdin-filename', [CompletionResultType]::ParameterName, 'Name to show for standard input')
            [CompletionResult]::new('--bootstrap', '--bootstrap', [CompletionResultType]::ParameterName, 'Use this gRPC bootstrap file. Without it, certificate providers are not checked')
            [CompletionResult]::new('--env', '--env', [CompletionResultType]::ParameterName, 'Set an environment switch of the client; may be repeated')
            [CompletionResult]::new('--with', '--with', [CompletionResultType]::ParameterName, 'Answer for a program that brings this, too; may be repeated')
            [CompletionResult]::new('--world', '--world', [CompletionResultType]::ParameterName, 'Which files are one world, what one client sees; default is `auto`')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Use this configuration file; the default is xdsctl.toml in this directory or one above')
            [CompletionResult]::new('--allow-read', '--allow-read', [CompletionResultType]::ParameterName, 'Let files name files below this directory, not only below their own; may be repeated')
            [CompletionResult]::new('--node', '--node', [CompletionResultType]::ParameterName, 'Node id for `ads://`, instead of the bootstrap''s')
            [CompletionResult]::new('--ca', '--ca', [CompletionResultType]::ParameterName, 'Speak TLS, and trust the certificates in this PEM file')
            [CompletionResult]::new('--cert', '--cert', [CompletionResultType]::ParameterName, 'Own certificate chain for mTLS, PEM')
            [CompletionResult]::new('--key', '--key', [CompletionResultType]::ParameterName, 'Private key of --cert, PEM')
            [CompletionResult]::new('--server-name', '--server-name', [CompletionResultType]::ParameterName, 'Name that the server''s certificate must have, if it is not the host')
            [CompletionResult]::new('--token-file', '--token-file', [CompletionResultType]::ParameterName, 'Send the token in this file as `authorization: Bearer`')
            [CompletionResult]::new('--wait', '--wait', [CompletionResultType]::ParameterName, 'Longest wait for all answers together, in seconds; a gRPC client waits 15')
            [CompletionResult]::new('--max-size', '--max-size', [CompletionResultType]::ParameterName, 'Largest size in MiB, of one message and of all that is kept of an `ads://` stream')
            [CompletionResult]::new('--retries', '--retries', [CompletionResultType]::ParameterName, 'How often to try again if the address cannot be reached, after 1 s, 2 s, 4 s, ...')
            [CompletionResult]::new('--client', '--client', [CompletionResultType]::ParameterName, 'Server to simulate, instead of C-core 1.85.1: `cpp@1.62`; several, as in `cpp,cpp@1.62`, are compared')
            [CompletionResult]::new('--in', '--in', [CompletionResultType]::ParameterName, 'World of the server, if there are several: `xds/prod`, as standard error names it')
            [CompletionResult]::new('--listen', '--listen', [CompletionResultType]::ParameterName, 'Address that the server listens on; the bootstrap makes the name of its Listener of it. Default is the only server''s Listener')
            [CompletionResult]::new('--from', '--from', [CompletionResultType]::ParameterName, 'Address at the other end of the connection; a port of 0 is one that no chain names [default: 127.0.0.1]')
            [CompletionResult]::new('--to', '--to', [CompletionResultType]::ParameterName, 'The server''s own address, which the connection is to [default: that of --listen, or 127.0.0.1]')
            [CompletionResult]::new('--certificate', '--certificate', [CompletionResultType]::ParameterName, 'Certificate that the client shows, in PEM; keys in the file are passed over')
            [CompletionResult]::new('--san', '--san', [CompletionResultType]::ParameterName, 'Alternative names of the certificate that the client shows: `dns:a.example`, `uri:spiffe://prod/cart`, `email:`, `ip:`')
            [CompletionResult]::new('--subject', '--subject', [CompletionResultType]::ParameterName, 'Subject of the certificate that the client shows, as in `CN=cart,O=Shop`')
            [CompletionResult]::new('--roots', '--roots', [CompletionResultType]::ParameterName, 'Roots that the server trusts, in PEM; without them it trusts every certificate')
            [CompletionResult]::new('--at', '--at', [CompletionResultType]::ParameterName, 'Time at which certificates must be valid; without it any time will do')
            [CompletionResult]::new('--method', '--method', [CompletionResultType]::ParameterName, 'Method of the RPC; without it the answer ends with the connection')
            [CompletionResult]::new('--authority', '--authority', [CompletionResultType]::ParameterName, 'Authority of the RPC [default: that of --listen]')
            [CompletionResult]::new('--header', '--header', [CompletionResultType]::ParameterName, 'Metadata of the RPC, also as `NAME: VALUE`; may be repeated')
            [CompletionResult]::new('--seed', '--seed', [CompletionResultType]::ParameterName, 'Start of the random numbers')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the text')
            [CompletionResult]::new('--merge', '--merge', [CompletionResultType]::ParameterName, 'Take all inputs for one world: `--world all`')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Use no configuration file')
            [CompletionResult]::new('--show-secrets', '--show-secrets', [CompletionResultType]::ParameterName, 'Print passwords, keys and tokens instead of masking them')
            [CompletionResult]::new('--tls', '--tls', [CompletionResultType]::ParameterName, 'Speak TLS, and trust the system''s certificates')
            [CompletionResult]::new('--over-tls', '--over-tls', [CompletionResultType]::ParameterName, 'The client speaks TLS; it shows a certificate if there is one of the following')
            [CompletionResult]::new('--plaintext', '--plaintext', [CompletionResultType]::ParameterName, 'The client speaks plaintext, which is the default')
            [CompletionResult]::new('--no-xds-credentials', '--no-xds-credentials', [CompletionResultType]::ParameterName, 'The server''s program has no xDS credentials: what the Listener says of TLS is not read')
            [CompletionResult]::new('--who', '--who', [CompletionResultType]::ParameterName, 'Show as a table who may call the method, or without --method each one that routes and policies name')
            [CompletionResult]::new('--unimplemented', '--unimplemented', [CompletionResultType]::ParameterName, 'The server has no such method')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'xdsctl;test' {
            [CompletionResult]::new('--world', '--world', [CompletionResultType]::ParameterName, 'World for tests that name none, such as files of router_check_tool; may be repeated')
            [CompletionResult]::new('--client', '--client', [CompletionResultType]::ParameterName, 'Client of tests that name none with `kind`, instead of C-core 1.85.1: `go`, `java@1.80`')
            [CompletionResult]::new('--allow-read', '--allow-read', [CompletionResultType]::ParameterName, 'Let a suite name files below this directory, not only below its own; may be repeated')
            [CompletionResult]::new('--run', '--run', [CompletionResultType]::ParameterName, 'Run only tests whose name, as `FILE: NAME`, matches this')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Format of the report, and the file for it instead of standard output; may be repeated [default: human]')
            [CompletionResult]::new('--fail-under', '--fail-under', [CompletionResultType]::ParameterName, 'Exit with 1 if less of the configuration was used')
            [CompletionResult]::new('--max-events', '--max-events', [CompletionResultType]::ParameterName, 'Limit of events for one step; beyond it the test ends with an error')
            [CompletionResult]::new('--max-rpcs', '--max-rpcs', [CompletionResultType]::ParameterName, 'Most RPCs of a test, after which it ends with an error; ten `never` and expectations count as one')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the report')
            [CompletionResult]::new('--update', '--update', [CompletionResultType]::ParameterName, 'Replace what the suites expected by what happened, and run them again')
            [CompletionResult]::new('--init', '--init', [CompletionResultType]::ParameterName, 'Print a suite with a step for each route of the files. The files are its world')
            [CompletionResult]::new('--schema', '--schema', [CompletionResultType]::ParameterName, 'Print the JSON Schema of a suite, for editors')
            [CompletionResult]::new('--record', '--record', [CompletionResultType]::ParameterName, 'Print a suite made from a client''s verbose log')
            [CompletionResult]::new('--explain', '--explain', [CompletionResultType]::ParameterName, 'Show the whole path of an RPC, also picks that were queued')
            [CompletionResult]::new('--coverage', '--coverage', [CompletionResultType]::ParameterName, 'List the routes, clusters and endpoints that no RPC has used')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Do not print tests that pass')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Do not print tests that pass')
            [CompletionResult]::new('--show-secrets', '--show-secrets', [CompletionResultType]::ParameterName, 'Print passwords, keys and tokens instead of masking them')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'xdsctl;simulate' {
            [CompletionResult]::new('--world', '--world', [CompletionResultType]::ParameterName, 'World for a test that names none; may be repeated')
            [CompletionResult]::new('--client', '--client', [CompletionResultType]::ParameterName, 'Client of tests that name none with `kind`, instead of C-core 1.85.1: `go`, `java@1.80`')
            [CompletionResult]::new('--allow-read', '--allow-read', [CompletionResultType]::ParameterName, 'Let a suite name files below this directory, not only below its own; may be repeated')
            [CompletionResult]::new('--run', '--run', [CompletionResultType]::ParameterName, 'The test whose name matches this; needed where there are several')
            [CompletionResult]::new('--until', '--until', [CompletionResultType]::ParameterName, 'Stop after so many seconds of simulated time')
            [CompletionResult]::new('--seed', '--seed', [CompletionResultType]::ParameterName, 'Seed for chance, instead of the suite''s')
            [CompletionResult]::new('--only', '--only', [CompletionResultType]::ParameterName, 'Show these layers only, such as `step,rpc,priority`')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--max-events', '--max-events', [CompletionResultType]::ParameterName, 'Most events of one step, after which the simulation ends with an error')
            [CompletionResult]::new('--max-rpcs', '--max-rpcs', [CompletionResultType]::ParameterName, 'Most RPCs of a test, after which it ends with an error; ten `never` and expectations count as one')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the text')
            [CompletionResult]::new('--chart', '--chart', [CompletionResultType]::ParameterName, 'Show charts below: RPCs, latency and connections by backend')
            [CompletionResult]::new('--show-secrets', '--show-secrets', [CompletionResultType]::ParameterName, 'Print passwords, keys and tokens instead of masking them')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'xdsctl;policy' {
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('test', 'test', [CompletionResultType]::ParameterValue, 'Run the cases of policies: what each must accept and reject')
            [CompletionResult]::new('new', 'new', [CompletionResultType]::ParameterValue, 'Print a policy about what stands in a line of a file')
            [CompletionResult]::new('schema', 'schema', [CompletionResultType]::ParameterValue, 'Print the JSON Schema of what an expression may look at')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'xdsctl;policy;test' {
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Use this configuration file; the default is xdsctl.toml in this directory or one above')
            [CompletionResult]::new('--allow-read', '--allow-read', [CompletionResultType]::ParameterName, 'Let files name files below this directory, not only below their own; may be repeated')
            [CompletionResult]::new('--client', '--client', [CompletionResultType]::ParameterName, 'Clients to ask instead of C-core 1.85.1: `cpp@1.66.2,go,java@1.80,node`, `python@1.70`, `current` or `all`')
            [CompletionResult]::new('--client-from', '--client-from', [CompletionResultType]::ParameterName, 'Ask the clients that sent this: a CSDS dump, or requests, with the user agent of each node')
            [CompletionResult]::new('--run', '--run', [CompletionResultType]::ParameterName, 'Run only cases whose name, as `ID accepts NAME`, matches this')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Format of the report, and the file for it instead of standard output; may be repeated [default: human]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the report')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Use no configuration file')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Do not print cases that pass')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Do not print cases that pass')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'xdsctl;policy;new' {
            [CompletionResult]::new('--from', '--from', [CompletionResultType]::ParameterName, 'The file with the resource, and the line of the field')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'xdsctl;policy;schema' {
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'xdsctl;policy;help' {
            [CompletionResult]::new('test', 'test', [CompletionResultType]::ParameterValue, 'Run the cases of policies: what each must accept and reject')
            [CompletionResult]::new('new', 'new', [CompletionResultType]::ParameterValue, 'Print a policy about what stands in a line of a file')
            [CompletionResult]::new('schema', 'schema', [CompletionResultType]::ParameterValue, 'Print the JSON Schema of what an expression may look at')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'xdsctl;policy;help;test' {
            break
        }
        'xdsctl;policy;help;new' {
            break
        }
        'xdsctl;policy;help;schema' {
            break
        }
        'xdsctl;policy;help;help' {
            break
        }
        'xdsctl;retry' {
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'Read bare resources and arrays as this type')
            [CompletionResult]::new('--stdin-filename', '--stdin-filename', [CompletionResultType]::ParameterName, 'Name to show for standard input')
            [CompletionResult]::new('--bootstrap', '--bootstrap', [CompletionResultType]::ParameterName, 'Use this gRPC bootstrap file. Without it, certificate providers are not checked')
            [CompletionResult]::new('--env', '--env', [CompletionResultType]::ParameterName, 'Set an environment switch of the client; may be repeated')
            [CompletionResult]::new('--with', '--with', [CompletionResultType]::ParameterName, 'Answer for a program that brings this, too; may be repeated')
            [CompletionResult]::new('--world', '--world', [CompletionResultType]::ParameterName, 'Which files are one world, what one client sees; default is `auto`')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Use this configuration file; the default is xdsctl.toml in this directory or one above')
            [CompletionResult]::new('--allow-read', '--allow-read', [CompletionResultType]::ParameterName, 'Let files name files below this directory, not only below their own; may be repeated')
            [CompletionResult]::new('--node', '--node', [CompletionResultType]::ParameterName, 'Node id for `ads://`, instead of the bootstrap''s')
            [CompletionResult]::new('--ca', '--ca', [CompletionResultType]::ParameterName, 'Speak TLS, and trust the certificates in this PEM file')
            [CompletionResult]::new('--cert', '--cert', [CompletionResultType]::ParameterName, 'Own certificate chain for mTLS, PEM')
            [CompletionResult]::new('--key', '--key', [CompletionResultType]::ParameterName, 'Private key of --cert, PEM')
            [CompletionResult]::new('--server-name', '--server-name', [CompletionResultType]::ParameterName, 'Name that the server''s certificate must have, if it is not the host')
            [CompletionResult]::new('--token-file', '--token-file', [CompletionResultType]::ParameterName, 'Send the token in this file as `authorization: Bearer`')
            [CompletionResult]::new('--wait', '--wait', [CompletionResultType]::ParameterName, 'Longest wait for all answers together, in seconds; a gRPC client waits 15')
            [CompletionResult]::new('--max-size', '--max-size', [CompletionResultType]::ParameterName, 'Largest size in MiB, of one message and of all that is kept of an `ads://` stream')
            [CompletionResult]::new('--retries', '--retries', [CompletionResultType]::ParameterName, 'How often to try again if the address cannot be reached, after 1 s, 2 s, 4 s, ...')
            [CompletionResult]::new('--client', '--client', [CompletionResultType]::ParameterName, 'Client to simulate, instead of C-core 1.85.1: `go`, `cpp@1.62`; several, as in `go,java,cpp`, are compared')
            [CompletionResult]::new('--in', '--in', [CompletionResultType]::ParameterName, 'World of the channel, if there are several: `xds/prod`, as standard error names it')
            [CompletionResult]::new('--target', '--target', [CompletionResultType]::ParameterName, 'Target of the channel; default is the only API listener')
            [CompletionResult]::new('--authority', '--authority', [CompletionResultType]::ParameterName, 'Authority of the channel, instead of the target''s name')
            [CompletionResult]::new('--route-config', '--route-config', [CompletionResultType]::ParameterName, 'Start at this RouteConfiguration, without a listener and its filters')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'Start at this cluster, without listener and routes')
            [CompletionResult]::new('--resolve', '--resolve', [CompletionResultType]::ParameterName, 'Addresses of a DNS name; may be repeated')
            [CompletionResult]::new('--health', '--health', [CompletionResultType]::ParameterName, 'Health of an endpoint instead of the one in EDS, such as DRAINING; may be repeated')
            [CompletionResult]::new('--remove', '--remove', [CompletionResultType]::ParameterName, 'Endpoint to remove from EDS; may be repeated')
            [CompletionResult]::new('--method', '--method', [CompletionResultType]::ParameterName, 'Method of the RPC [default: /pkg.Service/Method]')
            [CompletionResult]::new('--header', '--header', [CompletionResultType]::ParameterName, 'Metadata of the RPC, also as `NAME: VALUE`; may be repeated')
            [CompletionResult]::new('--cookie', '--cookie', [CompletionResultType]::ParameterName, 'Cookie of the RPC, as a client sends it; may be repeated')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Deadline that the application sets')
            [CompletionResult]::new('--seed', '--seed', [CompletionResultType]::ParameterName, 'Start of the random numbers')
            [CompletionResult]::new('--retry-on', '--retry-on', [CompletionResultType]::ParameterName, 'Show a policy with this retry_on instead of a route''s policy')
            [CompletionResult]::new('--num-retries', '--num-retries', [CompletionResultType]::ParameterName, 'The field num_retries')
            [CompletionResult]::new('--base-interval', '--base-interval', [CompletionResultType]::ParameterName, 'The field retry_back_off.base_interval')
            [CompletionResult]::new('--max-interval', '--max-interval', [CompletionResultType]::ParameterName, 'The field retry_back_off.max_interval')
            [CompletionResult]::new('--script', '--script', [CompletionResultType]::ParameterName, 'Statuses of the attempts in order. The last one repeats. CODE:MS asks for a delay')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--merge', '--merge', [CompletionResultType]::ParameterName, 'Take all inputs for one world: `--world all`')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Use no configuration file')
            [CompletionResult]::new('--show-secrets', '--show-secrets', [CompletionResultType]::ParameterName, 'Print passwords, keys and tokens instead of masking them')
            [CompletionResult]::new('--tls', '--tls', [CompletionResultType]::ParameterName, 'Speak TLS, and trust the system''s certificates')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'xdsctl;cookie' {
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('encode', 'encode', [CompletionResultType]::ParameterValue, 'Write the value of a session cookie')
            [CompletionResult]::new('decode', 'decode', [CompletionResultType]::ParameterValue, 'Read the value of a session cookie')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'xdsctl;cookie;encode' {
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'Cluster that the endpoint is in')
            [CompletionResult]::new('--name', '--name', [CompletionResultType]::ParameterName, 'Name of the cookie, to print NAME=VALUE')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'xdsctl;cookie;decode' {
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'xdsctl;cookie;help' {
            [CompletionResult]::new('encode', 'encode', [CompletionResultType]::ParameterValue, 'Write the value of a session cookie')
            [CompletionResult]::new('decode', 'decode', [CompletionResultType]::ParameterValue, 'Read the value of a session cookie')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'xdsctl;cookie;help;encode' {
            break
        }
        'xdsctl;cookie;help;decode' {
            break
        }
        'xdsctl;cookie;help;help' {
            break
        }
        'xdsctl;init' {
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'xdsctl;config' {
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Print each setting, its value, and where it comes from')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'xdsctl;config;show' {
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Use this configuration file; the default is xdsctl.toml in this directory or one above')
            [CompletionResult]::new('--allow-read', '--allow-read', [CompletionResultType]::ParameterName, 'Let files name files below this directory, not only below their own; may be repeated')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Use no configuration file')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'xdsctl;config;help' {
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Print each setting, its value, and where it comes from')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'xdsctl;config;help;show' {
            break
        }
        'xdsctl;config;help;help' {
            break
        }
        'xdsctl;diff' {
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'Read bare resources and arrays as this type')
            [CompletionResult]::new('--stdin-filename', '--stdin-filename', [CompletionResultType]::ParameterName, 'Name to show for standard input')
            [CompletionResult]::new('--bootstrap', '--bootstrap', [CompletionResultType]::ParameterName, 'Use this gRPC bootstrap file. Without it, certificate providers are not checked')
            [CompletionResult]::new('--env', '--env', [CompletionResultType]::ParameterName, 'Set an environment switch of the client; may be repeated')
            [CompletionResult]::new('--with', '--with', [CompletionResultType]::ParameterName, 'Answer for a program that brings this, too; may be repeated')
            [CompletionResult]::new('--world', '--world', [CompletionResultType]::ParameterName, 'Which files are one world, what one client sees; default is `auto`')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Use this configuration file; the default is xdsctl.toml in this directory or one above')
            [CompletionResult]::new('--allow-read', '--allow-read', [CompletionResultType]::ParameterName, 'Let files name files below this directory, not only below their own; may be repeated')
            [CompletionResult]::new('--node', '--node', [CompletionResultType]::ParameterName, 'Node id for `ads://`, instead of the bootstrap''s')
            [CompletionResult]::new('--ca', '--ca', [CompletionResultType]::ParameterName, 'Speak TLS, and trust the certificates in this PEM file')
            [CompletionResult]::new('--cert', '--cert', [CompletionResultType]::ParameterName, 'Own certificate chain for mTLS, PEM')
            [CompletionResult]::new('--key', '--key', [CompletionResultType]::ParameterName, 'Private key of --cert, PEM')
            [CompletionResult]::new('--server-name', '--server-name', [CompletionResultType]::ParameterName, 'Name that the server''s certificate must have, if it is not the host')
            [CompletionResult]::new('--token-file', '--token-file', [CompletionResultType]::ParameterName, 'Send the token in this file as `authorization: Bearer`')
            [CompletionResult]::new('--wait', '--wait', [CompletionResultType]::ParameterName, 'Longest wait for all answers together, in seconds; a gRPC client waits 15')
            [CompletionResult]::new('--max-size', '--max-size', [CompletionResultType]::ParameterName, 'Largest size in MiB, of one message and of all that is kept of an `ads://` stream')
            [CompletionResult]::new('--retries', '--retries', [CompletionResultType]::ParameterName, 'How often to try again if the address cannot be reached, after 1 s, 2 s, 4 s, ...')
            [CompletionResult]::new('--client', '--client', [CompletionResultType]::ParameterName, 'Clients to ask instead of C-core 1.85.1: `cpp@1.66.2,go,java@1.80,node`, `python@1.70`, `current` or `all`')
            [CompletionResult]::new('--client-from', '--client-from', [CompletionResultType]::ParameterName, 'Ask the clients that sent this: a CSDS dump, or requests, with the user agent of each node')
            [CompletionResult]::new('--target', '--target', [CompletionResultType]::ParameterName, 'Compare only what a channel to this target uses')
            [CompletionResult]::new('--authority', '--authority', [CompletionResultType]::ParameterName, 'Authority of that channel, instead of the target''s name')
            [CompletionResult]::new('--fail-on', '--fail-on', [CompletionResultType]::ParameterName, 'Exit with 1 if this changes, and only then: where RPCs go, or verdicts; or if something was not compared; a list for any')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Form of the report, and the file that it goes to instead of standard output; may be repeated [default: human]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the report')
            [CompletionResult]::new('--merge', '--merge', [CompletionResultType]::ParameterName, 'Take all inputs for one world: `--world all`')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Use no configuration file')
            [CompletionResult]::new('--show-secrets', '--show-secrets', [CompletionResultType]::ParameterName, 'Print passwords, keys and tokens instead of masking them')
            [CompletionResult]::new('--tls', '--tls', [CompletionResultType]::ParameterName, 'Speak TLS, and trust the system''s certificates')
            [CompletionResult]::new('--exit-code', '--exit-code', [CompletionResultType]::ParameterName, 'Exit with 1 if anything changes')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Show every change, and values in full')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'xdsctl;who' {
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'Read bare resources and arrays as this type')
            [CompletionResult]::new('--stdin-filename', '--stdin-filename', [CompletionResultType]::ParameterName, 'Name to show for standard input')
            [CompletionResult]::new('--bootstrap', '--bootstrap', [CompletionResultType]::ParameterName, 'Use this gRPC bootstrap file. Without it, certificate providers are not checked')
            [CompletionResult]::new('--env', '--env', [CompletionResultType]::ParameterName, 'Set an environment switch of the client; may be repeated')
            [CompletionResult]::new('--with', '--with', [CompletionResultType]::ParameterName, 'Answer for a program that brings this, too; may be repeated')
            [CompletionResult]::new('--world', '--world', [CompletionResultType]::ParameterName, 'Which files are one world, what one client sees; default is `auto`')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Use this configuration file; the default is xdsctl.toml in this directory or one above')
            [CompletionResult]::new('--allow-read', '--allow-read', [CompletionResultType]::ParameterName, 'Let files name files below this directory, not only below their own; may be repeated')
            [CompletionResult]::new('--node', '--node', [CompletionResultType]::ParameterName, 'Node id for `ads://`, instead of the bootstrap''s')
            [CompletionResult]::new('--ca', '--ca', [CompletionResultType]::ParameterName, 'Speak TLS, and trust the certificates in this PEM file')
            [CompletionResult]::new('--cert', '--cert', [CompletionResultType]::ParameterName, 'Own certificate chain for mTLS, PEM')
            [CompletionResult]::new('--key', '--key', [CompletionResultType]::ParameterName, 'Private key of --cert, PEM')
            [CompletionResult]::new('--server-name', '--server-name', [CompletionResultType]::ParameterName, 'Name that the server''s certificate must have, if it is not the host')
            [CompletionResult]::new('--token-file', '--token-file', [CompletionResultType]::ParameterName, 'Send the token in this file as `authorization: Bearer`')
            [CompletionResult]::new('--wait', '--wait', [CompletionResultType]::ParameterName, 'Longest wait for all answers together, in seconds; a gRPC client waits 15')
            [CompletionResult]::new('--max-size', '--max-size', [CompletionResultType]::ParameterName, 'Largest size in MiB, of one message and of all that is kept of an `ads://` stream')
            [CompletionResult]::new('--retries', '--retries', [CompletionResultType]::ParameterName, 'How often to try again if the address cannot be reached, after 1 s, 2 s, 4 s, ...')
            [CompletionResult]::new('--in', '--in', [CompletionResultType]::ParameterName, 'Only this world, if there are several: `xds/prod`, as standard error names it')
            [CompletionResult]::new('--type', '--type', [CompletionResultType]::ParameterName, 'Only a resource of this type')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--merge', '--merge', [CompletionResultType]::ParameterName, 'Take all inputs for one world: `--world all`')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Use no configuration file')
            [CompletionResult]::new('--show-secrets', '--show-secrets', [CompletionResultType]::ParameterName, 'Print passwords, keys and tokens instead of masking them')
            [CompletionResult]::new('--tls', '--tls', [CompletionResultType]::ParameterName, 'Speak TLS, and trust the system''s certificates')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Show every place that refers')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'xdsctl;fetch' {
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'File for the dump, instead of standard output. With --raw, `.pb` and `.binpb` are in wire format')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'File for the dump, instead of standard output. With --raw, `.pb` and `.binpb` are in wire format')
            [CompletionResult]::new('--target', '--target', [CompletionResultType]::ParameterName, 'Ask an `ads://` control plane only for what a channel to this target needs; may be repeated')
            [CompletionResult]::new('--scope', '--scope', [CompletionResultType]::ParameterName, 'Take only the client of this `client_scope` of a CSDS answer')
            [CompletionResult]::new('--bootstrap', '--bootstrap', [CompletionResultType]::ParameterName, 'gRPC bootstrap file with the node and the server of `ads://`; default is GRPC_XDS_BOOTSTRAP, GRPC_XDS_BOOTSTRAP_CONFIG')
            [CompletionResult]::new('--env', '--env', [CompletionResultType]::ParameterName, 'Set an environment switch of the client that judges for `ads://`; may be repeated')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Use this configuration file; the default is xdsctl.toml in this directory or one above')
            [CompletionResult]::new('--allow-read', '--allow-read', [CompletionResultType]::ParameterName, 'Let files name files below this directory, not only below their own; may be repeated')
            [CompletionResult]::new('--node', '--node', [CompletionResultType]::ParameterName, 'Node id for `ads://`, instead of the bootstrap''s')
            [CompletionResult]::new('--ca', '--ca', [CompletionResultType]::ParameterName, 'Speak TLS, and trust the certificates in this PEM file')
            [CompletionResult]::new('--cert', '--cert', [CompletionResultType]::ParameterName, 'Own certificate chain for mTLS, PEM')
            [CompletionResult]::new('--key', '--key', [CompletionResultType]::ParameterName, 'Private key of --cert, PEM')
            [CompletionResult]::new('--server-name', '--server-name', [CompletionResultType]::ParameterName, 'Name that the server''s certificate must have, if it is not the host')
            [CompletionResult]::new('--token-file', '--token-file', [CompletionResultType]::ParameterName, 'Send the token in this file as `authorization: Bearer`')
            [CompletionResult]::new('--wait', '--wait', [CompletionResultType]::ParameterName, 'Longest wait for all answers together, in seconds; a gRPC client waits 15')
            [CompletionResult]::new('--max-size', '--max-size', [CompletionResultType]::ParameterName, 'Largest size in MiB, of one message and of all that is kept of an `ads://` stream')
            [CompletionResult]::new('--retries', '--retries', [CompletionResultType]::ParameterName, 'How often to try again if the address cannot be reached, after 1 s, 2 s, 4 s, ...')
            [CompletionResult]::new('--raw', '--raw', [CompletionResultType]::ParameterName, 'Keep passwords, keys and tokens instead of masking them')
            [CompletionResult]::new('--redact', '--redact', [CompletionResultType]::ParameterName, 'Mask passwords, keys and tokens; this is the default')
            [CompletionResult]::new('--partial', '--partial', [CompletionResultType]::ParameterName, 'Write also an incomplete dump. The exit code is still 2')
            [CompletionResult]::new('--watch', '--watch', [CompletionResultType]::ParameterName, 'Keep running, write the dump again after each change, and print a line for each')
            [CompletionResult]::new('--delta', '--delta', [CompletionResultType]::ParameterName, 'Speak Delta to an `ads://` control plane')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print no progress')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print no progress')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Use no configuration file')
            [CompletionResult]::new('--tls', '--tls', [CompletionResultType]::ParameterName, 'Speak TLS, and trust the system''s certificates')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'xdsctl;serve' {
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'Read bare resources and arrays as this type')
            [CompletionResult]::new('--stdin-filename', '--stdin-filename', [CompletionResultType]::ParameterName, 'Name to show for standard input')
            [CompletionResult]::new('--bootstrap', '--bootstrap', [CompletionResultType]::ParameterName, 'Use this gRPC bootstrap file. Without it, certificate providers are not checked')
            [CompletionResult]::new('--env', '--env', [CompletionResultType]::ParameterName, 'Set an environment switch of the client; may be repeated')
            [CompletionResult]::new('--with', '--with', [CompletionResultType]::ParameterName, 'Answer for a program that brings this, too; may be repeated')
            [CompletionResult]::new('--world', '--world', [CompletionResultType]::ParameterName, 'Which files are one world, what one client sees; default is `auto`')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Use this configuration file; the default is xdsctl.toml in this directory or one above')
            [CompletionResult]::new('--allow-read', '--allow-read', [CompletionResultType]::ParameterName, 'Let files name files below this directory, not only below their own; may be repeated')
            [CompletionResult]::new('--node', '--node', [CompletionResultType]::ParameterName, 'Node id for `ads://`, instead of the bootstrap''s')
            [CompletionResult]::new('--ca', '--ca', [CompletionResultType]::ParameterName, 'Speak TLS, and trust the certificates in this PEM file')
            [CompletionResult]::new('--cert', '--cert', [CompletionResultType]::ParameterName, 'Own certificate chain for mTLS, PEM')
            [CompletionResult]::new('--key', '--key', [CompletionResultType]::ParameterName, 'Private key of --cert, PEM')
            [CompletionResult]::new('--server-name', '--server-name', [CompletionResultType]::ParameterName, 'Name that the server''s certificate must have, if it is not the host')
            [CompletionResult]::new('--token-file', '--token-file', [CompletionResultType]::ParameterName, 'Send the token in this file as `authorization: Bearer`')
            [CompletionResult]::new('--wait', '--wait', [CompletionResultType]::ParameterName, 'Longest wait for all answers together, in seconds; a gRPC client waits 15')
            [CompletionResult]::new('--max-size', '--max-size', [CompletionResultType]::ParameterName, 'Largest size in MiB, of one message and of all that is kept of an `ads://` stream')
            [CompletionResult]::new('--retries', '--retries', [CompletionResultType]::ParameterName, 'How often to try again if the address cannot be reached, after 1 s, 2 s, 4 s, ...')
            [CompletionResult]::new('--listen', '--listen', [CompletionResultType]::ParameterName, 'Address to listen on; port 0 for a free one')
            [CompletionResult]::new('--tls-cert', '--tls-cert', [CompletionResultType]::ParameterName, 'Speak TLS with this certificate chain, PEM')
            [CompletionResult]::new('--tls-key', '--tls-key', [CompletionResultType]::ParameterName, 'Private key of --tls-cert, PEM')
            [CompletionResult]::new('--client-ca', '--client-ca', [CompletionResultType]::ParameterName, 'Accept only clients with a certificate from an authority in this PEM file')
            [CompletionResult]::new('--write-bootstrap', '--write-bootstrap', [CompletionResultType]::ParameterName, 'Write the bootstrap for a gRPC client to this file')
            [CompletionResult]::new('--merge', '--merge', [CompletionResultType]::ParameterName, 'Take all inputs for one world: `--world all`')
            [CompletionResult]::new('--no-config', '--no-config', [CompletionResultType]::ParameterName, 'Use no configuration file')
            [CompletionResult]::new('--show-secrets', '--show-secrets', [CompletionResultType]::ParameterName, 'Print passwords, keys and tokens instead of masking them')
            [CompletionResult]::new('--tls', '--tls', [CompletionResultType]::ParameterName, 'Speak TLS, and trust the system''s certificates')
            [CompletionResult]::new('--compare', '--compare', [CompletionResultType]::ParameterName, 'End when the first client disconnects. Exit with 1 if a verdict differs from the prediction')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print only rejections and differences')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print only rejections and differences')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'xdsctl;ui' {
            [CompletionResult]::new('--port', '--port', [CompletionResultType]::ParameterName, 'Port of this machine to listen on; 0 for a free one')
            [CompletionResult]::new('--node', '--node', [CompletionResultType]::ParameterName, 'Node id for `ads://`, instead of the bootstrap''s')
            [CompletionResult]::new('--ca', '--ca', [CompletionResultType]::ParameterName, 'Speak TLS, and trust the certificates in this PEM file')
            [CompletionResult]::new('--cert', '--cert', [CompletionResultType]::ParameterName, 'Own certificate chain for mTLS, PEM')
            [CompletionResult]::new('--key', '--key', [CompletionResultType]::ParameterName, 'Private key of --cert, PEM')
            [CompletionResult]::new('--server-name', '--server-name', [CompletionResultType]::ParameterName, 'Name that the server''s certificate must have, if it is not the host')
            [CompletionResult]::new('--token-file', '--token-file', [CompletionResultType]::ParameterName, 'Send the token in this file as `authorization: Bearer`')
            [CompletionResult]::new('--wait', '--wait', [CompletionResultType]::ParameterName, 'Longest wait for all answers together, in seconds; a gRPC client waits 15')
            [CompletionResult]::new('--max-size', '--max-size', [CompletionResultType]::ParameterName, 'Largest size in MiB, of one message and of all that is kept of an `ads://` stream')
            [CompletionResult]::new('--retries', '--retries', [CompletionResultType]::ParameterName, 'How often to try again if the address cannot be reached, after 1 s, 2 s, 4 s, ...')
            [CompletionResult]::new('--watch', '--watch', [CompletionResultType]::ParameterName, 'Show new versions of what is open as they come')
            [CompletionResult]::new('--tls', '--tls', [CompletionResultType]::ParameterName, 'Speak TLS, and trust the system''s certificates')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'xdsctl;lsp' {
            [CompletionResult]::new('--stdio', '--stdio', [CompletionResultType]::ParameterName, 'Speak on standard input and output, as some editors ask for: there is no other way')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'xdsctl;completions' {
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'xdsctl;mask' {
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'xdsctl;generate' {
            [CompletionResult]::new('--out', '--out', [CompletionResultType]::ParameterName, 'Directory to write to')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'xdsctl;help' {
            [CompletionResult]::new('validate', 'validate', [CompletionResultType]::ParameterValue, 'Say which resources a gRPC client would reject, drop or ignore, and at which field')
            [CompletionResult]::new('explain', 'explain', [CompletionResultType]::ParameterValue, 'Explain a rule or a line of a client''s log, or list all rules')
            [CompletionResult]::new('clients', 'clients', [CompletionResultType]::ParameterValue, 'List the clients that xdsctl knows, and what each has since which version')
            [CompletionResult]::new('tree', 'tree', [CompletionResultType]::ParameterValue, 'Show the tree of LB policies that a channel builds')
            [CompletionResult]::new('route', 'route', [CompletionResultType]::ParameterValue, 'Say which route takes an RPC, and why not the others')
            [CompletionResult]::new('pick', 'pick', [CompletionResultType]::ParameterValue, 'Follow an RPC to its endpoint, with the reason at each layer')
            [CompletionResult]::new('admit', 'admit', [CompletionResultType]::ParameterValue, 'Say which connection a server takes and which RPC it lets in, and why')
            [CompletionResult]::new('test', 'test', [CompletionResultType]::ParameterValue, 'Run suites: what clients, backends and a control plane do over time, and what is expected of it')
            [CompletionResult]::new('simulate', 'simulate', [CompletionResultType]::ParameterValue, 'Show event by event what happens during a test of a suite')
            [CompletionResult]::new('policy', 'policy', [CompletionResultType]::ParameterValue, 'Test the project''s own policies, or write one to start from')
            [CompletionResult]::new('retry', 'retry', [CompletionResultType]::ParameterValue, 'Show what the client makes of a retry policy')
            [CompletionResult]::new('cookie', 'cookie', [CompletionResultType]::ParameterValue, 'Read or write session cookies')
            [CompletionResult]::new('init', 'init', [CompletionResultType]::ParameterValue, 'Write an xdsctl.toml with the defaults')
            [CompletionResult]::new('config', 'config', [CompletionResultType]::ParameterValue, 'Show the settings of the project')
            [CompletionResult]::new('diff', 'diff', [CompletionResultType]::ParameterValue, 'Say what changes for a client from one configuration to another')
            [CompletionResult]::new('who', 'who', [CompletionResultType]::ParameterValue, 'Say what refers to a resource, and what it leads to')
            [CompletionResult]::new('fetch', 'fetch', [CompletionResultType]::ParameterValue, 'Save what a running client, proxy or control plane has as one dump')
            [CompletionResult]::new('serve', 'serve', [CompletionResultType]::ParameterValue, 'Serve a dump to real clients, and compare their verdicts with the prediction')
            [CompletionResult]::new('ui', 'ui', [CompletionResultType]::ParameterValue, 'Show all of it in a browser: what a client holds, where RPCs go, and what if')
            [CompletionResult]::new('lsp', 'lsp', [CompletionResultType]::ParameterValue, 'Serve an editor: findings, meanings and names while one types')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Print the completion script of a shell')
            [CompletionResult]::new('mask', 'mask', [CompletionResultType]::ParameterValue, 'Print a document as a report may quote it')
            [CompletionResult]::new('generate', 'generate', [CompletionResultType]::ParameterValue, 'Write the man pages')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'xdsctl;help;validate' {
            break
        }
        'xdsctl;help;explain' {
            break
        }
        'xdsctl;help;clients' {
            break
        }
        'xdsctl;help;tree' {
            break
        }
        'xdsctl;help;route' {
            break
        }
        'xdsctl;help;pick' {
            break
        }
        'xdsctl;help;admit' {
            break
        }
        'xdsctl;help;test' {
            break
        }
        'xdsctl;help;simulate' {
            break
        }
        'xdsctl;help;policy' {
            [CompletionResult]::new('test', 'test', [CompletionResultType]::ParameterValue, 'Run the cases of policies: what each must accept and reject')
            [CompletionResult]::new('new', 'new', [CompletionResultType]::ParameterValue, 'Print a policy about what stands in a line of a file')
            [CompletionResult]::new('schema', 'schema', [CompletionResultType]::ParameterValue, 'Print the JSON Schema of what an expression may look at')
            break
        }
        'xdsctl;help;policy;test' {
            break
        }
        'xdsctl;help;policy;new' {
            break
        }
        'xdsctl;help;policy;schema' {
            break
        }
        'xdsctl;help;retry' {
            break
        }
        'xdsctl;help;cookie' {
            [CompletionResult]::new('encode', 'encode', [CompletionResultType]::ParameterValue, 'Write the value of a session cookie')
            [CompletionResult]::new('decode', 'decode', [CompletionResultType]::ParameterValue, 'Read the value of a session cookie')
            break
        }
        'xdsctl;help;cookie;encode' {
            break
        }
        'xdsctl;help;cookie;decode' {
            break
        }
        'xdsctl;help;init' {
            break
        }
        'xdsctl;help;config' {
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Print each setting, its value, and where it comes from')
            break
        }
        'xdsctl;help;config;show' {
            break
        }
        'xdsctl;help;diff' {
            break
        }
        'xdsctl;help;who' {
            break
        }
        'xdsctl;help;fetch' {
            break
        }
        'xdsctl;help;serve' {
            break
        }
        'xdsctl;help;ui' {
            break
        }
        'xdsctl;help;lsp' {
            break
        }
        'xdsctl;help;completions' {
            break
        }
        'xdsctl;help;mask' {
            break
        }
        'xdsctl;help;generate' {
            break
        }
        'xdsctl;help;help' {
            break
        }
    })

    $completions.Where{ $_.CompletionText -like "$wordToComplete*" } |
        Sort-Object -Property ListItemText
}
