//! The reader and the parser agree.

use super::*;
use crate::source::Span;
use crate::source::yaml::parsed;

const SAMPLE: &str = "\
# A dump.
resources:
- '@type': type.googleapis.com/envoy.config.cluster.v3.Cluster
  name: outbound|80||a.b # name
  empty:
  list:
    - 1
    -
    - - a
      - b: -5
        c: 0x1f
  map: {a: b, \"c\": [1, {d: e f}], g: {}}
  quoted: \"a # b: c\"
  url: http://a:80/b#c
  after:

    deep: {}
other: [a, 'b c', ~, true]
---
x: y
";

const TEXTS: &str = "\
a: |
  one
    two

  three
b:
  - >-

    folded
    on

      kept
    end
  - |2+
      x

  - \"tab\\t \\u00e9 \\ud83d\\ude00 \\x41\\/\\\\\"
  - 'it''s'
c: plain text that
  goes on
  and on
d: é # ü
e: &e 1
f: &f
  x: 1
  y: [1, 2]
g: *e
h:
  <<: *f
  y: 3
i: &i
- *f
- &k {a: b}
---
l: >+
  t
\t
m: &m {q: 1}
n:
  - <<: [*m, *m]
    r: *m
";

/// The reader agrees with the parser, or leaves the text to it; says which.
#[track_caller]
fn agrees(text: &str) -> bool {
    let parsed = parsed(text);
    let whole = crate::source::yaml::view(text);
    compare(text, &whole, &parsed);
    assert_eq!(whole.faults, parsed.faults, "{text:?}");
    match read(text, false) {
        Some((read, _)) => {
            compare(text, &read, &parsed);
            assert_eq!(parsed.faults, [], "{text:?}");
            true
        }
        None => false,
    }
}

#[track_caller]
fn compare(text: &str, read: &View, parsed: &View) {
    let json = |view: &View| String::from_utf8_lossy(&view.json).into_owned();
    assert_eq!(json(read), json(parsed), "{text:?}");
    assert_eq!(read.parts, parsed.parts, "{text:?}");
    assert_eq!(read.tokens.len(), parsed.tokens.len(), "{text:?}");
    for (a, b) in read.tokens.iter().zip(&parsed.tokens) {
        let at = a.at as usize;
        assert_eq!(a.at, b.at, "{text:?}");
        // Brackets and missing values of block style have no text of their own.
        if !matches!(read.json[at], b'[' | b']' | b'{' | b'}' | b'n') {
            assert_eq!((a.start, a.end), (b.start, b.end), "{text:?} {}", &json(read)[at..]);
        }
        if read.json[at] == b'{' {
            assert_eq!(a.start, b.start, "{text:?} {}", &json(read)[at..]);
        }
    }
}

#[test]
fn what_programs_write_is_read() {
    assert!(agrees(SAMPLE));
    let view = view(SAMPLE).unwrap();
    let at = view.json.windows(4).position(|w| w == b"0x1f").or_else(|| {
        let text = String::from_utf8_lossy(&view.json).into_owned();
        text.find("\\u0030x1f").map(|at| at - 1)
    });
    let place = view.to_document(Span::new(at.unwrap(), at.unwrap() + 1));
    assert_eq!(&SAMPLE[place.range()], "0x1f");
}

#[test]
fn what_is_not_simple_is_left_to_the_parser() {
    for text in [
        "a: *x",
        "a: &x [*x]",
        "a: &x\nb: 1",
        "- &x a: 1",
        "a: {<<: *x}",
        "<<: *x",
        "a: |\nb: 1",
        "a: |0\n  x",
        "a: |\n   \n  x",
        "a: \"\\q\"",
        "a: \"\\ud83d\"",
        "a: b\n\n  c",
        "a: \"b\n  c\"",
        "a: !t 1",
        "a:\n  b",
        "a: b: c",
        "? a",
        "a: [1,\n 2]",
        "a: [1, ]",
        "a: {b}",
        "a: [b: c]",
        "\ta: 1",
        "a: 1\r\n",
        "é: 1",
        "a: %x",
        "a: @x",
        "a",
        "a: 1\n...\n",
        "%YAML 1.2\n---\na: 1",
        "<<: 1",
        "- a\nb: c",
        "a: 1\n- b",
        "a: 1\n b: 2",
        "  a: 1\nb: 2",
        "--- a",
    ] {
        assert!(!agrees(text), "{text:?}");
    }
}

#[test]
fn changed_texts_agree_with_the_parser() {
    // A million texts in 30 rounds, other ones than in one round.
    let rounds: usize = option_env!("XDSCTL_YAML_ROUNDS").map_or(1, |rounds| rounds.parse().unwrap());
    let mut random = 6 + u32::try_from(rounds).unwrap();
    let mut next = |below: usize| {
        random ^= random << 13;
        random ^= random >> 17;
        random ^= random << 5;
        random as usize % below
    };
    let pieces: Vec<&str> = "a|b: |- |  |\n|: |:|#| #|'|\"|{|}|[|]|, |,|-|---\n|~|1|0x|.5|true|null|\n  |\n- |\n    - |a: b\n|? |& |* |! |% |@ |<<: |=|..."
        .split('|')
        .chain(["|", "| ", ">", "|\n", ">\n", "|-\n", ">+\n", "|2", "1+", "\n\n", " \n", "\n      ", "\t", "é"])
        .chain(["\\n", "\\u00e9", "\\x4", "\\", "\\ud83d\\ude00", "''", "&a ", "&a\n", "*a", "*a\n", "<<: *a\n", "[*a]"])
        .chain(["a: &a\n", "a: &a 1\n", "a: |\n  x\n", "- &a\n  b: 1\n", "text on\n", "\n  more", "\u{85}", "\u{feff}"])
        .collect();
    let mut read = 0;
    for round in 0..6000 * rounds {
        let mut text = if round % 2 == 0 { SAMPLE } else { TEXTS }.to_owned();
        for _ in 0..=next(3) {
            let (at, length) = (next(text.len()), next(6));
            let end = (at + length).min(text.len());
            if text.is_char_boundary(at) && text.is_char_boundary(end) {
                text.replace_range(at..end, pieces[next(pieces.len())]);
            }
        }
        read += usize::from(agrees(&text));
    }
    for _ in 0..30_000 * rounds {
        let count = 1 + next(12);
        let text: String = (0..count).map(|_| pieces[next(pieces.len())]).collect();
        read += usize::from(agrees(&text));
    }
    assert!(read > 1500 * rounds, "{read}");
}

#[test]
fn texts_of_many_lines_are_read() {
    assert!(agrees(TEXTS.replace("\n\t\n", "\n").as_str()));
    for end in 0..TEXTS.len() {
        if let Some(prefix) = TEXTS.get(..end) {
            agrees(prefix);
        }
    }
}

#[test]
fn a_document_is_left_to_the_parser_and_others_are_not() {
    let text = "a: 1\n---\nb: !t 2\n---\nc: 3\n";
    assert!(!agrees(text));
    let (_, alone) = read(text, true).unwrap();
    assert!(!alone);
    // What is wrong is told by the parser of the whole.
    assert!(read("a: 1\n---\nb: [\n---\nc: 3\n", true).is_none());
}

#[test]
fn del_may_be_in_quoted_scalars() {
    let view = view("a: \"x\u{7f}\"\nb: '\u{7f}'\n").unwrap();
    assert_eq!(view.json, b"{\"a\":\"x\x7f\",\"b\":\"\x7f\"}\n");
    for text in ["a: \u{7f}", "a: 1 # \u{7f}", "a: |\n  \u{7f}", "a: \"\u{7f}\" # \u{7f}"] {
        assert!(!agrees(text), "{text:?}");
    }
}
