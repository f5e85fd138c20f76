//! RPCs that go elsewhere, or have another deadline or other retries, found by comparing two route
//! tables.
//!
//! Two routes, one of each table, are compared if an RPC can match both. An example shows whether
//! one does: it is sent through both complete tables. Routes that are the same at the beginning or
//! at the end of both lists are not compared with each other. If no example can be found because of
//! a regex, the answer is marked as possible only.

use std::collections::{BTreeMap, BTreeSet};

use super::budget::{DiffBudget, Steps};
use super::care::{self, Care};
use super::overlap::{Example, are_disjoint, examples, is_opaque};
use super::table::{RouteShares, STEPS_OF_A_SHARE, Table, are_apart, sent, share, spread};
use xdsctl_clients::core::route_shadow::covers;
use xdsctl_model::resource::Millis;
use xdsctl_model::resource::route::Route;

/// Most kinds of RPCs that go elsewhere which are listed for two tables.
pub const MAX_MOVES: usize = 1_000;

/// Two shares that differ by less than this count as equal.
const EPSILON: f64 = 1e-9;

/// Where RPCs go.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Goes {
    /// The RPC goes to a cluster.
    Cluster(String),
    /// The RPC goes where a cluster specifier plugin says.
    Plugin(String),
    /// The RPC fails: no route matches, or the route has no action that a client supports.
    Fails,
}

/// What a table does with one kind of RPC.
#[derive(Debug, Clone, PartialEq)]
pub struct TableOutcome {
    /// Position of the first route that can take the RPCs; `None` if no route can.
    pub route: Option<usize>,
    /// The destinations, with the share of each; the shares add up to 1.
    pub goes: Vec<(Goes, f64)>,
    /// Deadlines and retries of the RPCs that do not fail, with the share of each; the shares add
    /// up to 1.
    pub care: Vec<(Care, f64)>,
    /// Destinations with their deadlines and retries.
    sent: RouteShares,
}

impl TableOutcome {
    fn of(route: Option<usize>, sent: RouteShares) -> TableOutcome {
        let mut goes: BTreeMap<Goes, f64> = BTreeMap::new();
        for (sent, share) in &sent {
            *goes.entry(sent.goes.clone()).or_default() += share;
        }
        TableOutcome {
            route,
            goes: goes.into_iter().collect(),
            care: care::of_all(&sent),
            sent,
        }
    }
}

/// A kind of RPCs that go elsewhere, or have another deadline or other retries.
#[derive(Debug, Clone, PartialEq)]
pub struct Move {
    /// What the table before does with these RPCs.
    pub before: TableOutcome,
    /// What the table after does with these RPCs.
    pub after: TableOutcome,
    /// An example of such an RPC; `None` if a regex prevented finding one, in which case there may
    /// be none.
    pub example: Option<Example>,
    /// Positions of other routes in the table after, if only deadlines or retries change: theirs
    /// change in the same way.
    pub others: BTreeSet<usize>,
}

impl Move {
    /// Says whether the RPCs go elsewhere.
    pub fn goes_elsewhere(&self) -> bool {
        !is_equal(&self.before.goes, &self.after.goes)
    }

    /// Says whether those RPCs that do not fail have another deadline or other retries.
    pub fn is_cared_for_otherwise(&self) -> bool {
        let (before, after) = (&self.before.care, &self.after.care);
        !self.goes_elsewhere() || !before.is_empty() && !after.is_empty() && !is_equal(before, after)
    }
}

/// The differences between two tables.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Moves {
    /// The RPCs that go elsewhere, in the order of the table after.
    pub moves: Vec<Move>,
    /// Whether a limit was reached, so that there may be more.
    pub is_cut: bool,
}

/// The routes of a virtual host, and the deadline of routes that set none; 0 for none.
pub(super) type HostRoutes<'a> = (&'a [Route], Millis);

/// Finds the RPCs that go elsewhere, or have another deadline or other retries.
pub(super) fn compare(before: HostRoutes<'_>, after: HostRoutes<'_>, budget: &mut DiffBudget) -> Moves {
    budget.for_tables(|steps, shares| compare_within(before, after, steps, shares))
}

fn compare_within(
    (before, deadline_before): HostRoutes<'_>,
    (after, deadline_after): HostRoutes<'_>,
    steps: &mut Steps,
    shares: &mut usize,
) -> Moves {
    steps.take((before.len() + after.len()) as u64);
    let is_same = |(one, other)| is_same((one, deadline_before), (other, deadline_after));
    let head = before.iter().zip(after).take_while(|pair| is_same(*pair)).count();
    let rest = before.len().min(after.len()) - head;
    let tail = before.iter().rev().zip(after.iter().rev());
    let tail = tail.take(rest).take_while(|pair| is_same(*pair)).count();
    if head + tail == before.len().max(after.len()) {
        return Moves::default();
    }
    let mut walk = TableWalk {
        before: Table::of(before, deadline_before),
        after: Table::of(after, deadline_after),
        steps,
        shares,
        found: Moves::default(),
    };
    walk.run(head, tail);
    walk.found.is_cut |= walk.steps.are_made();
    walk.found
}

/// Says whether two routes match the same RPCs and do the same with them.
fn is_same((one, deadline): (&Route, Millis), (other, other_deadline): (&Route, Millis)) -> bool {
    one.path == other.path
        && one.headers == other.headers
        && one.fraction_per_million == other.fraction_per_million
        && sent(one, deadline) == sent(other, other_deadline)
}

struct TableWalk<'a> {
    before: Table<'a>,
    after: Table<'a>,
    steps: &'a mut Steps,
    /// How many shares may still be listed.
    shares: &'a mut usize,
    found: Moves,
}

impl TableWalk<'_> {
    /// Compares all pairs of routes, except those that are both in the common head or both in the
    /// common tail. Behind each table, the position without a route stands for RPCs that no route
    /// takes.
    fn run(&mut self, head: usize, tail: usize) {
        let (last_before, last_after) = (self.before.len() - tail, self.after.len() - tail);
        let mut is_taken = vec![false; self.before.len() + 1];
        for j in head..=self.after.len() {
            let ends = if j < last_after {
                self.before.len() + 1
            } else {
                last_before
            };
            for i in head..ends {
                if self.is_over() {
                    return;
                }
                if is_taken.get(i) == Some(&true) {
                    continue;
                }
                let (one, other) = (self.before.get(i), self.after.get(j));
                self.steps.take(1);
                if let (Some(one), Some(other)) = (one, other)
                    && (are_apart(self.before.stem(i), self.after.stem(j)) || are_disjoint(one, other))
                {
                    continue;
                }
                self.pair(i, j);
                if let (Some(one), Some(taken)) = (one, is_taken.get_mut(i))
                    && other.is_none_or(|other| covers(other, one))
                {
                    *taken = true;
                }
                if one.is_none_or(|one| other.is_some_and(|other| covers(one, other))) {
                    break;
                }
            }
        }
    }

    fn is_over(&mut self) -> bool {
        let is_told = self.found.moves.len() >= MAX_MOVES || *self.shares == 0;
        self.found.is_cut = is_told || self.steps.are_made();
        self.found.is_cut
    }

    /// Looks for an RPC that both routes take.
    fn pair(&mut self, i: usize, j: usize) {
        let (one, other) = (self.before.get(i), self.after.get(j));
        let clusters: u64 = one.into_iter().chain(other).map(spread).sum();
        self.steps.take(clusters * STEPS_OF_A_SHARE);
        if let (Some(one), Some(other)) = (one, other)
            && share(one) == 1.0
            && share(other) == 1.0
            && self.before.sent(one) == self.after.sent(other)
        {
            return;
        }
        let routes: Vec<&Route> = one.into_iter().chain(other).collect();
        let mut is_met = false;
        for example in examples(&routes) {
            let (Some(before), Some(after)) = (
                self.before.outcome(&example, self.steps),
                self.after.outcome(&example, self.steps),
            ) else {
                continue;
            };
            if !before.0.contains(&one.map(|_| i)) || !after.0.contains(&other.map(|_| j)) {
                continue;
            }
            is_met = true;
            if !is_equal(&before.1, &after.1) {
                // The first route that can take the RPC: one with a fraction leaves some RPCs to a
                // later one.
                let first = |takers: &[Option<usize>]| takers.first().copied().flatten();
                self.tell((first(&before.0), before.1), (first(&after.0), after.1), Some(example));
            }
        }
        if is_met {
            return;
        }
        if let (Some(one), Some(other)) = (one, other)
            && (is_opaque(one) || is_opaque(other))
        {
            let (was, is) = (self.before.sent(one), self.after.sent(other));
            if was != is {
                self.tell((Some(i), was), (Some(j), is), None);
            }
        }
    }

    fn tell(
        &mut self,
        before: (Option<usize>, RouteShares),
        after: (Option<usize>, RouteShares),
        example: Option<Example>,
    ) {
        let mut moved = Move {
            before: TableOutcome::of(before.0, before.1),
            after: TableOutcome::of(after.0, after.1),
            example,
            others: BTreeSet::new(),
        };
        let goes_elsewhere = moved.goes_elsewhere();
        let tells_the_same = |known: &&mut Move| {
            known.example.is_some() == moved.example.is_some()
                && known.goes_elsewhere() == goes_elsewhere
                && known.before.care == moved.before.care
                && known.after.care == moved.after.care
                && (!goes_elsewhere
                    || known.after.route == moved.after.route
                        && known.before.goes == moved.before.goes
                        && known.after.goes == moved.after.goes)
        };
        match self.found.moves.iter_mut().find(tells_the_same) {
            // The example with the fewest headers is the clearest.
            Some(known) => {
                let headers = |told: &Move| told.example.as_ref().map(|example| example.headers.len());
                let mut routes = std::mem::take(&mut known.others);
                routes.extend(known.after.route.into_iter().chain(moved.after.route));
                if headers(&moved) < headers(known) {
                    std::mem::swap(known, &mut moved);
                }
                routes.retain(|route| Some(*route) != known.after.route);
                known.others = routes;
            }
            None => {
                let told = moved.before.goes.len() + moved.after.goes.len();
                *self.shares = self.shares.saturating_sub(told);
                self.found.moves.push(moved);
            }
        }
    }
}

fn is_equal<T: PartialEq>(one: &[(T, f64)], other: &[(T, f64)]) -> bool {
    let pairs = || one.iter().zip(other);
    one.len() == other.len() && pairs().all(|((a, x), (b, y))| a == b && (x - y).abs() < EPSILON)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::budget;
    use xdsctl_model::resource::matcher::{HeaderMatch, HeaderMatcher, HeaderView, StringMatch, StringMatcher};
    use xdsctl_model::resource::route::{Action, ClusterWeight, Destination, PathMatcher, RouteAction};

    /// The listener has no deadline.
    const NONE: Millis = Millis(0);

    /// Reads routes from `PATH [NAME=VALUE] [N%] > CLUSTER[:WEIGHT,...]`. A path that ends in `*`
    /// is a prefix; `~` begins a regex.
    fn table(text: &str) -> Vec<Route> {
        let routes = text.split(';').map(str::trim).filter(|text| !text.is_empty());
        routes.enumerate().map(|(index, text)| route(index, text)).collect()
    }

    fn plain(kind: StringMatch) -> StringMatcher {
        StringMatcher {
            kind,
            ignore_case: false,
        }
    }

    fn route(index: usize, text: &str) -> Route {
        let (matches, to) = text.split_once('>').unwrap();
        let mut words = matches.split_whitespace();
        let path = words.next().unwrap();
        let path = match (path.strip_suffix('*'), path.strip_prefix('~')) {
            (_, Some(regex)) => PathMatcher::Regex(xdsctl_re2::Regex::new(regex).unwrap()),
            (Some(prefix), _) => PathMatcher::Text(plain(StringMatch::Prefix(prefix.to_owned()))),
            (None, None) => PathMatcher::Text(plain(StringMatch::Exact(path.to_owned()))),
        };
        let mut route = Route {
            index,
            name: String::new(),
            path,
            headers: Vec::new(),
            fraction_per_million: None,
            action: Action::NonForwarding,
            typed_per_filter_config: Default::default(),
        };
        for word in words {
            match word.split_once('=') {
                Some((name, value)) => route.headers.push(HeaderMatcher {
                    name: name.to_owned(),
                    kind: HeaderMatch::String(plain(StringMatch::Exact(value.to_owned()))),
                    invert_match: false,
                    view: HeaderView::Completed,
                }),
                None => route.fraction_per_million = Some(word.trim_end_matches('%').parse::<u32>().unwrap() * 10_000),
            }
        }
        let weighted = |(index, part): (usize, &str)| {
            let (name, weight) = part.split_once(':').unwrap();
            ClusterWeight {
                index,
                name: name.to_owned(),
                weight: weight.parse().unwrap(),
                typed_per_filter_config: Default::default(),
            }
        };
        let to = to.trim();
        let destination = match to.contains(':') {
            true => Destination::WeightedClusters(to.split(',').enumerate().map(weighted).collect()),
            false => Destination::Cluster(to.to_owned()),
        };
        route.action = Action::Route(Box::new(RouteAction {
            hash_policies: Vec::new(),
            retry_policy: None,
            retry_policy_inherited: false,
            destination,
            unweighted: Vec::new(),
            max_stream_duration: None,
            auto_host_rewrite: false,
            untrusted_host_rewrite: false,
        }));
        route
    }

    fn words(before: &str, after: &str) -> Vec<String> {
        let shares = |goes: &[(Goes, f64)]| {
            let share = |(goes, share): &(Goes, f64)| {
                let name = match goes {
                    Goes::Cluster(name) | Goes::Plugin(name) => name.as_str(),
                    Goes::Fails => "-",
                };
                let percent = (share * 100.0).round();
                if percent == 100.0 {
                    name.to_owned()
                } else {
                    format!("{name} {percent}%")
                }
            };
            goes.iter().map(share).collect::<Vec<_>>().join("+")
        };
        let moves = compare(
            (&table(before), NONE),
            (&table(after), NONE),
            &mut DiffBudget::default(),
        )
        .moves
        .into_iter();
        moves
            .map(|m| {
                let example = m.example.map_or_else(|| "?".to_owned(), |example| example.to_string());
                format!("{example}: {} > {}", shares(&m.before.goes), shares(&m.after.goes))
            })
            .collect()
    }

    #[test]
    fn what_goes_to_the_same_cluster_has_not_moved() {
        for (before, after) in [
            ("/a* > x; /* > y", "/a* > x; /* > y"),
            ("/a* > x; /* > y", "/a/b* > x; /a* > x; /* > y"),
            ("/a* > x; /b* > y; /* > z", "/b* > y; /a* > x; /* > z"),
            ("/* > x", "/a tier=gold > x; /* > x"),
            ("/* > x; /a > y", "/* > x"),
            ("/* > x:1,y:3", "/* > y:6,x:2"),
            ("~/a.* > x; /* > y", "~/a.* > x; /* > y"),
        ] {
            assert_eq!(words(before, after), [""; 0], "{before} | {after}");
        }
    }

    #[test]
    fn each_kind_of_rpc_that_goes_elsewhere_is_told_once_with_an_example() {
        for (before, after, expected) in [
            ("/a/b > x; /* > y", "/a/b > z; /* > y", vec!["/a/b: x > z"]),
            ("/a/b > x; /* > y", "/* > y", vec!["/a/b: x > y"]),
            ("/* > y", "/a/b > x; /* > y", vec!["/a/b: y > x"]),
            (
                "/* tier=gold > x; /* > y",
                "/* > y",
                vec!["/Service/Method with tier: gold: x > y"],
            ),
            ("/a* > x; /* > y", "/* > y; /a* > x", vec!["/a/Method: x > y"]),
            ("/a* > x", "", vec!["/a/Method: x > -"]),
            ("", "/a* > x", vec!["/a/Method: - > x"]),
            (
                "/* 5% > c; /* > x",
                "/* 10% > c; /* > x",
                vec!["/Service/Method: c 5%+x 95% > c 10%+x 90%"],
            ),
            (
                "/* > x:95,c:5",
                "/* > x:90,c:10",
                vec!["/Service/Method: c 5%+x 95% > c 10%+x 90%"],
            ),
            (
                "/a* > x; /b* > x; /* > y",
                "/a* > z; /b* > x; /* > w",
                vec!["/a/Method: x > z", "/Service/Method: y > w"],
            ),
        ] {
            assert_eq!(words(before, after), expected, "{before} | {after}");
        }
    }

    #[test]
    fn what_changes_alike_in_several_routes_is_told_once() {
        let routes = table("/a > x; /b > y; /* > z");
        let moves = compare((&routes, NONE), (&routes, Millis(5_000)), &mut DiffBudget::default()).moves;
        let [moved] = moves.as_slice() else { panic!("{moves:?}") };
        assert!(!moved.goes_elsewhere() && moved.is_cared_for_otherwise());
        assert_eq!((moved.after.route, moved.others.len()), (Some(0), 2));
        let own = |table: &mut Vec<Route>| {
            let Action::Route(action) = &mut table[1].action else {
                panic!("{table:?}")
            };
            action.max_stream_duration = Some(Millis(5_000));
        };
        // A deadline of the route itself is independent of the listener's.
        let mut after = routes.clone();
        own(&mut after);
        assert_eq!(
            compare((&after, NONE), (&after, Millis(9_000)), &mut DiffBudget::default()).moves[0]
                .others
                .len(),
            1
        );
    }

    #[test]
    fn where_a_regex_lets_no_example_be_found_it_may_be() {
        assert_eq!(words("~/a/(b|c)d > x", "~/a/(b|c)d > y"), ["?: x > y"]);
        assert_eq!(words("~/a/b.* > x; /* > y", "~/a/b.* > z; /* > y"), ["/a/b: x > z"]);
    }

    /// Random tables are asked for every RPC of a small world. Those that go elsewhere must be
    /// reported, and no others. There are no fractions, which would give each set of matching
    /// routes shares of its own.
    #[test]
    fn nobody_moves_untold() {
        let paths = ["/a", "/a/b", "/b", "/a/*", "/a*", "/b*", "/*"];
        let headers = ["", " h=1", " h=2", " k=1", " h=1 k=1"];
        let mut random = xdsctl_model::rng::Rng::stream(7, "diff");
        let mut pick = |list: &[&str]| {
            let bound = u64::try_from(list.len()).unwrap();
            list[usize::try_from(random.below(bound)).unwrap()].to_owned()
        };
        let mut table = || {
            let count = pick(&["0", "1", "2", "3", "4", "5"]).parse::<usize>().unwrap();
            let route = |_| {
                format!(
                    "{}{} > {}",
                    pick(&paths),
                    pick(&headers),
                    pick(&["x", "y", "z", "x:1,y:1"])
                )
            };
            (0..count).map(route).collect::<Vec<_>>().join("; ")
        };
        let sent = |h: &str, k: &str| {
            let all = [("h", h), ("k", k)].into_iter().filter(|(_, value)| !value.is_empty());
            all.map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect::<Vec<_>>()
        };
        let mut moved = 0;
        for _ in 0..4_000 {
            let (one, other) = (table(), table());
            let (before, after) = (self::table(&one), self::table(&other));
            let told = compare((&before, NONE), (&after, NONE), &mut DiffBudget::default()).moves;
            for path in ["/a", "/a/b", "/a/c", "/ab", "/b", "/bc", "/c"] {
                for (h, k) in [
                    ("", ""),
                    ("1", ""),
                    ("2", ""),
                    ("3", ""),
                    ("", "1"),
                    ("1", "1"),
                    ("2", "1"),
                ] {
                    let rpc = Example {
                        path: path.to_owned(),
                        headers: sent(h, k),
                    };
                    let sent = |table: &[Route]| {
                        Table::of(table, NONE)
                            .outcome(&rpc, &mut DiffBudget::default().steps)
                            .unwrap()
                            .1
                    };
                    let (was, is) = (sent(&before), sent(&after));
                    let is_told = |m: &Move| is_equal(&m.before.sent, &was) && is_equal(&m.after.sent, &is);
                    assert!(
                        is_equal(&was, &is) || told.iter().any(is_told),
                        "{one} | {other}: {rpc}"
                    );
                    moved += usize::from(!is_equal(&was, &is));
                }
            }
            for told in &told {
                let example = told.example.as_ref().expect("nothing is opaque here");
                let goes = |table: &[Route]| {
                    Table::of(table, NONE)
                        .outcome(example, &mut DiffBudget::default().steps)
                        .unwrap()
                        .1
                };
                assert!(!is_equal(&goes(&before), &goes(&after)), "{one} | {other}: {example}");
            }
        }
        assert!(moved > 10_000, "{moved}");
    }

    #[test]
    fn a_limit_is_told() {
        let many = |to: &str| {
            (0..MAX_MOVES + 1)
                .map(|i| format!("/s/m{i} > {to}"))
                .collect::<Vec<_>>()
                .join(";")
        };
        let moves = compare(
            (&table(&many("x")), NONE),
            (&table(&many("y")), NONE),
            &mut DiffBudget::default(),
        );
        assert!(moves.is_cut);
        assert_eq!(moves.moves.len(), MAX_MOVES);
    }
    #[test]
    fn shares_and_steps_beyond_the_budget_are_not_told() {
        let weighted = |to: &str| (0..100).map(|i| format!("{to}{i}:1")).collect::<Vec<_>>().join(",");
        let (before, after) = (
            table(&format!("* > {}", weighted("x"))),
            table(&format!("* > {}", weighted("y"))),
        );
        let mut budget = DiffBudget::default();
        let moves = compare((&before, NONE), (&after, NONE), &mut budget);
        assert_eq!((moves.moves.len(), moves.is_cut), (1, false));
        assert_eq!(budget.shares, DiffBudget::default().shares - 200);
        // The shares are used up: later changes are not listed.
        let many = |to: &str| table(&format!("/a > {to}:1,z:1; /b > {to}:1,z:2; /c > {to}:1,z:3"));
        let moves = |shares: usize, steps: u64| {
            let mut budget = DiffBudget {
                shares,
                ..DiffBudget::default()
            };
            budget.steps.take(budget::MAX_STEPS - steps);
            let moves = compare((&many("x"), NONE), (&many("y"), NONE), &mut budget);
            (moves.moves.len(), moves.is_cut)
        };
        assert_eq!(moves(13, 10_000), (3, false));
        assert_eq!(moves(5, 10_000), (2, true));
        assert_eq!(moves(1, 10_000), (1, true));
        let (told, is_cut) = moves(13, 100);
        assert!(told < 3 && is_cut, "{told}");
    }
}
