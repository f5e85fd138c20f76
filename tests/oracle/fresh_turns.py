"""A kind of fresh scenarios in which the listener changes too, resources are rejected, and sessions meet all that. See fresh.py.

`w` is a World: what is drawn, and the row in the making.
"""
from fresh_changes import assignment, balanced
from fresh_mixed import SESSION, aggregate, begin, change, eds, start, stop
from names import ADS, CDS, EDS, LDS, MANAGER, METHODS, RDS, TYPE, cookie, cookie_state, http_filter, router

NAMES = ["c", "d", "e"]
FAULT = "fault.v3.HTTPFault"
TABLES = ["one", "two"]
IDLE_MS = 2000  # no pause between RPCs is as long, unless the channel is to be idle in every client


def cluster(w, name):
    statuses = w.one({}, {}, {"common_lb_config": {"override_host_status": {"statuses": w.one(
        ["HEALTHY", "DRAINING"], ["DRAINING"], ["UNKNOWN", "DRAINING", "HEALTHY"], ["HEALTHY", "UNHEALTHY"])}}})
    if name == "c" and w.percent(25):
        return aggregate("c", w.one(["d"], ["d", "e"], ["e", "d"]))
    return eds(name, **balanced(w), **statuses)


def abort(w):
    return w.one({}, {"abort": {"grpc_status": w.one(8, 13, 14), "percentage": {"numerator": w.one(0, 100), "denominator": "HUNDRED"}}},
                 {"abort": {"header_abort": {}, "percentage": {"numerator": 100}}},
                 {"delay": {"fixed_delay": "0.2s", "percentage": {"numerator": 100}}}, {"max_active_faults": w.between(0, 1), "delay": {
                     "fixed_delay": "0.5s", "percentage": {"numerator": 100}}})


def override(w):
    """What a route, a virtual host or a weighted cluster says of the filters."""
    session = {"@type": TYPE + "envoy.extensions.filters.http.stateful_session.v3.StatefulSessionPerRoute", **w.one(
        {"disabled": True}, {"stateful_session": {"session_state": cookie_state({"name": w.one("sid", "other")})}}, {"stateful_session": {}})}
    kept = w.one({}, {}, {}, {"ss": session}, {"ff": {"@type": TYPE + "envoy.extensions.filters.http." + FAULT, **abort(w)}})
    return {"typed_per_filter_config": kept} if kept else {}


def action(w):
    weighted = [{"name": name, "weight": w.between(0, 2), **override(w)} for name in w.chance.sample(NAMES, 2)]
    weighted.append({"name": "c", "weight": 1})
    return {**w.one({"cluster": w.one(*NAMES)}, {"cluster": w.one(*NAMES)}, {"weighted_clusters": {"clusters": weighted}}),
            **w.one({}, {}, {"retry_policy": {"retry_on": w.one("unavailable", "unavailable,internal", "cancelled"),
                                              "num_retries": w.between(1, 3), "retry_back_off": {"base_interval": "0.05s"}}}),
            **w.one({}, {"hash_policy": [{"header": {"header_name": "x-user"}}]}),
            **w.one({}, {}, {}, {"max_stream_duration": w.one({"max_stream_duration": "3s"}, {"grpc_timeout_header_max": "2s"}, {
                "max_stream_duration": "0s"})})}


def hosts(w):
    routes = [{"match": {"path": method}, "route": action(w), **override(w)}
              for method in METHODS[1:] if w.percent(50)]
    if w.percent(10):
        routes.append({"match": {"prefix": "/shop"}, "non_forwarding_action": {}})
    if w.percent(90):
        routes.append({"match": {"prefix": "/"}, "route": action(w), **override(w)})
    return [{"name": "v", "domains": w.one(["*"], ["*"], ["svc"], ["sv*"], ["*"], ["*vc"], ["other"]), "routes": routes or [
        {"match": {"prefix": ""}, "route": {"cluster": "c"}}], **override(w), **w.one({}, {}, {"retry_policy": {
            "retry_on": "unavailable", "num_retries": w.between(1, 2), "retry_back_off": {"base_interval": "0.05s"}}})}]


def table(w, name=None):
    return {"@type": RDS, "name": name or w.one(*TABLES), "virtual_hosts": hosts(w)}


def listener(w):
    filters = []
    if w.percent(70):
        filters.append(http_filter("ss", SESSION, session_state=cookie_state({"name": "sid", **w.one({}, {}, {"path": "/pkg.Service"}, {
            "ttl": "60s"})}), is_optional=True))
    if w.percent(40):
        filters.append(http_filter("ff", FAULT, **abort(w)))
    if w.percent(20):
        filters.reverse()
    held = {"rds": {"config_source": ADS, "route_config_name": w.one("one", "one", "two")}} if w.percent(75) else {
        "route_config": {"name": "inline", "virtual_hosts": hosts(w)}}
    duration = w.one({}, {}, {}, {"common_http_protocol_options": {"max_stream_duration": w.one("2s", "0s", "4s")}})
    manager = {"@type": MANAGER, "http_filters": [*filters, router()], **held, **duration}
    return {"@type": LDS, "name": "svc", "api_listener": {"api_listener": manager}}


def rejected(w):
    """A resource that every client rejects."""
    good = listener(w)
    manager = good["api_listener"]["api_listener"]
    return w.one(
        {**table(w), "virtual_hosts": [{"name": "v", "domains": ["*"], "routes": [{"match": {"safe_regex": {"regex": "("}}, "route": {
            "cluster": "c"}}]}]},
        {**table(w), "virtual_hosts": [{"name": "v", "domains": ["*"], "routes": [{"match": {"prefix": ""}, "route": {
            "weighted_clusters": {"clusters": [{"name": "c", "weight": 0}]}}}]}]},
        {"@type": CDS, "name": w.one(*NAMES), "type": "EDS", "eds_cluster_config": {"eds_config": ADS}, "lb_policy": "MAGLEV"},
        w.endpoints(w.one(*NAMES), [w.locality([w.address()], "r0", 1)]),
        {**good, "api_listener": {"api_listener": {**manager, "http_filters": []}}})


def picks(w):
    for method in w.chance.sample(METHODS, w.between(1, 2)):
        headers = [("x-user", f"u{w.between(0, 5)}")]
        if w.percent(15):
            headers.append((w.one("x-fail", "x-fail-late"), f"{w.one('UNAVAILABLE', 'INTERNAL')}:{w.one(1, 2, 9)}"))
        if w.percent(50) and w.taken:
            headers.append(cookie(w.one(*w.taken), w.one(*NAMES), w.one("sid", "sid", "other")))
        if w.percent(10):
            headers.append(("x-envoy-fault-abort-grpc-request", w.one("7", "14")))
        w.pick(w.between(1, 3), headers, method=method, timeout=w.one(2, 3, 3, 8), **w.one({}, {}, {}, {"wait_for_ready": True}))


def all_idles(w):
    """The same of a channel that is idle again and again."""
    w.extra["channel_args"] = [["grpc.client_idle_timeout_ms", IDLE_MS]]
    all_turns(w, pauses=2.4 * IDLE_MS / 1000)


def all_turns(w, pauses=None):
    """A listener with filters, two tables of routes and three clusters, with four to seven changes, some of them rejected."""
    if w.percent(20):
        w.extra["bootstrap"] = {"server_features": ["xds_v3", w.one("ignore_resource_deletion", "fail_on_data_errors")]}
    w.extra["listener"] = listener(w)
    for name in NAMES:
        w.put(cluster(w, name))
        w.put(assignment(w, name))
    for name in TABLES:
        w.put(table(w, name))
    picks(w)
    stopped, has_begun = [], False
    for _ in range(w.between(4, 7)):
        name = w.one(*NAMES)
        what = w.one("listener", "listener", "rejected", "rejected", "cluster", "endpoints", "endpoints", "routes", "routes", "all", "remove",
                     "stop", "start", "begin", "wait")
        if what == "listener":
            change(w, listener(w))
        elif what == "rejected":
            change(w, rejected(w))
        elif what == "cluster":
            change(w, cluster(w, name))
        elif what == "endpoints":
            change(w, assignment(w, name))
        elif what == "routes":
            change(w, table(w))
        elif what == "all":
            change(w, assignment(w, name), cluster(w, name), table(w), listener(w))
        elif what == "remove":
            w.step(remove=[w.one([CDS, name], [EDS, name], [RDS, w.one(*TABLES)], [LDS, "svc"])])
            w.step(sleep=0.8)
        elif what == "stop":
            stop(w, stopped)
        elif what == "start":
            start(w, stopped, pauses or 2.5)
        elif what == "begin" and not has_begun:
            has_begun = True
            begin(w)
        elif what == "wait":
            w.step(sleep=pauses or 2.0)
        if pauses and w.percent(35):
            w.step(sleep=pauses)
        picks(w)
    if has_begun:
        w.step(finish="b")


KINDS = [all_turns, all_idles]
