//! A place that policies look at, and what it shows them. Each root is made when the first policy asks for it.

use std::cell::OnceCell;
use std::rc::Rc;

use crate::cel::{Value, View};
use crate::policy::{Element, PARSED, RESOURCE};
use crate::reach::Reach;
use crate::view::{self, Named, Seen, duration, locality_name, optional, text, texts};
use xdsctl_channel::client::{Checked, World};
use xdsctl_document::envelope;
use xdsctl_document::proto::print::Printer;
use xdsctl_document::source::SourceMap;
use xdsctl_model::resource::endpoints::{Endpoint, Locality};
use xdsctl_model::resource::filter::HttpFilter;
use xdsctl_model::resource::route::{Action, Route, VirtualHost};
use xdsctl_model::resource::{Cluster, Endpoints, Listener, RouteConfiguration};

/// The thing at a place, with what it stands in.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Thing<'a> {
    Listener(&'a Listener),
    Filter(&'a HttpFilter),
    RouteConfiguration(&'a RouteConfiguration),
    VirtualHost(&'a VirtualHost),
    Route(&'a VirtualHost, &'a Route),
    RetryPolicy(&'a VirtualHost, &'a Route),
    Cluster(&'a Cluster),
    Endpoints(&'a Endpoints),
    Locality(usize, &'a [Locality], &'a Locality),
    Endpoint(usize, &'a Locality, &'a Endpoint),
}

impl Thing<'_> {
    pub const fn element(self) -> Element {
        match self {
            Thing::Listener(_) => Element::Listener,
            Thing::Filter(_) => Element::Filter,
            Thing::RouteConfiguration(_) => Element::RouteConfiguration,
            Thing::VirtualHost(_) => Element::VirtualHost,
            Thing::Route(..) => Element::Route,
            Thing::RetryPolicy(..) => Element::RetryPolicy,
            Thing::Cluster(_) => Element::Cluster,
            Thing::Endpoints(_) => Element::Endpoints,
            Thing::Locality(..) => Element::Locality,
            Thing::Endpoint(..) => Element::Endpoint,
        }
    }
}

/// What does not change from place to place.
#[derive(Clone, Copy)]
pub(crate) struct Ground<'a> {
    pub world: &'a World,
    pub reach: &'a Reach<'a>,
    pub sources: &'a SourceMap,
    pub shows_secrets: bool,
}

/// A resource of it.
#[derive(Clone, Copy)]
pub(crate) struct Held<'a> {
    pub checked: &'a Checked,
    /// The key of its name.
    pub name: &'a str,
}

/// The JSON of a resource as it is written, plain and without secrets.
pub(crate) type Written<'a> = Rc<[OnceCell<Value<'a>>; 2]>;

/// A place.
pub(crate) struct Site<'a> {
    pub ground: Ground<'a>,
    pub held: Held<'a>,
    pub thing: Thing<'a>,
    written: Written<'a>,
    /// Plain and without secrets.
    parsed: [OnceCell<Value<'a>>; 2],
}

impl<'a> Site<'a> {
    pub const fn new(ground: Ground<'a>, held: Held<'a>, thing: Thing<'a>, written: Written<'a>) -> Site<'a> {
        Site {
            ground,
            held,
            thing,
            written,
            parsed: [OnceCell::new(), OnceCell::new()],
        }
    }

    /// The root of this number; for a message without what may not be printed.
    pub fn root(&self, number: usize, for_message: bool) -> Value<'a> {
        let redacts = for_message && !self.ground.shows_secrets;
        let of = usize::from(redacts);
        match number {
            RESOURCE => self.written[of].get_or_init(|| self.written(redacts)).clone(),
            PARSED => self.parsed[of].get_or_init(|| self.of_thing(redacts)).clone(),
            _ => Value::object(WorldView {
                ground: self.ground,
                held: self.held,
                thing: self.thing,
                redacts,
            }),
        }
    }

    /// The resource as it is written, with proto names.
    fn written(&self, redacts: bool) -> Value<'a> {
        let checked = self.held.checked;
        let written = || {
            let source = self.ground.sources.get(checked.origin.source)?;
            let resource_type = checked.resource_type?;
            let (bytes, _) = envelope::again(source, checked.origin, resource_type)?;
            let mut printer = Printer::new(redacts);
            printer.named(&bytes, resource_type.type_name());
            serde_json::from_slice(&printer.out).ok()
        };
        optional(written(), |json: serde_json::Value| Value::of_json(&json))
    }

    fn of_thing(&self, redacts: bool) -> Value<'a> {
        let name = self.held.name;
        match self.thing {
            Thing::Listener(of) => view::listener(Named(name, Seen { of, redacts })),
            Thing::Filter(of) => view::filter(Seen { of, redacts }),
            Thing::RouteConfiguration(of) => Value::object(Named(self.routes_name(), Seen { of, redacts })),
            Thing::VirtualHost(of) => Value::object(Seen { of, redacts }),
            Thing::Route(_, of) => Value::object(Seen { of, redacts }),
            Thing::RetryPolicy(_, route) => match &route.action {
                Action::Route(of) => view::retry_policy(Seen { of: &**of, redacts }),
                Action::NonForwarding | Action::Unknown => Value::Null,
            },
            Thing::Cluster(of) => view::cluster(Named(name, Seen { of, redacts })),
            Thing::Endpoints(of) => Value::object(Named(name, Seen { of, redacts })),
            Thing::Locality(_, _, of) => Value::object(Seen { of, redacts }),
            Thing::Endpoint(_, _, of) => Value::object(Seen { of, redacts }),
        }
    }

    /// The name of a RouteConfiguration; empty in a listener.
    fn routes_name(&self) -> &'a str {
        match self.held.checked.parsed.as_deref() {
            Some(xdsctl_model::resource::Resource::RouteConfiguration(_)) => self.held.name,
            _ => "",
        }
    }
}

/// `world`.
struct WorldView<'a> {
    ground: Ground<'a>,
    held: Held<'a>,
    thing: Thing<'a>,
    redacts: bool,
}

impl<'a> View<'a> for WorldView<'a> {
    fn get(&self, field: &str) -> Value<'a> {
        let (reach, held, thing) = (self.ground.reach, self.held, self.thing);
        let resource_type = held.checked.resource_type;
        match field {
            "client" => Value::object(ClientView(self.ground.world)),
            "type" => optional(resource_type, |of| text(of.short_name())),
            "name" => text(held.name),
            "listeners" => reach.listeners(held, thing),
            "routes" => reach.routes(held, thing, self.redacts),
            "clusters" => reach.clusters(held, thing, self.redacts),
            "aggregates" => texts(reach.aggregates(held.name, thing)),
            "priorities" => reach.priorities(held, thing),
            "filters" => reach.filters(held, thing, self.redacts),
            "deadline" => optional(reach.deadline(held, thing), duration),
            "virtual_host" => match thing {
                Thing::Route(host, _) | Thing::RetryPolicy(host, _) => Value::object(self.seen(host)),
                _ => Value::Null,
            },
            "route" => match thing {
                Thing::RetryPolicy(_, route) => Value::object(self.seen(route)),
                _ => Value::Null,
            },
            "priority" => match thing {
                Thing::Locality(priority, ..) | Thing::Endpoint(priority, ..) => Value::int(priority),
                _ => Value::Null,
            },
            "locality" => match thing {
                Thing::Endpoint(_, locality, _) => locality_name(&locality.name),
                _ => Value::Null,
            },
            "share" => match thing {
                Thing::Locality(_, all, locality) => Value::Double(share(all, locality)),
                _ => Value::Null,
            },
            _ => Value::Null,
        }
    }
}

impl<'a> WorldView<'a> {
    const fn seen<T>(&self, of: &'a T) -> Seen<'a, T> {
        Seen {
            of,
            redacts: self.redacts,
        }
    }
}

/// The share of a locality among those of its priority.
pub(crate) fn share(all: &[Locality], locality: &Locality) -> f64 {
    let sum: u64 = all.iter().map(|one| u64::from(one.weight)).sum();
    #[expect(clippy::cast_precision_loss, reason = "a share")]
    let sum = sum.max(1) as f64;
    f64::from(locality.weight) / sum
}

struct ClientView<'a>(&'a World);

impl<'a> View<'a> for ClientView<'a> {
    fn get(&self, field: &str) -> Value<'a> {
        let client = self.0.client();
        let name = client.to_string();
        match (field, name.split_once('@')) {
            ("name", _) => Value::text(name),
            ("family", Some((family, _))) => Value::text(family),
            ("version", Some((_, version))) => Value::text(version),
            _ => Value::Null,
        }
    }
}
