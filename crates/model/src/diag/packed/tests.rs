//! Packed findings come out as they went in.

use super::super::rule::examples::IGNORED as A;
use super::super::rule::examples::REJECTED as B;
use super::*;
use crate::diag::Validation;
use crate::profile::{Profile, ServerFacts};

#[test]
fn what_is_packed_comes_out_again() {
    let mut diagnostics = Vec::new();
    for i in 0..300 {
        let list = Path::ROOT.field("endpoints");
        let element = list.index(i);
        for (rule, name, message) in [(&A, "x", "same"), (&A, "y", "other"), (&B, "x", "same")] {
            let message = format!("{message} {}", if i % 7 == 0 { i } else { 0 });
            diagnostics.push(Diagnostic {
                path: element.field(name).to_owned(),
                help: (i == 100).then(|| "help".to_owned()),
                ..Diagnostic::of_whole(rule, message)
            });
        }
    }
    let is_a = |d: &Diagnostic| d.rule == &A;
    let (wanted, kept): (Vec<_>, Vec<_>) = diagnostics.iter().cloned().partition(|d| is_a(d) && d.help.is_none());
    let mut packed = Packed::default();
    packed.take_from(&mut diagnostics, is_a);
    assert_eq!(diagnostics, kept);
    assert_eq!(packed.len(), wanted.len());
    let mut unpacked = Vec::new();
    packed.unpack_into(&mut unpacked);
    assert_eq!(unpacked, wanted);
    assert!(packed.list.as_ref().unwrap().bytes.len() < 12 * wanted.len());
    let count = |field: &str| {
        let of_field = packed.counts().filter(|(_, f, _)| *f == Some(field));
        of_field.map(|(_, _, count)| count).sum::<usize>()
    };
    let is_x = |d: &&Diagnostic| d.path.segs().last_field() == Some("x");
    assert_eq!(count("x"), wanted.iter().filter(is_x).count());
    assert_eq!(count("x") + count("y"), wanted.len());
}

#[test]
fn what_paths_have_in_common_ends_with_the_first_byte_that_differs() {
    let path: Vec<u8> = (0..40).collect();
    for len in 0..path.len() {
        let mut other = path.clone();
        other[len] = 99;
        assert_eq!(shared_len(&path, &other), len);
        assert_eq!(shared_len(&path, &path[..len]), len);
    }
    assert_eq!(shared_len(&path, &path), path.len());
}

/// Makes the findings of three clients, once in one list and once in a list for each client.
fn of_three() -> (Vec<Packed>, Vec<Packed>) {
    let mut together = PackedList::new(3);
    let mut apart: Vec<PackedList> = (0..3).map(|_| PackedList::new(1)).collect();
    let (outer, other) = (Path::ROOT.field("outer"), Path::ROOT.field("other"));
    for list in 0..4 {
        let element = outer.index(list);
        let inner = element.field("list");
        for i in 0..200 {
            let at = if i % 50 == 49 { other.index(i) } else { inner.index(i) };
            let number = (i % 50 != 49).then_some(list);
            for (kind, field, clients) in [(1, "x", 0b101), (2, "y", 0b111), (3, "z", 0b010)] {
                if (i + kind) % 7 == 0 {
                    continue;
                }
                let say = |client: usize| (&A, format!("{client} has no {field}").into(), None);
                together.push_kind((kind, clients), field, (&at, number), say);
                for (client, list) in apart.iter_mut().enumerate() {
                    if clients & 1 << client != 0 {
                        list.push_kind((kind, 1), field, (&at, None), |_| say(client));
                    }
                }
            }
        }
    }
    let mut apart = apart.into_iter().flat_map(Packed::of_each);
    (Packed::of_each(together), apart.by_ref().collect())
}

#[test]
fn of_one_list_each_client_has_what_it_has_in_its_own() {
    let (together, apart) = of_three();
    for (number, (one, own)) in together.iter().zip(&apart).enumerate() {
        assert_eq!(one, own);
        assert_ne!(one, &apart[(number + 1) % 3]);
        let (mut all, mut of_own) = (Vec::new(), Vec::new());
        one.unpack_into(&mut all);
        own.unpack_into(&mut of_own);
        assert_eq!(all, of_own);
        assert_eq!(all.len(), one.len());
        assert!(one.counts().eq(own.counts()));
        let mut counts = vec![0; one.texts().len()];
        for group in one.groups() {
            counts[group.text] += group.count;
            let at = one.texts()[group.text].at(group.first.to_path());
            assert!(all.contains(&at), "{at:?}");
        }
        let of_texts = one.counts().map(|(.., count)| count);
        assert_eq!(counts, of_texts.collect::<Vec<_>>());
        let mut kept = one.clone();
        let mut number = 0;
        kept.retain(|| {
            number += 1;
            number % 2 == 0
        });
        let mut of_kept = Vec::new();
        kept.unpack_into(&mut of_kept);
        let second = all.iter().skip(1).step_by(2);
        assert!(of_kept.iter().eq(second));
    }
    assert!(together[0].is_beside(&together[2]));
    assert!(!together[0].is_beside(&apart[0]));
    assert!(together[0].is_beside(&Packed::default()));
}

#[test]
fn findings_of_a_kind_are_packed_without_their_words() {
    let mut list = PackedList::new(1);
    let field = Path::ROOT.field("list");
    for i in 0..200 {
        let (kind, name) = if i % 3 == 0 { (1, "x") } else { (2, "y") };
        let at = (&field.index(i), Some(1));
        list.push_kind((kind, 1), name, at, |_| (&A, format!("no {name}").into(), None));
    }
    let mut packed = Packed::of_each(list).remove(0);
    packed.shrink();
    let mut unpacked = Vec::new();
    packed.unpack_into(&mut unpacked);
    assert_eq!(unpacked.len(), 200);
    assert_eq!(unpacked[3].path.to_string(), "list[3].x");
    assert_eq!(unpacked[4].message, "no y");
    let counts: Vec<_> = packed
        .counts()
        .map(|(_, field, count)| (field.unwrap(), count))
        .collect();
    assert_eq!(counts, [("x", 67), ("y", 133)]);
    unpacked.clear();
    packed.unpack_first(&mut [0, 2], &mut unpacked);
    let paths: Vec<_> = unpacked.iter().map(|diagnostic| diagnostic.path.to_string()).collect();
    assert_eq!(paths, ["list[1].y", "list[2].y"]);
}

#[test]
fn lists_of_two_walks_have_ways_of_their_own() {
    let (profile, server) = (Profile::default(), ServerFacts::default());
    let mut packed = Some(Packed::default());
    for name in ["one", "other"] {
        let mut cx = Validation::new(&profile, &server).packing_after(packed);
        let number = cx.new_list();
        let list = Path::ROOT.field(name);
        for index in 0..2 {
            let at = (&list.index(index), Some(number));
            cx.report_field((1, 1), "x", at, |_| (&A, "".into(), None));
        }
        packed = cx.take_unread().0;
    }
    let mut unpacked = Vec::new();
    packed.unwrap().unpack_into(&mut unpacked);
    let paths: Vec<_> = unpacked.iter().map(|diagnostic| diagnostic.path.to_string()).collect();
    assert_eq!(paths, ["one[0].x", "one[1].x", "other[0].x", "other[1].x"]);
}
