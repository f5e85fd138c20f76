//! YAML to JSON: forms, anchors, faults, places.

use super::*;

fn json(text: &str) -> String {
    let view = view(text);
    assert_eq!(view.faults, [], "{text}");
    String::from_utf8(view.json).unwrap().trim_end().to_owned()
}

fn faults(text: &str) -> Vec<(FaultKind, usize, String)> {
    let view = view(text);
    view.faults
        .into_iter()
        .map(|f| (f.kind, f.span.start, f.message))
        .collect()
}

#[test]
fn collections_and_scalars() {
    for (text, expected) in [
        ("a: 1", r#"{"a":1}"#),
        ("- a\n- [b, {c: d}]\n- - e", r#"["a",["b",{"c":"d"}],["e"]]"#),
        ("a:\nb: ~\nc: 'x\"y'", r#"{"a":null,"b":null,"c":"x\"y"}"#),
        (
            "a: 1.10\nb: 007\nc: no\nd: 5s",
            r#"{"a":1.10,"b":"\u003007","c":"no","d":"5s"}"#,
        ),
        ("a: '007'", r#"{"a":"007"}"#),
        ("1: 2\ntrue: x", r#"{"1":2,"true":"x"}"#),
        ("a: |\n  x\n  y\nb: >-\n  x\n  y", r#"{"a":"x\ny\n","b":"x y"}"#),
        (
            "a: !!str 1\nb: !!int '5'\nc: !x 5\nd: ! 5",
            r#"{"a":"1","b":5,"c":5,"d":"5"}"#,
        ),
        ("a: !!binary |\n  aGVs\n  bG8=", r#"{"a":"aGVsbG8="}"#),
        ("a: 1\na: 2", r#"{"a":1,"a":2}"#),
        ("a: 1\n---\nb: 2\n", "{\"a\":1}\n{\"b\":2}"),
        ("{\"a\": \"\\ud83d\\ude00\"}", "{\"a\":\"\u{1f600}\"}"),
        ("[a, b]: c", r#"{"[\"a\",\"b\"]":"c"}"#),
        ("\u{feff}a: 1", r#"{"a":1}"#),
        ("a: \"x\\0y\"", r#"{"a":"x\u0000y"}"#),
    ] {
        assert_eq!(json(text), expected, "{text}");
    }
}

#[test]
fn aliases_and_merge_keys() {
    for (text, expected) in [
        ("a: &x [1, {b: 2}]\nc: *x", r#"{"a":[1,{"b":2}],"c":[1,{"b":2}]}"#),
        ("a: &x k\n*x : 1", r#"{"a":"k","k":1}"#),
        ("a: &x 1\nb: &x 2\nc: *x", r#"{"a":1,"b":2,"c":2}"#),
        (
            "a: &x {p: 1, q: 2}\nb: {<<: *x, q: 3}",
            r#"{"a":{"p":1,"q":2},"b":{"q":3,"p":1}}"#,
        ),
        (
            "a: &x {p: 1}\nb: &y {p: 2, q: 2}\nc:\n  <<: [*x, *y]\n  r: 1",
            r#"{"a":{"p":1},"b":{"p":2,"q":2},"c":{"r":1,"p":1,"q":2}}"#,
        ),
        ("b: {<<: {p: &z [1]}, q: *z}", r#"{"b":{"q":[1],"p":[1]}}"#),
        ("a: &x {<<: {p: 1}}\nb: {<<: *x}", r#"{"a":{"p":1},"b":{"p":1}}"#),
        ("'<<': 1", r#"{"<<":1}"#),
    ] {
        assert_eq!(json(text), expected, "{text}");
    }
}

#[track_caller]
fn place(text: &str, token: &str, expected: &str) {
    let view = view(text);
    let json = std::str::from_utf8(&view.json).unwrap();
    let at = json.rfind(token).unwrap();
    let found = view.to_document(Span::new(at, at + token.len()));
    assert_eq!(&text[found.range()], expected, "{json}");
}

#[test]
fn every_token_leads_back_to_its_text() {
    let text = "resources:\n- name: 'é'\n  list: [1, 0x10]\n# end\n- other: |\n    x\n  empty:\nlast: 1\n";
    place(text, "\"resources\"", "resources");
    place(text, "\"é\"", "'é'");
    place(text, "\"list\"", "list");
    place(text, "[1", "[1");
    place(text, "\"last\"", "last");
    place(text, "{\"other\"", "other");
    place(text, "{\"name\"", "name");
    place("a: &x {p: 1}\nb: {<<: *x}", "\"p\":1", "p: 1");
    place("a: &x {p: 1}\nb: *x", "1", "1");
}

#[test]
fn a_broken_document_is_cut_and_the_others_are_read() {
    let view = view("a: 1\n---\nb: [1, 2\n---\nc: 3\n");
    assert_eq!(
        std::str::from_utf8(&view.json).unwrap(),
        "{\"a\":1}\n{\"b\":[1\n{\"c\":3}\n"
    );
    assert_eq!(
        view.parts.iter().map(|p| p.cut).collect::<Vec<_>>(),
        [false, true, false]
    );
    assert_eq!(view.faults.len(), 1, "{:?}", view.faults);
}

#[test]
fn aliases_that_cannot_be_followed_are_null() {
    let answer = faults("a: *gone");
    assert_eq!(
        answer,
        [(FaultKind::Syntax, 3, "no anchor before this alias, read as null".into())]
    );
    let answer = faults("a: &x [*x]");
    assert_eq!(
        answer,
        [(
            FaultKind::Syntax,
            7,
            "an alias inside the node that it names, read as null".into()
        )]
    );
    let answer = faults("a: {<<: 5}");
    assert_eq!(
        answer,
        [(
            FaultKind::Syntax,
            4,
            "a merge key has no mapping to merge, it is left out".into()
        )]
    );
}

#[test]
fn a_billion_laughs_end_at_the_budget() {
    let mut text = "a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n".to_owned();
    for i in 1..10 {
        let alias = format!("*a{}", i - 1);
        text += &format!("a{i}: &a{i} [{}]\n", [alias.as_str(); 9].join(", "));
    }
    let view = view(&text);
    assert_eq!(view.faults.len(), 1, "{:?}", view.faults);
    assert_eq!(view.faults[0].kind, FaultKind::Limit);
    assert!(view.json.len() < MAX_ALIAS_BYTES + text.len() * 8);
    assert!(view.tokens.len() < MAX_ALIAS_NODES + text.len());
}

#[test]
fn deep_nesting_ends_with_one_fault() {
    for text in ["[".repeat(100_000), "- ".repeat(100_000), "{a: ".repeat(100_000)] {
        let view = view(&text);
        assert_eq!(view.faults.len(), 1, "{:?}", &view.faults.first());
        assert_eq!(view.faults[0].kind, FaultKind::Limit, "{:?}", view.faults[0]);
    }
}

#[test]
fn nothing_panics_on_the_prefixes_of_a_document() {
    let text = "%YAML 1.2\n---\na: &x {p: \"q\\n\", <<: {r: 1}}\n? [k]\n: *x\nb: |+\n  t\n\nc: !!int \"1\" # c\n...\n---\n- *y\n";
    for end in 0..text.len() {
        if let Some(prefix) = text.get(..end) {
            view(prefix);
        }
    }
}

#[test]
fn bytes_that_are_not_utf8_are_one_fault() {
    let view = view_bytes(b"a: \xff\xfe\nb: 1\n");
    assert_eq!(view.json, b"{\"a\":\"??\",\"b\":1}\n");
    assert_eq!(view.faults.iter().map(|f| f.span.start).collect::<Vec<_>>(), [3]);
}

#[test]
fn a_fault_at_the_end_is_in_the_document() {
    for text in ["a:\n- b: 1\n  ' c", "a: [1", "\u{feff}a: \"b"] {
        let view = view(text);
        assert!(!view.faults.is_empty(), "{text:?}");
        for fault in &view.faults {
            assert!(fault.span.end <= text.len(), "{text:?}: {:?}", fault.span);
        }
    }
}

#[test]
fn beyond_the_limit_of_aliases_merge_keys_read_nothing() {
    let keys: String = (0..20).map(|i| format!("  k{i}: {i}\n")).collect();
    let read = |merges: usize| {
        let mut writer = YamlWriter::new(View::default());
        writer.nodes_left = 100;
        let text = format!("a: &a\n{keys}r:\n{}", "- <<: *a\n".repeat(merges));
        parse(&text, &mut writer);
        assert_eq!(writer.view.faults.len(), usize::from(writer.limit_reported));
        super::MAX_MERGE_BYTES - writer.merge_left
    };
    let once = read(1);
    // One source has forty tokens, so the third one is too much.
    assert_eq!(read(3), 3 * once);
    assert_eq!(read(1_000), 3 * once);
}

/// A linear congruential generator (Knuth's MMIX constants).
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % most.max(1)
    }
}

/// Returns texts whose lists and documents are read in pieces: elements with scalars of every
/// style, comments, empty elements, lists in lists.
fn texts() -> Vec<String> {
    let elements = [
        "- a: 1\n  b: [x, {y: z}]\n",
        "- |\n  text\n   more\n\n- >-\n  folded\n  text\n",
        "- 'quoted - text'\n- \"two\n  lines\"\n",
        "# a comment\n- k: v # another\n",
        "-\n- ~\n- \n",
        "- - p\n  - q\n- name: n\n  list:\n  - one\n  - two: 2\n",
        "- plain over\n  two lines\n",
        "- {a: b,\n   c: d}\n- !!str 5\n- \u{20ac}\u{1f600}: \u{e9}\n",
    ];
    let indent = |text: &str, by: &str| -> String { text.lines().map(|line| format!("{by}{line}\n")).collect() };
    let all = elements.concat();
    vec![
        all.repeat(3),
        format!("top: x\nlist:\n{}last: y\n", all.repeat(2)),
        format!("list:\n{}other:\n{}", indent(&all, "  "), indent(&all, "    ")),
        format!("{all}---\na: b\nlist:\n{all}---\n---\n# nothing\n---\n{all}"),
        format!("---\n{all}...\n---\nb: |\n  - no list\n  ---\nc: d\n---\n{all}"),
        format!("- &anchor x\n- *anchor\n{all}"),
        format!("- <<: {{a: b}}\n  c: d\n{all}"),
        format!("%TAG ! tag:x,2000:\n---\n{all}"),
        "key: value\n".repeat(20),
    ]
}

#[test]
fn what_is_read_again_after_an_edit_is_what_is_read_at_once() {
    const WRITTEN: [&str; 24] = [
        "x", "\n", "- ", "\n- ", "\n  - ", ": ", "\"", "'", "{", "}", "[", "|", ">", "#", "&a ", "*a", "---\n",
        "...\n", "\n---\n", "%", "\t", "  ", "\u{20ac}", "<<: ",
    ];
    let (mut pieces, mut wholes) = (0, 0);
    for (number, original) in texts().into_iter().enumerate() {
        let mut random = Random(number as u64);
        for _ in 0..40 {
            let mut text = original.clone();
            let mut before = view(&text);
            for _ in 0..30 {
                let boundary = |mut at: usize| {
                    while !text.is_char_boundary(at) {
                        at -= 1;
                    }
                    at
                };
                let start = boundary(random.below(text.len() + 1));
                let end = boundary((start + random.below(3) * random.below(12)).min(text.len()));
                let mut new = text.clone();
                let written = if random.below(4) == 0 {
                    ""
                } else {
                    WRITTEN[random.below(WRITTEN.len())]
                };
                new.replace_range(start.min(end)..end.max(start), written);
                let expected = view(&new);
                let again = view_again(&text, &before, &new);
                match &again {
                    Some(again) => {
                        pieces += 1;
                        let json = |view: &View| String::from_utf8_lossy(&view.json).into_owned();
                        assert_eq!(json(again), json(&expected), "{text:?} becomes {new:?}");
                        assert_eq!(again.tokens, expected.tokens, "{text:?} becomes {new:?}");
                        assert_eq!(again.parts, expected.parts, "{text:?} becomes {new:?}");
                        assert!(expected.faults.is_empty() && !expected.is_rearranged, "{new:?}");
                    }
                    None => wholes += 1,
                }
                // A broken text is dropped, because nothing could be read in pieces after it.
                if expected.is_whole() {
                    (text, before) = (new, again.unwrap_or(expected));
                }
            }
        }
    }
    assert!(
        pieces > 1_000 && wholes > 1_000,
        "{pieces} by pieces, {wholes} as a whole"
    );
}
