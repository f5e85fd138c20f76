
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
            cand generate 'Write man pages or shell completions'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'xdsctl;validate'= {
            cand --as 'Take bare resources and arrays for this type'
            cand --stdin-filename 'Name to show for standard input'
            cand --bootstrap 'Use this gRPC bootstrap file: certificate providers, trusted servers, authorities'
            cand --env 'Set an environment switch of the client; may be repeated'
            cand --format 'Output format'
            cand --fail-on 'Exit with 1 if a finding is at least this severe'
            cand --min-severity 'Show findings of at least this severity, count the others'
            cand --show 'Print also what the client keeps of each accepted resource'
            cand -D 'Make findings of this rule or effect errors; may be repeated'
            cand --deny 'Make findings of this rule or effect errors; may be repeated'
            cand -W 'Make findings of this rule or effect warnings; may be repeated'
            cand --warn 'Make findings of this rule or effect warnings; may be repeated'
            cand -A 'Drop findings of this rule or effect; may be repeated'
            cand --allow 'Drop findings of this rule or effect; may be repeated'
            cand --color 'When to colour the report'
            cand --merge 'Take all inputs for one world'
            cand --no-mmap 'Read large files instead of mapping them'
            cand --all 'Show every finding, also the thousandth of its kind'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'xdsctl;explain'= {
            cand --format 'Output format'
            cand --list 'List all rules'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'xdsctl;generate'= {
            cand --out 'Directory to write to'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
        }
        &'xdsctl;help'= {
            cand validate 'Say which resources a gRPC client would reject, drop or ignore, and at which field'
            cand explain 'Explain a rule, or list all rules'
            cand generate 'Write man pages or shell completions'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'xdsctl;help;validate'= {
        }
        &'xdsctl;help;explain'= {
        }
        &'xdsctl;help;generate'= {
        }
        &'xdsctl;help;help'= {
        }
    ]
    $completions[$command]
}
