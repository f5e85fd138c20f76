#!/usr/bin/env python3
"""Fresh scenarios for clients of every language, from a seed: fresh.py [--common] SEED [COUNT] > rows. See README.md.

The rows of a seed are the same on every machine. The kinds take turns; the id of a row says its kind. With --common they are in words
that every client takes (`common.py`), and none needs a lookup service, so that a client without session filters and RLS is asked about
more than its refusals.
"""
import argparse
import json
import random

import common
import fresh_changes
import fresh_graphs
import fresh_loads
import fresh_lookups
import fresh_mixed
import fresh_starts
import fresh_turns
from names import (ADS, CDS, EDS, HEALTH, LDS, MANAGER, METHODS, RDS, TYPE, cookie, cookie_state, custom, endpoint, http_filter,
                   policy, router)

PORT = 7001


class World:
    """A row in the making: what is drawn, and the addresses that are taken."""

    def __init__(self, seed, number):
        self.chance = random.Random(f"{seed}/{number}")
        self.taken, self.dead, self.silent = [], [], []
        self.filters, self.resources, self.steps, self.extra = [], [], [], {}
        self.virtual_host = {"name": "v", "domains": ["*"], "routes": []}

    # What is drawn.
    def percent(self, share):
        return self.chance.randrange(100) < share

    def one(self, *values):
        return self.chance.choice(values)

    def between(self, low, high):
        return self.chance.randint(low, high)

    # Endpoints.
    def address(self, is_dead=False, is_silent=False):
        number = len(self.taken) + len(self.dead) + len(self.silent)
        address = f"127.0.{1 + number // 200}.{1 + number % 200}:{PORT}"
        (self.dead if is_dead else self.silent if is_silent else self.taken).append(address)
        return address

    def locality(self, addresses, name="r0", priority=0, weight=1, **more):
        return {"locality": {"region": name}, "priority": priority, "load_balancing_weight": weight,
                "lb_endpoints": [endpoint(a) if isinstance(a, str) else a for a in addresses], **more}

    def locals(self, count=None):
        """Localities of one priority with an endpoint or more each."""
        return [self.locality([self.address() for _ in range(self.between(1, 3))], f"r{i}", 0, self.between(1, 4))
                for i in range(count or self.between(1, 3))]

    # Resources.
    def cluster(self, name="c", localities=None, **fields):
        self.put({"@type": CDS, "name": name, "type": "EDS", "eds_cluster_config": {"eds_config": ADS}, **fields})
        if localities is not None:
            self.put(self.endpoints(name, localities))

    def endpoints(self, name, localities, **fields):
        return {"@type": EDS, "cluster_name": name, "endpoints": localities, **fields}

    def put(self, resource):
        self.resources.append(resource)

    def route(self, action=None, match=None, **fields):
        routes = self.virtual_host["routes"]
        routes.append({"match": match or {"prefix": "/"}, "route": action or {"cluster": "c"}, **fields})

    def host(self, localities, **fields):
        """One cluster with these localities, and a route to it."""
        self.cluster("c", localities, **fields)
        self.route()

    # Steps.
    def pick(self, count=1, headers=(), **fields):
        step = {"method": METHODS[0], "count": count, "headers": [list(h) for h in headers], "timeout": 3, **fields}
        self.steps.append({"pick": step})

    def step(self, **what):
        self.steps.append(what)

    def row(self, kind, number):
        routes = {"name": "rc", "virtual_hosts": [self.virtual_host]}
        manager = {"@type": MANAGER, "http_filters": [*self.filters, router()]}
        if self.percent(50):
            self.put({"@type": RDS, **routes})
            manager["rds"] = {"config_source": ADS, "route_config_name": "rc"}
        else:
            manager["route_config"] = routes
        listener = {"@type": LDS, "name": "svc", "api_listener": {"api_listener": manager}}
        return {"id": f"fresh-{kind}-{number}", "target": "svc", "backends": self.taken,
                **({"silent": self.silent} if self.silent else {}), "resources": [listener, *self.resources],
                "steps": self.steps, **self.extra}


# --- the kinds: each a world of one feature, with draws of its own --------------------------------------------------------


def session(w):
    state = {"name": "sid", **w.one({}, {"path": "/pkg.Service"}, {"ttl": "60s"}, {"ttl": "0s"})}
    w.filters.append(http_filter("ss", "stateful_session.v3.StatefulSession", session_state=cookie_state(state),
                                 is_optional=w.percent(60)))
    localities = w.locals()
    if w.percent(50):
        localities[0]["lb_endpoints"].append(endpoint(w.address(), health_status=w.one(*HEALTH)))
    w.host(localities, **w.one({}, {"lb_policy": "RING_HASH"}, {"common_lb_config": {"override_host_status": {
        "statuses": ["HEALTHY", "DRAINING", "UNKNOWN"]}}}))
    if w.percent(30):
        per_route = {"@type": TYPE + "envoy.extensions.filters.http.stateful_session.v3.StatefulSessionPerRoute", "disabled": True}
        w.virtual_host["routes"][0]["typed_per_filter_config"] = {"ss": per_route}
    w.pick(2)
    for _ in range(w.between(1, 3)):
        w.pick(2, [cookie(w.one(*w.taken, "10.9.8.7:80"), w.one("c", "c", "other"))], method=w.one(*METHODS))


def ring(w):
    sizes = w.one({}, {"minimum_ring_size": w.between(1, 2000)}, {"minimum_ring_size": 16, "maximum_ring_size": w.between(16, 64)})
    spelled = w.one({"lb_policy": "RING_HASH", "ring_hash_lb_config": sizes},
                    {"load_balancing_policy": policy("ring_hash.v3.RingHash", hash_function="XX_HASH", **sizes)})
    localities = w.locals()
    for one in localities:
        for inner in one["lb_endpoints"]:
            if w.percent(30):
                inner["load_balancing_weight"] = w.between(1, 5)
            if w.percent(20):
                inner["health_status"] = w.one(*HEALTH)
    if w.percent(30):
        localities[0]["lb_endpoints"].append(endpoint(w.address(is_dead=True)))
    w.cluster("c", localities, **spelled)
    w.route({"cluster": "c", "hash_policy": [hash_policy(w) for _ in range(w.between(1, 2))]})
    for number in range(w.between(4, 8)):
        w.pick(1, [("x-user", f"u{w.between(0, 99)}")], method=w.one(*METHODS))


def hash_policy(w):
    return w.one({"header": {"header_name": "x-user"}}, {"header": {"header_name": "x-user"}, "terminal": True},
                 {"header": {"header_name": "x-none"}}, {"filter_state": {"key": "io.grpc.channel_id"}},
                 {"header": {"header_name": "x-user", "regex_rewrite": {"pattern": {"regex": "u(?P<n>.)"}, "substitution": w.one(
                     "\\1", "\\1", "\\2", "$1", "$2", "x${n}", "$n", "\\\\")}}})


def hash_key(w):
    localities = w.locals(w.between(1, 2))
    for one in localities:
        for inner in one["lb_endpoints"]:
            if w.percent(80):
                key = w.one("a", "b", "c", "key-1", "", 7)
                inner["metadata"] = {"filter_metadata": {"envoy.lb": {"hash_key": key}}}
            if w.percent(25):
                inner["load_balancing_weight"] = w.between(1, 4)
    w.cluster("c", localities, lb_policy="RING_HASH")
    w.route({"cluster": "c", "hash_policy": [{"header": {"header_name": "x-user"}}]})
    if w.percent(40):
        w.extra["env"] = w.one({"GRPC_XDS_ENDPOINT_HASH_KEY_BACKWARD_COMPAT": "true"},
                               {"GRPC_XDS_ENDPOINT_HASH_KEY_BACKWARD_COMPAT": "false"})
    for _ in range(8):
        w.pick(1, [("x-user", f"u{w.between(0, 99)}")])


def weights(w):
    localities = w.locals(w.between(2, 3))
    for one in localities:
        one["load_balancing_weight"] = w.one(0, 1, 1, 2, 5)
        for inner in one["lb_endpoints"]:
            if w.percent(40):
                inner["load_balancing_weight"] = w.between(1, 3)
    if w.percent(25):
        localities[0]["lb_endpoints"] = []
    w.host(localities, **w.one({}, {}, {"load_balancing_policy": policy(
        "wrr_locality.v3.WrrLocality", endpoint_picking_policy=policy("round_robin.v3.RoundRobin"))}))
    w.pick(12)


def least_request(w):
    w.host(w.locals(), **w.one({"lb_policy": "LEAST_REQUEST"}, {"lb_policy": "LEAST_REQUEST", "least_request_lb_config": {
        "choice_count": w.one(1, 2, 3, 20)}}, {"load_balancing_policy": policy(
            "least_request.v3.LeastRequest", choice_count=w.one(2, 4))}))
    w.pick(6)
    w.step(begin={"name": "b", "count": 3, "headers": [["x-hold", "1"]], "timeout": 4})
    w.pick(4)
    w.step(finish="b")


def pick_first(w):
    localities = w.locals()
    for one in localities:
        for inner in one["lb_endpoints"]:
            if w.percent(50):
                more = [{"address": endpoint(w.address(w.percent(40)))["endpoint"]["address"]} for _ in range(w.between(1, 2))]
                inner["endpoint"]["additional_addresses"] = more
    if w.percent(50):
        localities[0]["lb_endpoints"].insert(0, endpoint(w.address(is_dead=True)))
    w.chance.shuffle(localities)
    spelled = w.one(policy("pick_first.v3.PickFirst"), policy("pick_first.v3.PickFirst", shuffle_address_list=True),
                    custom("pick_first", {}), policy("round_robin.v3.RoundRobin"))
    w.host(localities, load_balancing_policy=spelled)
    w.pick(4)
    if w.percent(50):
        w.step(stop=w.taken[0])
        w.step(sleep=0.5)
        w.pick(3)
        w.step(start=w.taken[0])
        w.step(sleep=2)
        w.pick(3)


def load_reports(w):
    w.host(w.locals(1), load_balancing_policy=policy(
        "client_side_weighted_round_robin.v3.ClientSideWeightedRoundRobin", blackout_period="0s", weight_update_period="0.1s",
        **w.one({}, {"error_utilization_penalty": 1.0}, {"weight_expiration_period": "1s"})))
    w.extra["orca"] = {a: {"rps_fractional": w.one(50, 100, 200), w.one("cpu_utilization", "application_utilization"): w.one(
        0.2, 0.5, 1.2), "eps": w.one(0, 10)} for a in w.taken if w.percent(85)}
    w.pick(6)
    w.step(sleep=0.5)
    w.pick(12)
    w.step(sleep=1.5)
    w.pick(6)


def outlier(w):
    common = {"interval": "0.5s", "base_ejection_time": w.one("0.5s", "3s"), "max_ejection_percent": w.one(10, 50, 100)}
    kinds = w.one({"enforcing_failure_percentage": 100, "failure_percentage_threshold": w.one(0, 40, 50, 80),
                   "failure_percentage_minimum_hosts": w.one(1, 5), "failure_percentage_request_volume": w.one(2, 4)},
                  {"enforcing_success_rate": 100, "success_rate_minimum_hosts": w.one(1, 3), "success_rate_request_volume": w.one(2, 3),
                   "success_rate_stdev_factor": w.one(500, 1900), "enforcing_failure_percentage": 0}, {})
    w.host([w.locality([w.address() for _ in range(w.between(2, 4))])], outlier_detection={**common, **kinds})
    bad = w.taken[0]
    w.pick(4)
    w.step(backend={bad: {"status": "INTERNAL"}})
    w.pick(4 * len(w.taken))
    w.step(sleep=0.8)
    w.pick(2 * len(w.taken))
    w.step(backend={bad: {}})
    w.step(sleep=w.one(1.5, 4.5))
    w.pick(2 * len(w.taken))


def drops(w):
    categories = [{"category": f"d{i}", "drop_percentage": {"numerator": w.one(0, 50, 100, 10000, 250000), "denominator": w.one(
        "HUNDRED", "TEN_THOUSAND", "MILLION")}} for i in range(w.between(1, 2))]
    localities = w.locals()
    w.cluster("c")
    w.put(w.endpoints("c", localities, policy={"drop_overloads": categories}))
    w.route({"cluster": "c", **w.one({}, {"retry_policy": {"retry_on": "unavailable", "num_retries": 2}})})
    w.pick(8)
    if w.percent(50):
        w.step(update=[w.endpoints("c", localities)])
        w.step(sleep=0.5)
        w.pick(4)


def breakers(w):
    most = w.between(0, 3)
    threshold = {"priority": "DEFAULT", "max_requests": most} if w.percent(80) else {"priority": "HIGH", "max_requests": most}
    w.host(w.locals(1), circuit_breakers={"thresholds": [threshold]})
    w.pick(2)
    w.step(begin={"name": "b", "count": w.between(1, 4), "headers": [["x-hold", "1"]], "timeout": 4})
    w.pick(3, **w.one({}, {"wait_for_ready": True}))
    w.step(finish="b")
    w.pick(2)


def aggregate(w):
    depth = w.between(1, 3)
    members = []
    for number in range(w.between(2, 3)):
        name = f"m{number}"
        fate = w.one("fine", "fine", "dead", "missing", "empty")
        if fate == "fine":
            w.cluster(name, w.locals(w.between(1, 2)), **w.one({}, {"lb_policy": "RING_HASH"}))
        elif fate == "dead":
            w.cluster(name, [w.locality([w.address(is_dead=True)])])
        elif fate == "empty":
            w.cluster(name, [])
        members.append(name)
    for level in range(depth):
        name = "c" if level == depth - 1 else f"a{level}"
        w.put({"@type": CDS, "name": name, **w.one({"lb_policy": "ROUND_ROBIN"}, {}), "cluster_type": {
            "name": "envoy.clusters.aggregate", "typed_config": {"@type": TYPE + "envoy.extensions.clusters.aggregate.v3.ClusterConfig",
                                                                 "clusters": members}}})
        members = [name, *w.one([], [members[-1]])]
    w.route()
    w.pick(4, timeout=18)
    w.pick(3, wait_for_ready=w.percent(20))


def dns(w):
    address = w.address(is_dead=w.percent(20))
    inner = endpoint(address)
    if w.percent(15):
        inner["endpoint"]["address"]["socket_address"]["address"] = w.one("localhost", "nowhere.invalid")
    assignment = {"cluster_name": "d", "endpoints": [{"lb_endpoints": [inner]}]}
    name = w.one("c", "d")
    w.put({"@type": CDS, "name": name, "type": "LOGICAL_DNS", "load_assignment": assignment, **w.one(
        {}, {"lb_policy": "RING_HASH"}, {"dns_lookup_family": "V4_ONLY"})})
    if name == "d":
        w.cluster("e", w.locals(1))
        w.put({"@type": CDS, "name": "c", "cluster_type": {"name": "envoy.clusters.aggregate", "typed_config": {
            "@type": TYPE + "envoy.extensions.clusters.aggregate.v3.ClusterConfig", "clusters": w.one(["d", "e"], ["e", "d"])}}})
    w.route()
    w.pick(4)
    w.pick(2, [("x-user", "u1")])


def failover(w):
    first = w.one("fine", "silent", "dead", "half")
    addresses = {"fine": [w.address], "silent": [lambda: w.address(is_silent=True)], "dead": [lambda: w.address(True)],
                 "half": [w.address, lambda: w.address(True)]}[first]
    localities = [w.locality([take() for take in addresses], "r0", 0), w.locality([w.address()], "r1", 1)]
    if w.percent(30):
        localities.append(w.locality([w.address()], "r2", w.one(2, 2, 4)))
    w.host(localities)
    w.pick(3, timeout=14)
    if first in ("fine", "half"):
        w.step(stop=w.taken[0])
        w.step(sleep=0.6)
        w.pick(3)
        w.step(start=w.taken[0])
        w.step(sleep=2.5)
        w.pick(3)


def retry(w):
    policy_ = {"retry_on": w.one("unavailable", "cancelled,internal", "deadline-exceeded,unavailable", "5xx", "resource-exhausted"),
               **w.one({}, {"num_retries": w.between(1, 8)}), **w.one({}, {"retry_back_off": w.one(
                   {"base_interval": "0.05s"}, {"base_interval": "0.05s", "max_interval": "0.1s"}, {"base_interval": "0.3s"})})}
    w.cluster("c", w.locals(1))
    if w.percent(50):
        w.route({"cluster": "c", "retry_policy": policy_})
    else:
        w.virtual_host["retry_policy"] = policy_
        w.route()
    w.pick()
    for _ in range(4):
        code = w.one("UNAVAILABLE", "INTERNAL", "CANCELLED", "RESOURCE_EXHAUSTED", "UNKNOWN")
        headers = [(w.one("x-fail", "x-fail", "x-fail-late"), f"{code}:{w.one(1, 2, 9)}")]
        if w.percent(25):
            headers.append(("x-pushback", w.one("50", "-1", "x")))
        w.pick(1, headers, timeout=6)


def rls(w):
    config = {"@type": TYPE + "grpc.lookup.v1.RouteLookupClusterSpecifier", "route_lookup_config": {
        "lookup_service": "127.0.9.9:7999", "cache_size_bytes": "1000", "grpc_keybuilders": [{"names": [{"service": "pkg.Service"}],
                                                                                             "headers": [{"key": "u", "names": ["x-user"]}]}],
        **w.one({}, {"default_target": "c"})}}
    plugin = {"extension": {"name": "rls", "typed_config": config}, "is_optional": w.percent(60)}
    w.extra.update(lookup_service="127.0.9.9:7999", lookups=[{"keys": {"u": "u1"}, "targets": ["c"]}])
    if w.percent(60):  # the program brings RLS
        w.extra["with"] = "rls"
    w.cluster("c", w.locals(1))
    w.put({"@type": RDS, "name": "rls", "cluster_specifier_plugins": [plugin], "virtual_hosts": [{"name": "v", "domains": ["*"], "routes": [
        {"match": {"prefix": "/pkg"}, "route": {"cluster_specifier_plugin": "rls"}}, {"match": {"prefix": ""}, "route": {"cluster": "c"}}]}]})
    w.extra["rds"] = "rls"
    w.pick(2, [("x-user", "u1")], timeout=18)
    w.pick(1, [("x-user", "u2")])
    w.pick(1, method="/shop.Cart/Get")


def fault(w):
    percentage = {"numerator": w.one(0, 100, 100, 50), "denominator": "HUNDRED"}
    abort = w.one({"grpc_status": w.between(1, 16)}, {"http_status": w.one(200, 400, 404, 429, 503)}, {"header_abort": {}})
    config = {"abort": {**abort, "percentage": percentage}} if w.percent(75) else {}
    if not config or w.percent(40):
        config["delay"] = {**w.one({"fixed_delay": "0.3s"}, {"header_delay": {}}), "percentage": w.one(percentage, {"numerator": 100})}
    config.update(w.one({}, {}, {"max_active_faults": w.one(0, 1)}))
    w.filters.append(http_filter("fault", "fault.v3.HTTPFault", **config))
    w.host(w.locals(1))
    if w.percent(30):
        override = {"@type": TYPE + "envoy.extensions.filters.http.fault.v3.HTTPFault", **w.one({}, {"abort": {
            "grpc_status": 7, "percentage": {"numerator": 100}}})}
        w.virtual_host["typed_per_filter_config"] = {"fault": override}
    w.pick(3)
    w.pick(2, [("x-envoy-fault-abort-grpc-request", "5"), *w.one([], [("x-envoy-fault-abort-percentage", "100")])])
    w.pick(1, [("x-envoy-fault-delay-request", "400")])


def rewrite(w):
    localities = w.locals(1)
    for inner in localities[0]["lb_endpoints"]:
        if w.percent(70):
            inner["endpoint"]["hostname"] = w.one("one.example", "two.example:81")
    w.cluster("c", localities)
    w.route({"cluster": "c", "auto_host_rewrite": w.percent(80)})
    if w.percent(60):
        w.extra["bootstrap"] = {"server_features": ["xds_v3", "trusted_xds_server"]}
        w.extra["env"] = {"GRPC_EXPERIMENTAL_XDS_AUTHORITY_REWRITE": "true"}
    w.pick(3, tells=["authority"])


def timeouts(w):
    duration = w.one({"max_stream_duration": w.one("0.5s", "1s", "0s", "10s")}, {"grpc_timeout_header_max": w.one("0.5s", "0s")},
                     {"grpc_timeout_header_max": "2s", "max_stream_duration": "0.4s"})
    w.cluster("c", w.locals(1))
    w.route({"cluster": "c", **w.one({"max_stream_duration": duration}, {"max_stream_duration": duration}, {"timeout": "0.3s"})})
    w.pick()
    w.pick(1, [("x-hold", w.one("0.7", "1.2"))], timeout=w.one(0.9, 3))
    w.pick(1, [("x-hold", "0.2")])


def missing(w):
    what = w.one("cluster", "endpoints", "routes", "nothing")
    localities = w.locals(1)
    if what != "cluster":
        w.cluster("c", None if what == "endpoints" else localities)
    w.route()
    w.cluster("other", w.locals(1))
    w.route({"cluster": "other"}, {"path": METHODS[1]})
    w.virtual_host["routes"].reverse()
    if what == "routes":
        w.extra["rds"] = "absent"
    w.pick(1, timeout=w.one(3, 18))
    w.pick(1, method=METHODS[1])
    if what == "nothing":
        w.step(remove=w.one([[CDS, "c"]], [[EDS, "c"]], [[LDS, "svc"]]))
        w.step(sleep=0.7)
        w.pick(2)
        w.pick(1, method=METHODS[1])
    elif what != "routes":
        w.step(sleep=w.one(0.5, 16))
        w.step(update=[w.resources[0] if what == "endpoints" else {"@type": CDS, "name": "c", "type": "EDS", "eds_cluster_config": {
            "eds_config": ADS}}, w.endpoints("c", localities)])
        w.step(sleep=0.7)
        w.pick(2)


def data_error(w):
    localities = w.locals(1)
    bad = w.one({"@type": CDS, "name": "c", "type": "EDS", "eds_cluster_config": {"eds_config": ADS}, "lb_policy": "MAGLEV"},
                {"@type": CDS, "name": "c", "type": "STATIC"},
                w.endpoints("c", [w.locality([w.address()], "r0", 0), w.locality([w.address()], "r2", 2)]),
                w.endpoints("c", [w.locality([w.address()], "r0", 0), w.locality([w.address()], "r0", 0)]))
    w.route()
    w.cluster("other", w.locals(1))
    w.virtual_host["routes"].insert(0, {"match": {"path": METHODS[1]}, "route": {"cluster": "other"}})
    if w.percent(50):  # there was a resource before it
        w.cluster("c", localities)
        w.pick(2)
        w.step(update=[bad])
        w.step(sleep=0.7)
    else:
        w.cluster("c", localities)
        w.resources = [bad if (r["@type"], r.get("name", r.get("cluster_name"))) == (bad["@type"], "c") else r for r in w.resources]
    w.pick(2)
    w.pick(1, method=METHODS[1])
    w.step(update=[{"@type": CDS, "name": "c", "type": "EDS", "eds_cluster_config": {"eds_config": ADS}}, w.endpoints("c", localities)])
    w.step(sleep=0.7)
    w.pick(2)


def routes(w):
    for name in ("c", "d"):
        w.cluster(name, w.locals(1))
    for _ in range(w.between(2, 4)):
        header = {"name": w.one("x-a", "content-type", "x-bin-bin", ":path", "user-agent"), **w.one(
            {"exact_match": "1"}, {"string_match": {"contains": "1", "ignore_case": w.percent(50)}}, {"contains_match": "a"},
            {"present_match": w.percent(70)}, {"range_match": {"start": 1, "end": 5}}, {"safe_regex_match": {"regex": "[0-9]+"}},
            {"prefix_match": "app"}), "invert_match": w.percent(25)}
        match = {**w.one({"prefix": w.one("", "/", "/pkg")}, {"path": w.one(*METHODS)}, {"safe_regex": {"regex": w.one(".*Other", "/pkg.*")}}),
                 **({"headers": [header]} if w.percent(60) else {}), **({"case_sensitive": False} if w.percent(20) else {})}
        action = w.one({"cluster": "c"}, {"cluster": "d"}, {"weighted_clusters": {"clusters": [
            {"name": "c", "weight": w.between(0, 3)}, {"name": "d", "weight": w.between(1, 3)}]}})
        w.route(action, match)
    if w.percent(60):
        w.route()
    w.virtual_host["domains"] = w.one(["*"], ["svc"], ["SVC"], ["s*"], ["other", "*vc"])
    for _ in range(5):
        w.pick(1, w.one([], [("x-a", w.one("1", "3", "12", "abc"))], [("x-a", "1"), ("x-a", "2")]), method=w.one(*METHODS))


KINDS = [session, ring, hash_key, weights, least_request, pick_first, load_reports, outlier, drops, breakers, aggregate, dns, failover,
         retry, rls, fault, rewrite, timeouts, missing, data_error, routes, *fresh_mixed.KINDS, *fresh_changes.KINDS, *fresh_turns.KINDS,
         *fresh_lookups.KINDS, *fresh_starts.KINDS, *fresh_loads.KINDS, *fresh_graphs.KINDS]


def row(seed, number, kinds=KINDS):
    world, kind = World(seed, number), kinds[number % len(kinds)]
    kind(world)
    made = world.row(kind.__name__, number)
    if listener := made.pop("listener", None):
        made["resources"][0] = listener
    if name := made.pop("rds", None):  # the listener asks for these routes
        manager = made["resources"][0]["api_listener"]["api_listener"]
        manager.pop("route_config", None)
        manager["rds"] = {"config_source": ADS, "route_config_name": name}
    return made


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seed")
    parser.add_argument("count", nargs="?", type=int, default=200)
    parser.add_argument("--common", action="store_true", help="in words that every client takes, without lookups")
    args = parser.parse_args()
    kinds = [kind for kind in KINDS if not (args.common and kind in (rls, *fresh_lookups.KINDS))]
    said = common.say if args.common else lambda made: made
    for number in range(args.count):
        print(json.dumps(said(row(args.seed, number, kinds)), separators=(",", ":")))


if __name__ == "__main__":
    main()
