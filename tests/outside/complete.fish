# Loads the completions into fish and asks them.
xdsctl completions fish | source
or exit 1
function expect --argument-names wanted line
    if not complete --do-complete "$line" | string replace --regex '\t.*' '' | string match --quiet -- "$wanted"
        echo "no `$wanted` for `$line`"
        exit 1
    end
end
expect validate 'xdsctl val'
expect --fail-on 'xdsctl validate --fail'
expect cds-lb-policy-unsupported 'xdsctl validate -D cds-lb-pol'
expect sarif 'xdsctl validate --format sa'
expect tests/outside.sh 'xdsctl validate tests/outside.s'
