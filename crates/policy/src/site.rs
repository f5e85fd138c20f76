//! A place that policies look at, and the roots that it shows them. Each root is made when the
//! first policy asks for it.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use crate::cel::{Value, View, Work, duration};
use crate::policy::{Element, PARSED, RESOURCE};
use crate::reach::{Reach, Ways};
use crate::uses::ChainNumber;
use crate::view::{self, optional, text, texts};
use xdsctl_channel::client::{Checked, World};
use xdsctl_document::envelope;
use xdsctl_document::proto::pb::tables;
use xdsctl_document::proto::print::Printer;
use xdsctl_document::source::SourceMap;
use xdsctl_document::source::wire::WireFields;
use xdsctl_model::diag::{FieldPath, Seg};
use xdsctl_model::resource::endpoints::{Endpoint, Locality};
use xdsctl_model::resource::filter::HttpFilter;
use xdsctl_model::resource::route::{Route, VirtualHost};
use xdsctl_model::resource::{Cluster, Endpoints, Listener, RouteConfiguration};

/// The thing at a place, with what contains it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Thing<'a> {
    Listener(&'a Listener),
    Filter(ChainNumber, &'a HttpFilter),
    /// The routes inside a filter chain, or a resource.
    RouteConfiguration(Option<ChainNumber>, &'a RouteConfiguration),
    VirtualHost(&'a VirtualHost),
    Route(&'a VirtualHost, &'a Route),
    RetryPolicy(&'a VirtualHost, &'a Route),
    Cluster(&'a Cluster),
    Endpoints(&'a Endpoints),
    Locality {
        priority: usize,
        /// All localities of the priority.
        all: &'a [Locality],
        /// The index of this locality among them.
        number: usize,
        of: &'a Locality,
    },
    Endpoint(usize, &'a Locality, &'a Endpoint),
}

impl Thing<'_> {
    pub const fn element(self) -> Element {
        match self {
            Thing::Listener(_) => Element::Listener,
            Thing::Filter(..) => Element::Filter,
            Thing::RouteConfiguration(..) => Element::RouteConfiguration,
            Thing::VirtualHost(_) => Element::VirtualHost,
            Thing::Route(..) => Element::Route,
            Thing::RetryPolicy(..) => Element::RetryPolicy,
            Thing::Cluster(_) => Element::Cluster,
            Thing::Endpoints(_) => Element::Endpoints,
            Thing::Locality { .. } => Element::Locality,
            Thing::Endpoint(..) => Element::Endpoint,
        }
    }

    /// Says whether it is a RouteConfiguration, or is inside one.
    pub const fn is_of_routes(self) -> bool {
        matches!(
            self,
            Thing::RouteConfiguration(..) | Thing::VirtualHost(_) | Thing::Route(..) | Thing::RetryPolicy(..)
        )
    }

    /// Says whether routes lead to it.
    pub const fn is_below_routes(self) -> bool {
        matches!(
            self,
            Thing::Cluster(_) | Thing::Endpoints(_) | Thing::Locality { .. } | Thing::Endpoint(..)
        )
    }
}

/// The context that is the same for all places.
#[derive(Clone, Copy)]
pub(crate) struct Ground<'a> {
    pub work: &'a Work,
    pub world: &'a World,
    pub reach: &'a Reach<'a>,
    pub sources: &'a SourceMap,
    /// The fields of `resource` that are looked at; `None` for all of them.
    pub written: Option<&'a BTreeSet<&'a String>>,
    pub shows_secrets: bool,
}

/// A resource of the world, or the routes inside one.
pub(crate) struct Held<'a> {
    pub checked: &'a Checked,
    /// The name under which the world has it.
    pub name: &'a str,
    pub ways: Ways<'a>,
    /// For routes inside a listener: the filter chain.
    pub chain: Option<ChainNumber>,
    /// For routes inside a listener: their place in the resource.
    routes: Option<FieldPath>,
    /// The resource as it is written: plain, and without secrets.
    written: [OnceCell<Value<'a>>; 2],
}

impl<'a> Held<'a> {
    pub fn new(checked: &'a Checked, name: &'a str, routes: Option<(ChainNumber, FieldPath)>) -> Rc<Held<'a>> {
        let (chain, routes) = routes.unzip();
        Rc::new(Held {
            checked,
            name,
            ways: Ways::default(),
            chain,
            routes,
            written: Default::default(),
        })
    }
}

/// A place that policies look at.
pub(crate) struct Site<'a> {
    pub ground: Ground<'a>,
    pub held: Rc<Held<'a>>,
    pub thing: Thing<'a>,
    /// The root `parsed`: plain, and without secrets.
    parsed: [OnceCell<Value<'a>>; 2],
    /// The root `world`: plain, and without secrets.
    world: [OnceCell<Value<'a>>; 2],
}

impl<'a> Site<'a> {
    pub const fn new(ground: Ground<'a>, held: Rc<Held<'a>>, thing: Thing<'a>) -> Site<'a> {
        Site {
            ground,
            held,
            thing,
            parsed: [OnceCell::new(), OnceCell::new()],
            world: [OnceCell::new(), OnceCell::new()],
        }
    }

    /// Returns the root of this number. For a message, it is without what must not be printed.
    pub fn root(&self, number: usize, for_message: bool) -> &Value<'a> {
        let redacts = for_message && !self.ground.shows_secrets;
        let of = usize::from(redacts);
        let world = || {
            Value::object(WorldView {
                ground: self.ground,
                held: Rc::clone(&self.held),
                thing: self.thing,
                redacts,
            })
        };
        match number {
            RESOURCE => self.held.written[of].get_or_init(|| self.written(redacts)),
            PARSED => self.parsed[of].get_or_init(|| self.of_thing(redacts)),
            _ => self.world[of].get_or_init(world),
        }
    }

    /// Returns the resource as it is written, with proto names; for routes inside a listener, only
    /// these.
    fn written(&self, redacts: bool) -> Value<'a> {
        // Masking needs to see all fields.
        let fields = self.ground.written.filter(|_| !redacts && self.held.routes.is_none());
        let mut value = printed(self.held.checked, self.ground.sources, redacts, fields).unwrap_or(Value::Null);
        for step in self.held.routes.iter().flat_map(FieldPath::segs) {
            value = match step {
                Seg::Field(name) => value.field(name),
                Seg::Index(number) => value.element(number),
                // The step into an Any is skipped: the fields of its message are next to its type.
                _ => continue,
            }
            .unwrap_or(Value::Null);
        }
        self.ground.work.add(value.parts());
        value
    }

    fn of_thing(&self, redacts: bool) -> Value<'a> {
        let (name, kind) = (self.held.name, self.thing.element().name());
        match self.thing {
            Thing::Listener(of) => view::resource(kind, name, of, redacts),
            Thing::Filter(_, of) => view::object(kind, of, redacts),
            Thing::RouteConfiguration(Some(_), of) => view::object(kind, of, redacts),
            Thing::RouteConfiguration(None, of) => view::resource(kind, name, of, redacts),
            Thing::VirtualHost(of) => view::object(kind, of, redacts),
            Thing::Route(_, of) => view::object(kind, of, redacts),
            Thing::RetryPolicy(_, route) => view::optional(route.route_action(), view::retry_policy),
            Thing::Cluster(of) => view::resource(kind, name, of, redacts),
            Thing::Endpoints(of) => view::resource(kind, name, of, redacts),
            Thing::Locality { of, .. } => view::object(kind, of, redacts),
            Thing::Endpoint(_, _, of) => view::object(kind, of, redacts),
        }
    }
}

/// Returns a resource as it is written, with proto names.
pub fn written(checked: &Checked, sources: &SourceMap, redacts: bool) -> Option<Json> {
    printed(checked, sources, redacts, None)
}

/// Prints a resource, or some of its fields only, as JSON or as a [`Value`].
fn printed<T: DeserializeOwned>(
    checked: &Checked,
    sources: &SourceMap,
    redacts: bool,
    fields: Option<&BTreeSet<&String>>,
) -> Option<T> {
    let source = sources.get(checked.origin.source)?;
    let resource_type = checked.resource_type?;
    let (bytes, _) = envelope::again(source, checked.origin, resource_type)?;
    let message = tables::message(resource_type.type_name())?;
    let wanted = fields.map(|fields| {
        let mut wanted = Vec::new();
        for item in WireFields::new(&bytes).map_while(Result::ok) {
            let field = message.field(item.number);
            if field.is_some_and(|field| fields.iter().any(|name| *name == field.name)) {
                wanted.extend_from_slice(bytes.get(item.start..item.end).unwrap_or_default());
            }
        }
        wanted
    });
    let mut printer = Printer::new(redacts);
    printer.message(wanted.as_deref().unwrap_or(&bytes), message);
    serde_json::from_slice(&printer.out).ok()
}

/// Returns where a place is in the JSON of [`written`], as a JSON pointer.
pub fn pointer(place: &FieldPath) -> String {
    let step = |step| match step {
        Seg::Field(name) => format!("/{name}"),
        Seg::Index(number) => format!("/{number}"),
        // The step into an Any has no name: the fields of its message are next to its type.
        _ => String::new(),
    };
    place.segs().map(step).collect()
}

/// The root `world`.
struct WorldView<'a> {
    ground: Ground<'a>,
    held: Rc<Held<'a>>,
    thing: Thing<'a>,
    redacts: bool,
}

impl<'a> View<'a> for WorldView<'a> {
    fn get(&self, field: &str) -> Value<'a> {
        let (reach, held, thing) = (self.ground.reach, &*self.held, self.thing);
        match field {
            "client" => Value::object(ClientView(self.ground.world)),
            "type" => optional(held.checked.resource_type, |of| text(of.short_name())),
            "name" => text(held.name),
            "listeners" => reach.listeners(held, thing),
            "routes" => reach.routes(held, thing),
            "clusters" => reach.clusters(held, thing, self.redacts),
            "aggregates" => texts(reach.aggregates(held.name, thing)),
            "priorities" => reach.priorities(held, thing),
            "filter_chains" => Reach::filter_chains(thing, self.redacts),
            "filters" => reach.filters(held, thing, self.redacts),
            "deadline" => optional(reach.deadline(held, thing), duration),
            "virtual_host" => match thing {
                Thing::Route(host, _) | Thing::RetryPolicy(host, _) => view::object("virtual_host", host, self.redacts),
                _ => Value::Null,
            },
            "route" => match thing {
                Thing::RetryPolicy(_, route) => view::object("route", route, self.redacts),
                _ => Value::Null,
            },
            "priority" => match thing {
                Thing::Locality { priority, .. } | Thing::Endpoint(priority, ..) => Value::int(priority),
                _ => Value::Null,
            },
            "locality" => match thing {
                Thing::Endpoint(_, locality, _) => Value::Record(&locality.name),
                _ => Value::Null,
            },
            "share" => match thing {
                Thing::Locality {
                    priority, all, number, ..
                } => reach.share(held, priority, all, number),
                _ => Value::Null,
            },
            _ => Value::Null,
        }
    }
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
