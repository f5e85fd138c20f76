
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
            [CompletionResult]::new('explain', 'explain', [CompletionResultType]::ParameterValue, 'Explain a rule, or list all rules')
            [CompletionResult]::new('tree', 'tree', [CompletionResultType]::ParameterValue, 'Show the tree of LB policies that a channel builds')
            [CompletionResult]::new('route', 'route', [CompletionResultType]::ParameterValue, 'Say which route takes an RPC, and why not the others')
            [CompletionResult]::new('pick', 'pick', [CompletionResultType]::ParameterValue, 'Follow an RPC to its endpoint, with the reason at each layer')
            [CompletionResult]::new('retry', 'retry', [CompletionResultType]::ParameterValue, 'Show what becomes of a retry policy')
            [CompletionResult]::new('cookie', 'cookie', [CompletionResultType]::ParameterValue, 'Read or write session cookies')
            [CompletionResult]::new('generate', 'generate', [CompletionResultType]::ParameterValue, 'Write man pages or shell completions')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'xdsctl;validate' {
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'Take bare resources and arrays for this type')
            [CompletionResult]::new('--stdin-filename', '--stdin-filename', [CompletionResultType]::ParameterName, 'Name to show for standard input')
            [CompletionResult]::new('--bootstrap', '--bootstrap', [CompletionResultType]::ParameterName, 'Use this gRPC bootstrap file: certificate providers (not checked without it), trusted servers, authorities')
            [CompletionResult]::new('--env', '--env', [CompletionResultType]::ParameterName, 'Set an environment switch of the client; may be repeated')
            [CompletionResult]::new('--client', '--client', [CompletionResultType]::ParameterName, 'Clients to ask instead of C-core 1.85.1: `cpp@1.66.2,go,java@1.80,node`, `python@1.70`, `current` or `all`')
            [CompletionResult]::new('--target', '--target', [CompletionResultType]::ParameterName, 'Check also what becomes of a channel to this target, which gets nothing but the input')
            [CompletionResult]::new('--authority', '--authority', [CompletionResultType]::ParameterName, 'Authority of that channel, instead of the target''s name')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Form of the report, and the file that it goes to instead of standard output; may be repeated')
            [CompletionResult]::new('--fail-on', '--fail-on', [CompletionResultType]::ParameterName, 'Exit with 1 if a finding is at least this severe')
            [CompletionResult]::new('--min-severity', '--min-severity', [CompletionResultType]::ParameterName, 'Show findings of at least this severity, count the others [default: warning, in JSON note]')
            [CompletionResult]::new('--show', '--show', [CompletionResultType]::ParameterName, 'Print also what the client keeps of each accepted resource')
            [CompletionResult]::new('-D', '-D ', [CompletionResultType]::ParameterName, 'Make findings of these rules, families, effects or `all` errors; the last of -D, -W and -A counts')
            [CompletionResult]::new('--deny', '--deny', [CompletionResultType]::ParameterName, 'Make findings of these rules, families, effects or `all` errors; the last of -D, -W and -A counts')
            [CompletionResult]::new('-W', '-W ', [CompletionResultType]::ParameterName, 'Make them warnings')
            [CompletionResult]::new('--warn', '--warn', [CompletionResultType]::ParameterName, 'Make them warnings')
            [CompletionResult]::new('-A', '-A ', [CompletionResultType]::ParameterName, 'Drop them; RULE=FIELD,... means these fields only')
            [CompletionResult]::new('--allow', '--allow', [CompletionResultType]::ParameterName, 'Drop them; RULE=FIELD,... means these fields only')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the report')
            [CompletionResult]::new('--merge', '--merge', [CompletionResultType]::ParameterName, 'Take all inputs for one world')
            [CompletionResult]::new('--show-secrets', '--show-secrets', [CompletionResultType]::ParameterName, 'Print passwords, keys and tokens instead of masking them')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Show every finding, also the thousandth of its kind')
            [CompletionResult]::new('--statistics', '--statistics', [CompletionResultType]::ParameterName, 'Write how often there was each rule instead of the findings')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Write findings only: no summary, no progress')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Write findings only: no summary, no progress')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'xdsctl;explain' {
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--list', '--list', [CompletionResultType]::ParameterName, 'List all rules')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'xdsctl;tree' {
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'Take bare resources and arrays for this type')
            [CompletionResult]::new('--stdin-filename', '--stdin-filename', [CompletionResultType]::ParameterName, 'Name to show for standard input')
            [CompletionResult]::new('--bootstrap', '--bootstrap', [CompletionResultType]::ParameterName, 'Use this gRPC bootstrap file: certificate providers (not checked without it), trusted servers, authorities')
            [CompletionResult]::new('--env', '--env', [CompletionResultType]::ParameterName, 'Set an environment switch of the client; may be repeated')
            [CompletionResult]::new('--target', '--target', [CompletionResultType]::ParameterName, 'Target of the channel; default is the only API listener')
            [CompletionResult]::new('--authority', '--authority', [CompletionResultType]::ParameterName, 'Authority of the channel, instead of the target''s name')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'Start at this cluster, without listener and routes')
            [CompletionResult]::new('--resolve', '--resolve', [CompletionResultType]::ParameterName, 'Addresses of a DNS name; may be repeated')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--layout', '--layout', [CompletionResultType]::ParameterName, 'Which client''s tree')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the text')
            [CompletionResult]::new('--merge', '--merge', [CompletionResultType]::ParameterName, 'Take all inputs for one world')
            [CompletionResult]::new('--show-secrets', '--show-secrets', [CompletionResultType]::ParameterName, 'Print passwords, keys and tokens instead of masking them')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Show everything that is dropped, also the hundredth of its kind')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'xdsctl;route' {
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'Take bare resources and arrays for this type')
            [CompletionResult]::new('--stdin-filename', '--stdin-filename', [CompletionResultType]::ParameterName, 'Name to show for standard input')
            [CompletionResult]::new('--bootstrap', '--bootstrap', [CompletionResultType]::ParameterName, 'Use this gRPC bootstrap file: certificate providers (not checked without it), trusted servers, authorities')
            [CompletionResult]::new('--env', '--env', [CompletionResultType]::ParameterName, 'Set an environment switch of the client; may be repeated')
            [CompletionResult]::new('--target', '--target', [CompletionResultType]::ParameterName, 'Target of the channel; default is the only API listener')
            [CompletionResult]::new('--authority', '--authority', [CompletionResultType]::ParameterName, 'Authority of the channel, instead of the target''s name')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'Start at this cluster, without listener and routes')
            [CompletionResult]::new('--resolve', '--resolve', [CompletionResultType]::ParameterName, 'Addresses of a DNS name; may be repeated')
            [CompletionResult]::new('--method', '--method', [CompletionResultType]::ParameterName, 'Method of the RPC')
            [CompletionResult]::new('--header', '--header', [CompletionResultType]::ParameterName, 'Metadata of the RPC; may be repeated')
            [CompletionResult]::new('--cookie', '--cookie', [CompletionResultType]::ParameterName, 'Cookie of the RPC, as a client sends it; may be repeated')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Deadline that the application sets')
            [CompletionResult]::new('--seed', '--seed', [CompletionResultType]::ParameterName, 'Start of the random numbers')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the text')
            [CompletionResult]::new('--merge', '--merge', [CompletionResultType]::ParameterName, 'Take all inputs for one world')
            [CompletionResult]::new('--show-secrets', '--show-secrets', [CompletionResultType]::ParameterName, 'Print passwords, keys and tokens instead of masking them')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'xdsctl;pick' {
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'Take bare resources and arrays for this type')
            [CompletionResult]::new('--stdin-filename', '--stdin-filename', [CompletionResultType]::ParameterName, 'Name to show for standard input')
            [CompletionResult]::new('--bootstrap', '--bootstrap', [CompletionResultType]::ParameterName, 'Use this gRPC bootstrap file: certificate providers (not checked without it), trusted servers, authorities')
            [CompletionResult]::new('--env', '--env', [CompletionResultType]::ParameterName, 'Set an environment switch of the client; may be repeated')
            [CompletionResult]::new('--target', '--target', [CompletionResultType]::ParameterName, 'Target of the channel; default is the only API listener')
            [CompletionResult]::new('--authority', '--authority', [CompletionResultType]::ParameterName, 'Authority of the channel, instead of the target''s name')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'Start at this cluster, without listener and routes')
            [CompletionResult]::new('--resolve', '--resolve', [CompletionResultType]::ParameterName, 'Addresses of a DNS name; may be repeated')
            [CompletionResult]::new('--method', '--method', [CompletionResultType]::ParameterName, 'Method of the RPC')
            [CompletionResult]::new('--header', '--header', [CompletionResultType]::ParameterName, 'Metadata of the RPC; may be repeated')
            [CompletionResult]::new('--cookie', '--cookie', [CompletionResultType]::ParameterName, 'Cookie of the RPC, as a client sends it; may be repeated')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Deadline that the application sets')
            [CompletionResult]::new('--seed', '--seed', [CompletionResultType]::ParameterName, 'Start of the random numbers')
            [CompletionResult]::new('--count', '--count', [CompletionResultType]::ParameterName, 'Send the RPC this often and show the shares')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Give the RPC the session cookie of this address')
            [CompletionResult]::new('--address', '--address', [CompletionResultType]::ParameterName, 'Say where this address stands in the tree, instead of sending an RPC')
            [CompletionResult]::new('--reachable', '--reachable', [CompletionResultType]::ParameterName, 'Addresses that answer, all others refuse; without it all answer')
            [CompletionResult]::new('--down', '--down', [CompletionResultType]::ParameterName, 'Address, locality or cluster that refuses connections; may be repeated')
            [CompletionResult]::new('--state', '--state', [CompletionResultType]::ParameterName, 'State that the connection to an address is in; may be repeated')
            [CompletionResult]::new('--eject', '--eject', [CompletionResultType]::ParameterName, 'Address that outlier detection has ejected; may be repeated')
            [CompletionResult]::new('--respond', '--respond', [CompletionResultType]::ParameterName, 'Let the first N attempts of each RPC fail with this code')
            [CompletionResult]::new('--requests', '--requests', [CompletionResultType]::ParameterName, 'Play these steps on the channel, one JSON object a line; `-` is standard input')
            [CompletionResult]::new('--max-events', '--max-events', [CompletionResultType]::ParameterName, 'Most events of one RPC or step, after which the simulation ends with an error')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to colour the text')
            [CompletionResult]::new('--merge', '--merge', [CompletionResultType]::ParameterName, 'Take all inputs for one world')
            [CompletionResult]::new('--show-secrets', '--show-secrets', [CompletionResultType]::ParameterName, 'Print passwords, keys and tokens instead of masking them')
            [CompletionResult]::new('--wait-for-ready', '--wait-for-ready', [CompletionResultType]::ParameterName, 'Wait for a connection instead of failing')
            [CompletionResult]::new('--explain', '--explain', [CompletionResultType]::ParameterName, 'Tell everything, also picks that were queued')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'xdsctl;retry' {
            [CompletionResult]::new('--as', '--as', [CompletionResultType]::ParameterName, 'Take bare resources and arrays for this type')
            [CompletionResult]::new('--stdin-filename', '--stdin-filename', [CompletionResultType]::ParameterName, 'Name to show for standard input')
            [CompletionResult]::new('--bootstrap', '--bootstrap', [CompletionResultType]::ParameterName, 'Use this gRPC bootstrap file: certificate providers (not checked without it), trusted servers, authorities')
            [CompletionResult]::new('--env', '--env', [CompletionResultType]::ParameterName, 'Set an environment switch of the client; may be repeated')
            [CompletionResult]::new('--target', '--target', [CompletionResultType]::ParameterName, 'Target of the channel; default is the only API listener')
            [CompletionResult]::new('--authority', '--authority', [CompletionResultType]::ParameterName, 'Authority of the channel, instead of the target''s name')
            [CompletionResult]::new('--cluster', '--cluster', [CompletionResultType]::ParameterName, 'Start at this cluster, without listener and routes')
            [CompletionResult]::new('--resolve', '--resolve', [CompletionResultType]::ParameterName, 'Addresses of a DNS name; may be repeated')
            [CompletionResult]::new('--method', '--method', [CompletionResultType]::ParameterName, 'Method of the RPC')
            [CompletionResult]::new('--header', '--header', [CompletionResultType]::ParameterName, 'Metadata of the RPC; may be repeated')
            [CompletionResult]::new('--cookie', '--cookie', [CompletionResultType]::ParameterName, 'Cookie of the RPC, as a client sends it; may be repeated')
            [CompletionResult]::new('--timeout', '--timeout', [CompletionResultType]::ParameterName, 'Deadline that the application sets')
            [CompletionResult]::new('--seed', '--seed', [CompletionResultType]::ParameterName, 'Start of the random numbers')
            [CompletionResult]::new('--retry-on', '--retry-on', [CompletionResultType]::ParameterName, 'Show this policy instead of a route''s: the field retry_on')
            [CompletionResult]::new('--num-retries', '--num-retries', [CompletionResultType]::ParameterName, 'The field num_retries')
            [CompletionResult]::new('--base-interval', '--base-interval', [CompletionResultType]::ParameterName, 'The field retry_back_off.base_interval')
            [CompletionResult]::new('--max-interval', '--max-interval', [CompletionResultType]::ParameterName, 'The field retry_back_off.max_interval')
            [CompletionResult]::new('--script', '--script', [CompletionResultType]::ParameterName, 'Statuses of the attempts in order, the last one for all that follow; CODE:MS asks for a delay')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'Output format')
            [CompletionResult]::new('--merge', '--merge', [CompletionResultType]::ParameterName, 'Take all inputs for one world')
            [CompletionResult]::new('--show-secrets', '--show-secrets', [CompletionResultType]::ParameterName, 'Print passwords, keys and tokens instead of masking them')
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
        'xdsctl;generate' {
            [CompletionResult]::new('--out', '--out', [CompletionResultType]::ParameterName, 'Directory to write to')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'xdsctl;help' {
            [CompletionResult]::new('validate', 'validate', [CompletionResultType]::ParameterValue, 'Say which resources a gRPC client would reject, drop or ignore, and at which field')
            [CompletionResult]::new('explain', 'explain', [CompletionResultType]::ParameterValue, 'Explain a rule, or list all rules')
            [CompletionResult]::new('tree', 'tree', [CompletionResultType]::ParameterValue, 'Show the tree of LB policies that a channel builds')
            [CompletionResult]::new('route', 'route', [CompletionResultType]::ParameterValue, 'Say which route takes an RPC, and why not the others')
            [CompletionResult]::new('pick', 'pick', [CompletionResultType]::ParameterValue, 'Follow an RPC to its endpoint, with the reason at each layer')
            [CompletionResult]::new('retry', 'retry', [CompletionResultType]::ParameterValue, 'Show what becomes of a retry policy')
            [CompletionResult]::new('cookie', 'cookie', [CompletionResultType]::ParameterValue, 'Read or write session cookies')
            [CompletionResult]::new('generate', 'generate', [CompletionResultType]::ParameterValue, 'Write man pages or shell completions')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'xdsctl;help;validate' {
            break
        }
        'xdsctl;help;explain' {
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
