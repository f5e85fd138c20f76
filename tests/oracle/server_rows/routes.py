"""Virtual hosts and routes of a server, and RouteConfigurations by RDS."""
from .build import FILTERS, LISTENER, ROUTES, TYPE, call, chain, cidr, connect, host, listener, rbac, route, routes, row, rules

METHODS = ["/pkg.Service/Method", "/pkg.Service/Other", "/admin.Console/Delete"]
CLUSTER = {"route": {"cluster": "c"}}


def asked(id, about, hosts, *ways, filters=(), **more):
    """One connection, and a call in each way: a method, or fields of a call."""
    steps = [connect(), *(call(method=way) if isinstance(way, str) else call(**way) for way in ways or METHODS)]
    return row("route-" + id, about, listener([chain(hosts=hosts, filters=filters)]), *steps, **more)


def actions():
    served = {"path": METHODS[0]}
    for name, action in {"forwarding": {"non_forwarding_action": {}}, "route": CLUSTER, "redirect": {"redirect": {"host_redirect": "x"}},
                         "direct-response": {"direct_response": {"status": 200}}, "filter-action": {"filter_action": {}}}.items():
        yield asked(f"action-{name}", f"action {name}", [host([{"match": {"prefix": ""}, **action}])])
        yield asked(f"action-{name}-first", f"action {name} on one path, before a route that serves", [host([{"match": served, **action}, route()])])
        yield asked(f"action-{name}-last", f"action {name} after a route that serves", [host([route(served), {"match": {"prefix": ""}, **action}])])
    yield asked("action-none", "a route without an action", [host([{"match": {"prefix": ""}}])])
    yield asked("no-routes", "a virtual host without routes", [{"name": "host", "domains": ["*"]}])
    yield asked("no-hosts", "no virtual host", [host(domains=["none.test"])])
    yield asked("no-match", "no route matches", [host([route({"path": "/none"})])])
    yield asked("no-match-denied", "no route matches, and RBAC would deny", [host([route({"path": "/none"})])], filters=[rbac(rules({}))])
    yield asked("unknown-method", "a method that the server does not have, with a route", [host([route({"path": "/pkg.Service/None"}), route({"prefix": "/pkg"})])],
                "/pkg.Service/None", METHODS[0])
    yield asked("unknown-method-unrouted", "a method that the server does not have, without a route", [host([route({"path": METHODS[0]})])], "/pkg.Service/None", METHODS[0])
    for name, more in {"timeout": {"timeout": "0.001s"}, "hash": {"hash_policy": [{"header": {"header_name": "x"}}]}}.items():
        yield asked(f"action-route-{name}", f"a route action with {name}", [host([route({"prefix": ""}, {"route": {"cluster": "c", **more}})])])
    yield asked("weighted", "weighted clusters", [host([route(None, {"route": {"weighted_clusters": {"clusters": [{"name": "c", "weight": 1}]}}})])])
    yield asked("cluster-header", "cluster_header, which clients drop", [host([route(None, {"route": {"cluster_header": "x"}}), route()])])


def paths():
    for name, match in {
            "prefix": {"prefix": "/pkg.Service/"}, "prefix-all": {"prefix": "/"}, "prefix-short": {"prefix": "/p"}, "prefix-none": {"prefix": "/x"},
            "path": {"path": METHODS[0]}, "path-part": {"path": "/pkg.Service"}, "path-upper": {"path": METHODS[0].upper()}, "path-folded": {"path": METHODS[0].upper(), "case_sensitive": False},
            "prefix-folded": {"prefix": "/PKG", "case_sensitive": False}, "prefix-exact": {"prefix": "/PKG", "case_sensitive": True}, "regex": {"safe_regex": {"regex": "/pkg.*"}},
            "regex-part": {"safe_regex": {"regex": "pkg"}}, "regex-folded": {"safe_regex": {"regex": "/PKG.*"}, "case_sensitive": False}, "none": {},
            "separated": {"path_separated_prefix": "/pkg.Service"}, "connect": {"connect_matcher": {}}, "query": {"prefix": "", "query_parameters": [{"name": "a", "present_match": True}]},
            "empty-path": {"path": ""}, "no-slash": {"path": "pkg.Service/Method"}, "grpc": {"prefix": "", "grpc": {}}, "tls-context": {"prefix": "", "tls_context": {"presented": True}}}.items():
        yield asked(f"path-{name}", f"match {match}", [host([route(match)])])
        yield asked(f"path-{name}-first", f"match {match} of a route that does not serve", [host([route(match, CLUSTER), route()])])


def headers():
    sent = [{}, {"headers": [("x-a", "abc")]}, {"headers": [("x-a", "15")]}, {"headers": [("x-a", "")]}, {"headers": [("x-a", "a"), ("x-a", "b")]}]
    for name, matcher in {
            "exact": {"exact_match": "abc"}, "prefix": {"prefix_match": "ab"}, "suffix": {"suffix_match": "c"}, "contains": {"contains_match": "b"}, "regex": {"safe_regex_match": {"regex": "a.c"}},
            "range": {"range_match": {"start": 10, "end": 20}}, "present": {"present_match": True}, "absent": {"present_match": False}, "string": {"string_match": {"exact": "ABC", "ignore_case": True}},
            "comma": {"exact_match": "a,b"}}.items():
        yield asked(f"header-{name}", f"header {name}", [host([route({"prefix": "", "headers": [{"name": "x-a", **matcher}]})])], *sent)
        yield asked(f"header-{name}-inverted", f"header {name}, inverted", [host([route({"prefix": "", "headers": [{"name": "x-a", **matcher, "invert_match": True}]})])], *sent)
    for name, values in {":path": METHODS[:1], ":method": ["POST"], ":authority": ["server.test"], ":scheme": ["http"], "content-type": ["application/grpc"], "te": ["trailers"],
                         "user-agent": ["caller"], "host": ["server.test"], "grpc-timeout": ["5S"], "grpc-encoding": ["identity"], "grpc-own": ["1"], "x-bin": ["YWJj", "abc"], "X-A": ["abc"]}.items():
        own = [] if name in (":path", ":method", ":authority", ":scheme", "content-type", "te", "user-agent", "host") else [(name.lower(), values[0])]
        for number, value in enumerate(values):
            yield asked(f"header-{name.strip(':').lower() + '-cap' * (name == 'X-A')}-{number}", f"header {name} is {value}",
                        [host([route({"prefix": "", "headers": [{"name": name, "exact_match": value}]})])], {"headers": own}, {})
    yield asked("header-two", "two header matchers", [host([route({"prefix": "", "headers": [{"name": "x-a", "exact_match": "abc"}, {"name": "x-b", "present_match": True}]})])],
                *sent, {"headers": [("x-a", "abc"), ("x-b", "")]}, {"headers": [("x-a", "abc"), ("x-b", "1")]})


def fractions():
    for numerator, denominator in ((0, "HUNDRED"), (100, "HUNDRED"), (200, "HUNDRED"), (0, "MILLION"), (1000000, "MILLION"), (10000, "TEN_THOUSAND")):
        yield asked(f"fraction-{numerator}-{denominator.lower().replace('_', '-')}", f"runtime_fraction {numerator} of {denominator}",
                    [host([route({"prefix": "", "runtime_fraction": {"default_value": {"numerator": numerator, "denominator": denominator}}})])])
    yield asked("fraction-first", "runtime_fraction 0 of a route that does not serve", [host([
        route({"prefix": "", "runtime_fraction": {"default_value": {"numerator": 0}}}, CLUSTER), route()])])


def hosts():
    authorities = ["server.test", "SERVER.TEST", "server.test:443", "a.server.test", "other.test", "localhost", "a.b.server.test", ""]
    ways = [{"authority": each} for each in authorities]
    refuses = [route(None, CLUSTER)]
    for name, domains in {"exact": ["server.test"], "upper": ["Server.Test"], "port": ["server.test:443"], "suffix": ["*.server.test"], "suffix-short": ["*.test"], "prefix": ["server.*"],
                          "prefix-short": ["s*"], "any": ["*"], "two": ["other.test", "localhost"], "none": ["x"], "port-any": ["server.test:*"], "inner": ["a.*.test"], "star-suffix": ["*test"]}.items():
        yield asked(f"host-{name}", f"domains {domains}", [host(domains=domains)], *ways)
        yield asked(f"host-{name}-before-any", f"domains {domains} of a host that does not serve, beside *", [host(refuses, domains=domains), *([host()] if domains != ["*"] else [])], *ways)
    yield asked("host-best", "the best domain wins: exact, suffix, prefix, any", [
        host(domains=["*"], routes=[route(None, CLUSTER)]), host(domains=["server.*"], routes=[route({"prefix": "/none"})]), host(domains=["*.server.test"]), host(domains=["server.test"])], *ways)
    yield asked("host-duplicate", "a domain twice", [host(domains=["server.test"]), host(domains=["server.test"])], *ways)
    yield asked("host-header", "a host header in place of :authority", [host(domains=["server.test"])], {"authority": None, "headers": [("host", "server.test")]},
                {"authority": "other.test", "headers": [("host", "server.test")]}, {"authority": "server.test", "headers": [("host", "other.test")]})
    yield asked("host-no-fallback", "a host whose routes do not match: the next one is not asked", [host(domains=["server.test"], routes=[route({"path": "/none"})]), host()], *ways)
    yield asked("host-ignore-port", "ignore_port_in_host_matching is not read", [host(domains=["server.test"])], *ways)


def discovered_twice(bad, name, id):
    two = listener([chain({"source_ports": [5001], "transport_protocol": "raw_buffer"}, rds="other"), chain({"transport_protocol": "raw_buffer"}, rds="routes", name=name)])
    pairs = [connect("a", source="127.0.0.2:5001"), call("a"), connect("b"), call("b")]
    yield row(id, "two chains with RouteConfigurations of their own", [two, routes(), routes([host([route(None, CLUSTER)])], "other")], *pairs)
    yield row(id + "-one-missing", "two chains, and one RouteConfiguration is not there", [two, routes()], *pairs)
    yield row(id + "-one-bad", "two chains, and one RouteConfiguration is rejected", [two, routes(), {**bad, "name": "other"}], *pairs)


def discovered():
    manager = "envoy.config.route.v3.RouteConfiguration/"
    by_rds = listener([chain(rds="routes")])
    steps = [connect(), *(call(method=method) for method in METHODS[:2])]
    refusing = routes([host([route({"path": METHODS[1]}, CLUSTER), route()])])
    yield row("rds-there", "a RouteConfiguration by RDS", [by_rds, routes()], *steps)
    yield row("rds-missing", "a RouteConfiguration that is not there", [by_rds], *steps, connect("b"), call("b"))
    yield row("rds-late", "a RouteConfiguration that comes later", [by_rds], {"update": [routes()]}, *steps, patience=2)
    yield row("rds-missing-then-there", "a RouteConfiguration that comes after it was missed", [by_rds], *steps, {"update": [routes()], "settle": 1}, call(), connect("b"), call("b"))
    yield row("rds-changed", "a RouteConfiguration that changes: connections that are there get it as well", [by_rds, routes()], *steps, {"update": [refusing]}, call(), call(method=METHODS[1]),
              {"state": "a", "timeout": 0.5}, connect("b"), call("b", method=METHODS[1]))
    yield row("rds-withdrawn", "a RouteConfiguration that is withdrawn", [by_rds, routes()], *steps, {"remove": [manager + "routes"]}, call(), {"state": "a", "timeout": 0.5}, connect("b"), call("b"))
    yield row("rds-withdrawn-and-back", "a RouteConfiguration that is withdrawn and comes back", [by_rds, routes()], *steps, {"remove": [manager + "routes"]}, call(), {"update": [refusing]}, call(),
              call(method=METHODS[1]))
    bad = routes([{"name": "host", "domains": [], "routes": [route({"safe_regex": {"regex": "("}})]}])
    yield row("rds-bad", "a RouteConfiguration that is rejected", [by_rds, bad], *steps)
    yield row("rds-bad-later", "a RouteConfiguration that is rejected after a good one", [by_rds, routes()], *steps, {"update": [bad]}, call(), connect("b"), call("b"))
    yield row("rds-bad-then-good", "a RouteConfiguration that is rejected, and then a good one", [by_rds, bad], connect(), call(), {"update": [routes()]}, call(), connect("b"), call("b"))
    yield from discovered_twice(bad, "chain", "rds-two")
    yield from discovered_twice(bad, "second", "rds-two-named")  # Java takes no two chains of the same name
    yield row("rds-default-missing", "the RouteConfiguration of the default chain is not there", [listener([chain()], chain(rds="routes"))], *steps)
    yield row("rds-unused", "the RouteConfiguration of a chain that is never used is not there", [listener([chain({"server_names": ["x"]}, rds="none"), chain()])], *steps)
    yield row("rds-unused-named", "the RouteConfiguration of a chain that is never used is not there", [
        listener([chain({"server_names": ["x"]}, rds="none"), chain(name="second")])], *steps)
    yield row("rds-override", "an override in a RouteConfiguration", [listener([chain(rds="routes", filters=[rbac(rules({}))])]), routes([host([route(
        {"path": METHODS[0]}, typed_per_filter_config={"rbac": {"@type": FILTERS + "http.rbac.v3.RBACPerRoute", "rbac": {"rules": rules()}}}), route()])])], *steps)
    yield row("rds-rest", "RDS over something else than ADS", [LISTENER_REST], *steps, patience=3)


LISTENER_REST = listener([chain(rds="routes")])
LISTENER_REST["filter_chains"][0]["filters"][0]["typed_config"]["rds"]["config_source"] = {"api_config_source": {"api_type": "GRPC"}}


def rows():
    for part in (actions, paths, headers, fractions, hosts, discovered):
        yield from part()
