"""Kinds of fresh scenarios in which features meet, or resources change while RPCs are made. See fresh.py.

`w` is a World: what is drawn, and the row in the making.
"""
import json

from names import (ADS, CDS, EDS, HEALTH, LDS, METHODS, RDS, TYPE, cookie, cookie_state, custom, endpoint, http_filter, policy)

AGGREGATE = TYPE + "envoy.extensions.clusters.aggregate.v3.ClusterConfig"
SESSION = "stateful_session.v3.StatefulSession"


def eds(name, **fields):
    return {"@type": CDS, "name": name, "type": "EDS", "eds_cluster_config": {"eds_config": ADS}, **fields}


def aggregate(name, members, **fields):
    return {"@type": CDS, "name": name, "cluster_type": {"name": "envoy.clusters.aggregate", "typed_config": {
        "@type": AGGREGATE, "clusters": members}}, **fields}


def change(w, *resources, wait=0.7):
    w.step(update=list(resources))
    w.step(sleep=wait)


def stop(w, stopped):
    """One that still listens goes away, if there is one."""
    if running := [address for address in w.taken if address not in stopped]:
        stopped.append(w.one(*running))
        w.step(stop=stopped[-1])
        w.step(sleep=0.8)


def start(w, stopped, wait=2.5):
    """The one that went away last listens again, if there is one."""
    if stopped:
        w.step(start=stopped.pop())
        w.step(sleep=wait)


def begin(w):
    """RPCs that are under way for a while, until a step `finish` of "b"."""
    w.step(begin={"name": "b", "count": w.between(1, 2), "method": w.one(*METHODS), "timeout": 8,
                  "headers": [["x-hold", "3"], ["x-user", f"u{w.between(0, 5)}"]]})
    w.step(sleep=0.3)


def more_addresses(w, localities, dead=30):
    for one in localities:
        for inner in one["lb_endpoints"]:
            if w.percent(60):
                inner["endpoint"]["additional_addresses"] = [
                    {"address": endpoint(w.address(w.percent(dead)))["endpoint"]["address"]} for _ in range(w.between(1, 2))]


def default_config(w):
    """A service config of the application beside retries of the routes."""
    method = w.one({"retryPolicy": {"maxAttempts": w.between(2, 5), "initialBackoff": "0.05s", "maxBackoff": "0.1s",
                                    "backoffMultiplier": 1, "retryableStatusCodes": ["UNAVAILABLE", "INTERNAL"]}},
                   {"hedgingPolicy": {"maxAttempts": w.between(2, 4), "hedgingDelay": "0.1s", "nonFatalStatusCodes": ["UNAVAILABLE"]}},
                   {"timeout": "0.3s"}, {"waitForReady": True})
    config = {"methodConfig": [{"name": [w.one({}, {"service": "pkg.Service"})], **method}],
              **w.one({}, {"retryThrottling": {"maxTokens": 4, "tokenRatio": 0.1}}, {"loadBalancingConfig": [{"pick_first": {}}]})}
    w.extra["channel_args"] = [["grpc.service_config", json.dumps(config)]]
    w.cluster("c", [w.locality([w.address() for _ in range(w.between(2, 3))])])
    w.route({"cluster": "c", **w.one({}, {"retry_policy": {"retry_on": "unavailable", "num_retries": w.between(1, 3)}})})
    w.pick(2)
    w.pick(1, [("x-fail", f"{w.one('UNAVAILABLE', 'INTERNAL')}:{w.one(1, 3, 9)}")])
    w.pick(1, [("x-hold", "0.6")], timeout=2)
    w.step(stop=w.taken)
    w.step(sleep=0.6)
    w.pick(2)


def retry_levels(w):
    """Retries of the virtual host and of routes, of weighted clusters, with drops, breakers or sessions."""
    retries = lambda: {"retry_on": w.one("unavailable", "cancelled,unavailable", "internal,unavailable", "resource-exhausted", "reset"),
                       "num_retries": w.between(1, 6), "retry_back_off": w.one(
                           {"base_interval": "0.02s"}, {"base_interval": "0.2s", "max_interval": "0.2s"},
                           {"base_interval": "0.0005s"}, {"base_interval": "0.1s", "max_interval": "5s"})}
    if w.percent(60):
        w.virtual_host["retry_policy"] = retries()
    localities = [w.locality([w.address() for _ in range(w.between(1, 3))])]
    w.cluster("c", localities, **w.one({}, {"circuit_breakers": {"thresholds": [{"max_requests": 1}]}}, {"lb_policy": "RING_HASH"}))
    w.cluster("d", [w.locality([w.address(w.percent(40))])])
    weighted = {"weighted_clusters": {"clusters": [{"name": "c", "weight": w.between(0, 2)}, {"name": "d", "weight": w.between(1, 2)}]}}
    w.route({**w.one({"cluster": "d"}, weighted), **w.one({}, {"retry_policy": retries()})}, {"path": METHODS[1]})
    w.route({"cluster": "c", **w.one({}, {"retry_policy": retries()})})
    for _ in range(4):
        headers = [("x-fail", f"{w.one('UNAVAILABLE', 'UNAVAILABLE', 'INTERNAL', 'CANCELLED', 'RESOURCE_EXHAUSTED')}:{w.one(1, 2, 4, 9)}")]
        if w.percent(20):
            headers.append(("x-pushback", w.one("0", "100", "-5", "99999")))
        w.pick(1, w.one([], headers, headers), method=w.one(*METHODS), timeout=4, tells=["previous"])


def session_moves(w):
    """Sessions whose endpoint drains, goes, comes back or is in another cluster."""
    w.filters.append(http_filter("ss", SESSION, session_state=cookie_state({"name": "sid"}), is_optional=True))
    statuses = w.one({}, {"common_lb_config": {"override_host_status": {"statuses": w.one(["HEALTHY", "DRAINING"], ["DRAINING"], [
        "UNKNOWN", "DRAINING", "HEALTHY"], ["UNHEALTHY"])}}})
    localities = [w.locality([w.address() for _ in range(w.between(2, 3))])]
    w.cluster("c", localities, **statuses)
    w.cluster("d", w.locals(1), **statuses)
    weighted = {"weighted_clusters": {"clusters": [{"name": "c", "weight": 1}, {"name": "d", "weight": w.between(0, 3)}]}}
    w.route(w.one({"cluster": "c"}, weighted, {"cluster": "c", "retry_policy": {"retry_on": "unavailable", "num_retries": 2}}))
    held = cookie(w.taken[0])
    w.pick(2, [held])
    w.pick(1, [held], method=METHODS[2])
    kept = localities[0]["lb_endpoints"]
    first = w.one([endpoint(w.taken[0], health_status=w.one(*HEALTH))], [])
    change(w, w.endpoints("c", [w.locality([*first, *kept[1:]])]))
    w.pick(2, [held])
    w.pick(1, [cookie(w.taken[-1], "d")])
    w.pick(1, w.one([("cookie", "sid=")], [("cookie", "sid=%%")], [("cookie", "a=b; " + held[1])], [held, held]))
    change(w, w.endpoints("c", localities))
    w.pick(2, [held])


def lists(w):
    """Endpoints with several addresses below each policy, and addresses that go while they are used."""
    localities = [w.locality([w.address() for _ in range(w.between(2, 3))])]
    more_addresses(w, localities)
    spelled = w.one({"lb_policy": "RING_HASH"}, {"lb_policy": "ROUND_ROBIN"}, {"load_balancing_policy": custom("pick_first", {})},
                    {"load_balancing_policy": policy("pick_first.v3.PickFirst")}, {"lb_policy": "LEAST_REQUEST"})
    w.cluster("c", localities, **spelled)
    w.route({"cluster": "c", "hash_policy": [{"header": {"header_name": "x-user"}}]})
    user = lambda: [("x-user", f"u{w.between(0, 9)}")]
    w.pick(3, user())
    w.pick(2, user())
    w.step(stop=w.taken[0])
    w.step(sleep=0.6)
    w.pick(3, user())
    if w.percent(50):
        w.step(start=w.taken[0])
        w.step(sleep=2)
    else:
        change(w, w.endpoints("c", [w.locality(localities[0]["lb_endpoints"][1:])]))
    w.pick(3, user())


def weights_move(w):
    """Weights of localities and endpoints that change while RPCs are made."""
    spelled = w.one({}, {"lb_policy": "RING_HASH"}, {"load_balancing_policy": policy(
        "wrr_locality.v3.WrrLocality", endpoint_picking_policy=policy("pick_first.v3.PickFirst"))}, {"load_balancing_policy": policy(
            "wrr_locality.v3.WrrLocality", endpoint_picking_policy=policy("least_request.v3.LeastRequest"))},
                    {"load_balancing_policy": policy("round_robin.v3.RoundRobin")})
    groups = [[w.address() for _ in range(w.between(1, 3))] for _ in range(w.between(2, 3))]
    drawn = lambda: [w.locality(g, f"r{i}", w.one(0, 0, 0, 1) if i else 0, w.one(0, 1, 2, 9)) for i, g in enumerate(groups)]
    w.cluster("c", drawn(), **spelled)
    w.route({"cluster": "c", "hash_policy": [{"header": {"header_name": "x-user"}}]})
    w.pick(6, [("x-user", "u1")])
    for _ in range(w.between(1, 2)):
        change(w, w.endpoints("c", drawn()))
        w.pick(6, [("x-user", f"u{w.between(1, 5)}")])


def policy_moves(w):
    """A cluster gets another policy, or another list, in place."""
    spelled = lambda: w.one({}, {"lb_policy": "RING_HASH"}, {"lb_policy": "RING_HASH", "ring_hash_lb_config": {
        "minimum_ring_size": w.between(1, 64)}}, {"lb_policy": "LEAST_REQUEST"}, {"load_balancing_policy": policy("pick_first.v3.PickFirst")},
                            {"load_balancing_policy": policy("client_side_weighted_round_robin.v3.ClientSideWeightedRoundRobin")},
                            {"circuit_breakers": {"thresholds": [{"max_requests": w.between(0, 1)}]}},
                            {"outlier_detection": {"interval": "1s"}})
    localities = w.locals(w.between(1, 2))
    w.cluster("c", localities, **spelled())
    w.route({"cluster": "c", "hash_policy": [{"header": {"header_name": "x-user"}}]})
    w.pick(4, [("x-user", "u1")])
    for _ in range(w.between(1, 2)):
        change(w, *w.one([eds("c", **spelled())], [w.endpoints("c", w.locals(w.between(1, 2)))], [
            eds("c", **spelled()), w.endpoints("c", w.locals(1))]))
        w.pick(4, [("x-user", f"u{w.between(0, 9)}")])


def routes_move(w):
    """Routes that change: another cluster, weights, no route, another virtual host."""
    for name in ("c", "d"):
        w.cluster(name, w.locals(1))
    weighted = lambda: {"weighted_clusters": {"clusters": [{"name": n, "weight": w.between(0, 3)} for n in ("c", "d", w.one("c", "e"))]}}
    w.extra["rds"] = "moves"
    action = lambda: w.one({"cluster": "c"}, {"cluster": "d"}, {"cluster": "e"}, weighted())
    match = lambda: w.one({"prefix": "/"}, {"prefix": "/pkg"}, {"path": METHODS[2]}, {"prefix": "", "runtime_fraction": {
        "default_value": {"numerator": w.one(0, 50, 100), "denominator": "HUNDRED"}}}, {"prefix": "/", "query_parameters": [
            {"name": "a", "present_match": True}]}, {"prefix": "/", "grpc": {}})
    made = lambda: [{"match": match(), **w.one({"route": action()}, {"route": action()}, {"route": action()}, {"non_forwarding_action": {}},
                                               {"direct_response": {"status": 404}})} for _ in range(w.between(1, 3))]
    hosts = lambda: [{"name": "v", "domains": w.one(["*"], ["svc"], ["svc", "*"], ["svc:80"], ["sv*"], ["*c"]), "routes": made()}, *w.one(
        [], [{"name": "w", "domains": ["s*"], "routes": made()}])]
    w.put({"@type": RDS, "name": "moves", "virtual_hosts": hosts()})
    w.pick(3)
    w.pick(1, method=METHODS[2])
    for _ in range(2):
        change(w, {"@type": RDS, "name": "moves", "virtual_hosts": hosts()})
        w.pick(2, timeout=2)
        w.pick(1, method=METHODS[2], timeout=2)


def headers(w):
    """Header matchers of all kinds on headers that are there, twice, binary, or the client's own."""
    for name in ("c", "d"):
        w.cluster(name, [w.locality([w.address()])])
    for _ in range(w.between(2, 4)):
        matchers = [{"name": w.one("x-a", "X-A", "x-a", "x-bin", "content-type", "grpc-encoding", "te", ":method", ":authority", "user-agent",
                                   "grpc-timeout", "host"), **w.one(
            {"string_match": {"suffix": w.one("2", "c", "")}}, {"string_match": {"safe_regex": {"regex": w.one("[a-c]+", "1|12", ".*,.*")}}},
            {"string_match": {"exact": w.one("1,2", "abc", "ABC"), "ignore_case": w.percent(50)}}, {"string_match": {"prefix": "appl"}},
            {"suffix_match": "grpc"}, {"range_match": {"start": -3, "end": 4}}, {"range_match": {"start": 1, "end": 1}},
            {"present_match": w.percent(50)}, {"exact_match": "POST"}), "invert_match": w.percent(30)} for _ in range(w.between(1, 2))]
        w.route(w.one({"cluster": "c"}, {"cluster": "d"}), {"prefix": "", "headers": matchers})
    if w.percent(70):
        w.route({"cluster": "c"})
    values = ["1", "12", "-3", "4", "abc", "ABC", "", " 1", "0x1"]
    for _ in range(6):
        w.pick(1, w.one([], [("x-a", w.one(*values))], [("x-a", w.one(*values))], [("x-a", w.one(*values)), ("x-a", w.one(*values))]),
               method=w.one(*METHODS))


def nested(w):
    """Aggregates of EDS and DNS, with clusters that go, change or appear."""
    names = {"m0": "EDS", "m1": w.one("EDS", "DNS"), "m2": w.one("EDS", "DNS", "missing")}
    for name, kind in names.items():
        if kind == "EDS":
            w.cluster(name, [w.locality([w.address(w.percent(35))])], **w.one({}, {"lb_policy": "RING_HASH"}, {"lb_policy": "LEAST_REQUEST"}))
        elif kind == "DNS":
            inner = {"cluster_name": name, "endpoints": [{"lb_endpoints": [endpoint(w.address(w.percent(25)))]}]}
            w.put({"@type": CDS, "name": name, "type": "LOGICAL_DNS", "load_assignment": inner})
    drawn = lambda: w.chance.sample(list(names), w.between(1, 3))
    w.put(aggregate("c", drawn()))
    w.route({"cluster": "c", **w.one({}, {"retry_policy": {"retry_on": "unavailable", "num_retries": 2}})})
    if w.percent(30):
        w.route({"cluster": "m0"}, {"path": METHODS[2]})
        w.virtual_host["routes"].reverse()
    w.pick(3, timeout=18)
    w.pick(1, method=METHODS[2])
    for _ in range(w.between(1, 2)):
        what = w.one("members", "one", "gone")
        if what == "members":
            change(w, aggregate("c", drawn()), wait=1.2)
        elif what == "one":
            change(w, w.endpoints("m0", [w.locality([w.address(w.percent(30))])]), wait=1.2)
        else:
            w.step(remove=[[CDS, w.one("m0", "m1")]])
            w.step(sleep=1.2)
        w.pick(3, timeout=w.one(2, 18))


def withdrawn(w):
    """Resources that are taken away and given back, with RPCs before, between and after."""
    localities = w.locals(1)
    w.cluster("c", localities, **w.one({}, {"lb_policy": "RING_HASH"}))
    w.cluster("d", w.locals(1))
    w.extra["rds"] = "rw"
    table = {"@type": RDS, "name": "rw", "virtual_hosts": [{"name": "v", "domains": ["*"], "routes": [
        {"match": {"path": METHODS[1]}, "route": {"cluster": "d"}}, {"match": {"prefix": ""}, "route": {"cluster": "c"}}]}]}
    w.put(table)
    w.pick(2)
    w.pick(1, method=METHODS[1])
    for _ in range(w.between(1, 2)):
        kind, name, back = w.one((CDS, "c", eds("c")), (EDS, "c", w.endpoints("c", localities)), (RDS, "rw", table),
                                 (CDS, "d", eds("d")))
        w.step(remove=[[kind, name]])
        w.step(sleep=w.one(0.7, 1.5))
        w.pick(2, timeout=1.5, wait_for_ready=w.percent(20))
        w.pick(1, method=METHODS[1], timeout=1.5)
        if w.percent(70):
            change(w, back, wait=1.0)
            w.pick(2)
            w.pick(1, method=METHODS[1])


def rotten(w):
    """Listeners and routes that are rejected at first or later, and server features that drop what is rejected."""
    w.cluster("c", w.locals(1))
    good = {"@type": RDS, "name": "rr", "virtual_hosts": [{"name": "v", "domains": ["*"], "routes": [
        {"match": {"prefix": ""}, "route": {"cluster": "c"}}]}]}
    bad = w.one({**good, "virtual_hosts": [{"name": "v", "domains": ["*"], "routes": [{"match": {"prefix": ""}, "route": {
        "weighted_clusters": {"clusters": [{"name": "c", "weight": 0}]}}}]}]},
                {**good, "virtual_hosts": [{"name": "v", "domains": ["*"], "routes": [{"match": {"safe_regex": {"regex": "("}}, "route": {
                    "cluster": "c"}}]}]},
                {**good, "virtual_hosts": [{"name": "v", "domains": ["*"], "retry_policy": {"retry_on": "internal", "num_retries": 0},
                                            "routes": good["virtual_hosts"][0]["routes"]}]},
                {"@type": LDS, "name": "svc", "api_listener": {"api_listener": good}})
    w.extra["rds"] = "rr"
    if w.percent(30):
        w.extra["bootstrap"] = {"server_features": w.one(["xds_v3", "ignore_resource_deletion"], ["xds_v3", "fail_on_data_errors"])}
    is_first = w.percent(40) and bad["@type"] == RDS
    w.put(bad if is_first else good)
    w.pick(2, timeout=2)
    change(w, good if is_first else bad)
    w.pick(2, timeout=2)
    w.step(remove=w.one([[RDS, "rr"]], [[CDS, "c"]], [[EDS, "c"]]))
    w.step(sleep=0.7)
    w.pick(2, timeout=2)


def overrides(w):
    """Faults whose overrides stand in the virtual host, in routes and in weighted clusters, of one filter or two."""
    kind = TYPE + "envoy.extensions.filters.http.fault.v3.HTTPFault"
    abort = lambda: w.one({}, {"abort": {"grpc_status": w.between(1, 16), "percentage": {"numerator": w.one(0, 100), "denominator": "HUNDRED"}}},
                          {"abort": {"header_abort": {}, "percentage": {"numerator": 100}}},
                          {"delay": {"fixed_delay": "0.2s", "percentage": {"numerator": 100}}})
    names = ["f1", "f2"][:w.between(1, 2)]
    w.filters += [http_filter(name, "fault.v3.HTTPFault", **abort()) for name in names]
    override = lambda: w.one({}, {"typed_per_filter_config": {w.one(*names): w.one(
        {"@type": kind, **abort()}, {"@type": TYPE + "envoy.config.route.v3.FilterConfig", "config": {"@type": kind, **abort()}})}})
    for name in ("c", "d"):
        w.cluster(name, [w.locality([w.address()])])
    weighted = {"weighted_clusters": {"clusters": [{"name": "c", "weight": w.between(0, 1), **override()}, {"name": "d", "weight": 1}]}}
    retried = {"retry_policy": {"retry_on": "unavailable,internal", "num_retries": 2}}
    w.virtual_host.update(override())
    w.route(weighted, {"path": METHODS[1]}, **override())
    w.route({"cluster": "c", **w.one({}, retried)}, {"prefix": ""}, **override())
    for _ in range(3):
        w.pick(1, w.one([], [("x-envoy-fault-abort-grpc-request", w.one("7", "14", "99", "x"))]), method=METHODS[0], timeout=2)
        w.pick(1, method=METHODS[1], timeout=2)


def drops_move(w):
    """Drops that come, change and go, below weighted clusters, an aggregate, retries or breakers."""
    localities = w.locals(w.between(1, 2))
    if w.percent(30):
        localities.append(w.locality([w.address()], "r9", 1))
    share = lambda: {"numerator": w.one(0, 1, 50, 100, 100), "denominator": w.one("HUNDRED", "HUNDRED", "TEN_THOUSAND", "MILLION")}
    dropped = lambda: w.one({}, {"policy": {"drop_overloads": [
        {"category": w.one("a", "b"), "drop_percentage": share()} for _ in range(w.between(1, 3))]}})
    w.cluster("m", None, **w.one({}, {"circuit_breakers": {"thresholds": [{"max_requests": w.between(0, 2)}]}}, {"lb_policy": "RING_HASH"}))
    w.put(w.endpoints("m", localities, **dropped()))
    w.cluster("d", [w.locality([w.address()])])
    way = w.one("plain", "weighted", "aggregate")
    if way == "aggregate":
        w.put(aggregate("c", w.one(["m", "d"], ["d", "m"])))
    w.route({**{"plain": {"cluster": "m"}, "aggregate": {"cluster": "c"}, "weighted": {"weighted_clusters": {"clusters": [
        {"name": "m", "weight": 1}, {"name": "d", "weight": w.between(0, 2)}]}}}[way],
             **w.one({}, {"retry_policy": {"retry_on": "unavailable", "num_retries": w.between(1, 2)}})})
    w.pick(4)
    for _ in range(2):
        change(w, w.endpoints("m", w.one(localities, localities, []), **dropped()))
        w.pick(3, **w.one({}, {"wait_for_ready": True}), timeout=1.5)


KINDS = [drops_move, default_config, retry_levels, session_moves, lists, weights_move, policy_moves, routes_move, headers, nested, withdrawn, rotten,
         overrides]
