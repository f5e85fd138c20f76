"""A kind of fresh scenarios in which a channel has its first RPC late, resources have xdstp names or names of their own, and policies
measure their endpoints. See fresh.py.

`w` is a World: what is drawn, and the row in the making.
"""
from fresh_changes import action, assignment, balanced, picks
from fresh_mixed import aggregate, begin, change, start, stop
from names import ADS, CDS, EDS, LDS, MANAGER, METHODS, RDS, endpoint, policy, router

LOGICAL = ["c", "d", "e", "g"]
KIND = {CDS: "envoy.config.cluster.v3.Cluster", EDS: "envoy.config.endpoint.v3.ClusterLoadAssignment",
        RDS: "envoy.config.route.v3.RouteConfiguration"}
PICKING = "client_side_weighted_round_robin.v3.ClientSideWeightedRoundRobin"


def named(w, kind, name):
    """The name of a resource: its own, or one of an authority."""
    return w.names.setdefault((kind, name), w.one(name, name, f"xdstp://{w.one('x', 'x', 'y')}/{KIND[kind]}/{name}"))


def measured(w):
    """Policies that look at how endpoints do."""
    return w.one({}, {"load_balancing_policy": policy(PICKING, blackout_period="0s", weight_update_period="0.1s", **w.one(
        {}, {"error_utilization_penalty": 1.0}, {"weight_expiration_period": "1s"}))}, {"outlier_detection": {
            "interval": "0.5s", "base_ejection_time": w.one("0.5s", "3s"), "max_ejection_percent": w.one(10, 50, 100), **w.one(
                {"enforcing_success_rate": 100, "success_rate_minimum_hosts": w.one(1, 3), "success_rate_request_volume": w.one(2, 3),
                 "success_rate_stdev_factor": w.one(500, 1900), "enforcing_failure_percentage": 0},
                {"enforcing_failure_percentage": 100, "failure_percentage_threshold": w.one(0, 50),
                 "failure_percentage_minimum_hosts": 1, "failure_percentage_request_volume": 2})}})


def cluster(w, name):
    below = [named(w, CDS, other) for other in LOGICAL if other > name]
    what = w.one("EDS", "EDS", "EDS", "DNS", "aggregate") if below else "EDS"
    full = named(w, CDS, name)
    if what == "aggregate":
        return aggregate(full, w.chance.sample(below, w.between(1, len(below))))
    if what == "DNS":
        inner = {"cluster_name": name, "endpoints": [{"lb_endpoints": [endpoint(w.address(w.percent(20)))]}]}
        return {"@type": CDS, "name": full, "type": "LOGICAL_DNS", "load_assignment": inner}
    service = named(w, EDS, w.one(name, name, name, w.one(*LOGICAL)))
    spelled = {"service_name": service} if service != full else {}
    return {"@type": CDS, "name": full, "type": "EDS", "eds_cluster_config": {"eds_config": w.one(ADS, ADS, {"self": {}}), **spelled},
            **w.one(balanced(w), measured(w))}


def endpoints(w, name):
    made = assignment(w, name)
    made["cluster_name"] = named(w, EDS, name)
    for one in made["endpoints"]:
        for inner in one["lb_endpoints"]:
            if w.percent(15):
                inner["endpoint"]["hostname"] = w.one("one.example", "two.example:81")
            if w.percent(15):
                inner["metadata"] = {"filter_metadata": {"envoy.lb": {"hash_key": w.one("a", "b", "k")}}}
    return made


def led(w, found):
    """The action with the clusters' names in full."""
    found = dict(found)
    if "cluster" in found:
        found["cluster"] = named(w, CDS, found["cluster"])
        found.update(w.one({}, {}, {"auto_host_rewrite": True}))
    else:
        entries = found["weighted_clusters"]["clusters"]
        found["weighted_clusters"] = {"clusters": [{**one, "name": named(w, CDS, one["name"])} for one in entries]}
    return found


def table(w):
    routes = [{"match": {"path": method}, "route": led(w, action(w))} for method in METHODS[1:] if w.percent(60)]
    routes.append({"match": {"prefix": "/"}, "route": led(w, action(w))})
    return {"@type": RDS, "name": named(w, RDS, "drawn"), "virtual_hosts": [{"name": "v", "domains": w.one(["*"], ["svc"]), "routes": routes}]}


def all_starts(w):
    """Changes before the first RPC and after it."""
    w.names = {}
    features = ["xds_v3", *w.one([], [], [], ["ignore_resource_deletion"], ["fail_on_data_errors"], ["trusted_xds_server"])]
    authorities = {"x": {}, **({"y": {}} if w.percent(10) else {})}
    w.extra["bootstrap"] = {"server_features": features, "authorities": authorities}
    if w.percent(30):
        w.extra["env"] = {"GRPC_EXPERIMENTAL_XDS_AUTHORITY_REWRITE": "true"}
    name = named(w, RDS, "drawn")
    manager = {"@type": MANAGER, "http_filters": [router()], "rds": {"config_source": w.one(ADS, {"self": {}}), "route_config_name": name}}
    listener = {"@type": LDS, "name": "svc", "api_listener": {"api_listener": manager}}
    w.extra["listener"] = listener
    made = [*(cluster(w, name) for name in LOGICAL if w.percent(92)), *(endpoints(w, name) for name in LOGICAL if w.percent(92)), table(w)]
    if w.percent(60):
        w.resources += made
    else:  # some come before the first RPC, or not at all
        for one in made:
            w.resources += [one] * w.percent(60)
    stopped, has_begun = [], False
    early = w.between(0, 3)
    if not early:
        picks(w)
    for turn in range(w.between(5, 8)):
        name = w.one(*LOGICAL)
        what = w.one("cluster", "cluster", "endpoints", "endpoints", "routes", "all", "remove", "stop", "start", "backend", "orca", "begin",
                     "sleep", *["missing"] * 3 * (turn < early))
        if what == "cluster":
            change(w, cluster(w, name))
        elif what == "endpoints":
            change(w, endpoints(w, name))
        elif what == "routes":
            change(w, table(w))
        elif what == "all":
            change(w, endpoints(w, name), cluster(w, name), table(w))
        elif what == "missing":
            change(w, *made)
        elif what == "remove":
            w.step(remove=[w.one([CDS, named(w, CDS, name)], [CDS, named(w, CDS, name)], [EDS, named(w, EDS, name)], [LDS, "svc"])])
            w.step(sleep=0.8)
        elif what == "stop":
            stop(w, stopped)
        elif what == "start":
            start(w, stopped)
        elif what == "backend" and w.taken:
            w.step(backend={w.one(*w.taken): w.one({"status": "UNAVAILABLE"}, {"status": "INTERNAL"}, {})})
        elif what == "orca" and w.taken:
            w.step(orca={a: {"rps_fractional": w.one(50, 100, 200), "application_utilization": w.one(0.2, 0.5, 1.2)}
                         for a in w.taken if w.percent(60)})
        elif what == "begin" and not has_begun and turn >= early:
            has_begun = True
            begin(w)
        elif what == "sleep":
            w.step(sleep=w.one(1.0, 2.0, 16.0))
        if turn + 1 >= early:
            picks(w)
            if w.percent(30):
                picks(w)
    if has_begun:
        w.step(finish="b")


KINDS = [all_starts]
