#!/bin/sh
# Fills fuzz/corpus with the documents of fixtures/ and with the examples of the rules' pages.
set -eu
cd "$(dirname "$0")/.."
for target in json yaml textproto binary any_bytes_to_validate transcode_differential; do
    mkdir -p "fuzz/corpus/$target"
done
# Documents by their ending; none larger than 64 KiB, which is what a fuzzer gets through quickly.
find fixtures -type f -size -64k | while read -r file; do
    name=$(echo "$file" | tr / _)
    case $file in
        *.json | *.jsonl) cp "$file" "fuzz/corpus/json/$name" ;;
        *.yaml | *.yml) cp "$file" "fuzz/corpus/yaml/$name" ;;
        *.textproto | *.txtpb) cp "$file" "fuzz/corpus/textproto/$name" ;;
        *.pb | *.binpb) cp "$file" "fuzz/corpus/binary/$name" ;;
    esac
    cp "$file" "fuzz/corpus/any_bytes_to_validate/$name"
done
# Fenced examples: their info string is the format.
awk '
    /^```[a-z]+$/ { kind = substr($0, 4); n++; next }
    /^```$/ { kind = ""; next }
    kind == "json" || kind == "yaml" || kind == "textproto" {
        stem = FILENAME
        gsub(/.*\/|\.md$/, "", stem)
        print > ("fuzz/corpus/" kind "/" stem "-" n)
    }
' src/explain/*.md
cp fuzz/corpus/json/* fuzz/corpus/yaml/* fuzz/corpus/textproto/* fuzz/corpus/any_bytes_to_validate/ 2>/dev/null || true
# Recorded resources: one JSON message a line.
for file in fixtures/conformance/*.jsonl.gz; do
    gzip -dc "$file" | awk -v stem="$(basename "$file" .jsonl.gz)" '
        NR % 20 == 0 && length($0) < 8192 { out = "fuzz/corpus/json/" stem "-" NR; print > out; close(out) }
    '
done
# ... and the same as wire format, an Any each. For the differential target the message in it (what follows the lengths of
# the type URL and of the value is close enough), after a byte that chooses the type and says that wire format follows.
gzip -dc fixtures/conformance/rules-*.jsonl.gz fixtures/conformance/validate.jsonl.gz |
    sed -n 's/.*"kind": *"\([a-z]*\)".*"any_b64": *"\([A-Za-z0-9+/=]*\)".*/\1 \2/p' |
    awk 'NR % 10 == 0 && length($2) < 8192' |
    while read -r kind any; do
        n=$((${n:-0} + 1))
        file="fuzz/corpus/binary/$kind-$n"
        printf %s "$any" | base64 -d >"$file"
        case $kind in
            cds) type='\200' ;;
            eds) type='\201' ;;
            rds) type='\202' ;;
            *) type='\203' ;;
        esac
        url=$(($(od -An -tu1 -j1 -N1 "$file") + 2))
        size=$(od -An -tu1 -j$((url + 1)) -N1 "$file")
        test -n "$size" || continue
        skip=$((url + 2))
        test "$size" -lt 128 || skip=$((url + 3))
        { printf "$type"; tail -c +$((skip + 1)) "$file"; } >"fuzz/corpus/transcode_differential/$kind-$n"
    done
cp fuzz/corpus/binary/* fuzz/corpus/any_bytes_to_validate/
