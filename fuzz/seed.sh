#!/bin/sh
# Fills fuzz/corpus with the documents of fixtures/ and with the examples of the rules' pages.
set -eu
cd "$(dirname "$0")/.."
corpus=fuzz/corpus
for target in json yaml textproto binary any_bytes_to_validate transcode_differential; do
    mkdir -p "$corpus/$target"
done
# Documents by their ending; none larger than 8 KiB, which is what the targets look at.
find fixtures -type f -size -8k | while read -r file; do
    name=$(echo "$file" | tr / _)
    case $file in
        *.json | *.jsonl) cp "$file" "$corpus/json/$name" ;;
        *.yaml | *.yml) cp "$file" "$corpus/yaml/$name" ;;
        *.textproto | *.txtpb) cp "$file" "$corpus/textproto/$name" ;;
        *.pb | *.binpb) cp "$file" "$corpus/binary/$name" ;;
    esac
    cp "$file" "$corpus/any_bytes_to_validate/$name"
done
# Fenced examples: their info string is the format.
awk -v corpus="$corpus" '
    /^```[a-z]+$/ { kind = substr($0, 4); n++; next }
    /^```$/ { kind = ""; next }
    kind == "json" || kind == "yaml" || kind == "textproto" {
        stem = FILENAME
        gsub(/.*\/|\.md$/, "", stem)
        print > (corpus "/" kind "/" stem "-" n)
        # A resource a line, but for those that are spread over several.
        if (kind == "json" && /^\{"@type".*\}$/) print > (corpus "/transcode_differential/" stem "-" n)
    }
' crates/*/pages/*.md
cp "$corpus"/json/* "$corpus"/yaml/* "$corpus"/textproto/* "$corpus/any_bytes_to_validate/" 2>/dev/null || true
# Recorded resources, an Any each.
resources() {
    for file in fixtures/conformance/*.jsonl.gz; do
        gzip -dc "$file" | sed -n 's/.*"resource": *\({.*}\), *"verdict":.*/\1/p'
    done
}
resources | awk -v corpus="$corpus" '
    NR % 10 == 0 && length($0) < 8192 {
        out = corpus "/transcode_differential/recorded-" NR; print > out; close(out)
        out = corpus "/json/recorded-" NR; if (NR % 20 == 0) print > out; close(out)
    }
'
# Those without an Any inside are text format but for their keys and braces.
resources | sed -n 's/^{"@type": *"[^"\/]*\/\([^"]*\)", *\(.*\)}$/\1 \2/p' | sed '/"@type"/d; s/"\([a-z_0-9]*\)": */\1: /g; s/: "\([A-Z][A-Z_0-9]*\)"/: \1/g' |
    awk -v corpus="$corpus" '
        NR % 10 == 0 && length($0) < 8192 {
            out = corpus "/textproto/recorded-" NR
            print "# proto-message: " $1 > out
            sub(/^[^ ]* /, "")
            print > out; close(out)
        }
    '
# The same as wire format.
gzip -dc fixtures/conformance/*.jsonl.gz |
    sed -n 's/.*"kind": *"\([a-z]*\)".*"any_b64": *"\([A-Za-z0-9+/=]*\)".*/\1 \2/p' |
    awk 'NR % 10 == 0 && length($2) < 8192' |
    while read -r kind any; do
        n=$((${n:-0} + 1))
        printf %s "$any" | base64 -d >"$corpus/binary/$kind-$n"
    done
cp "$corpus"/binary/* "$corpus/any_bytes_to_validate/"
cp "$corpus"/binary/* "$corpus/transcode_differential/"
# Parts of rows, commands of the documentation, and the dictionary.
cargo run --quiet -p xdsctl-fuzz --example seed -- "$corpus"
