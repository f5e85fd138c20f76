"""RBAC: every kind of permission and of principal, actions, policies, overrides, audit loggers."""
from .build import (ANY, FILTERS, TYPE, call, chain, cidr, connect, host, known, listener, mtls, override, permitted, policy, rbac, route, row,
                    rules, shows, tls)

METHODS = ["/pkg.Service/Method", "/pkg.Service/Other", "/admin.Console/Delete"]


def asked(id, about, filters, *steps, hosts=None, **more):
    made = listener([chain(filters=filters if isinstance(filters, list) else [filters], hosts=hosts, tls=more.pop("tls", None))])
    return row("rbac-" + id, about, made, *steps, **more)


def calls(*ways):
    """One connection, and a call in each way: a method, or fields of a call."""
    return [connect(), *(call(method=way) if isinstance(way, str) else call(**way) for way in ways)]


def strings(value, near):
    """String matchers of every kind: half of them take `value`, and none takes `near`."""
    upper, middle = value.upper(), value[2:-2]
    return {
        "exact": {"exact": value}, "exact-upper": {"exact": upper}, "exact-ignoring-case": {"exact": upper, "ignore_case": True},
        "exact-near": {"exact": value + "x"}, "exact-empty": {"exact": ""}, "prefix": {"prefix": value[:-3]}, "prefix-upper": {"prefix": upper[:-3]},
        "prefix-ignoring-case": {"prefix": upper[:-3], "ignore_case": True}, "prefix-empty": {"prefix": ""}, "suffix": {"suffix": value[-4:]},
        "suffix-upper": {"suffix": upper[-4:]}, "suffix-ignoring-case": {"suffix": upper[-4:], "ignore_case": True}, "suffix-empty": {"suffix": ""},
        "contains": {"contains": middle}, "contains-upper": {"contains": middle.upper()},
        "contains-ignoring-case": {"contains": middle.upper(), "ignore_case": True}, "contains-empty": {"contains": ""},
        "contains-near": {"contains": near + "x"}, "regex": {"safe_regex": {"regex": f"{value[:3]}.*{value[-2:]}"}},
        "regex-part": {"safe_regex": {"regex": middle}}, "regex-any": {"safe_regex": {"regex": ".*"}}, "regex-empty": {"safe_regex": {"regex": ""}},
        "regex-or": {"safe_regex": {"regex": f"{value}|{near}x"}}, "regex-ignoring-case": {"safe_regex": {"regex": upper}, "ignore_case": True},
        "regex-flag": {"safe_regex": {"regex": f"(?i){upper}"}}, "regex-bad": {"safe_regex": {"regex": "("}}, "none": {},
    }


# --- what does not depend on the connection ----------------------------------------------------------------------------------------

def headers(name):
    """Header matchers: [name of the row, sentence, matcher]."""
    value = {
        "exact": {"exact_match": "abc"}, "exact-empty": {"exact_match": ""}, "prefix": {"prefix_match": "ab"}, "suffix": {"suffix_match": "bc"},
        "contains": {"contains_match": "b"}, "regex": {"safe_regex_match": {"regex": "a.c"}}, "regex-part": {"safe_regex_match": {"regex": "b"}},
        "present": {"present_match": True}, "absent": {"present_match": False}, "range": {"range_match": {"start": 10, "end": 20}},
        "range-negative": {"range_match": {"start": -10, "end": 0}}, "range-empty": {"range_match": {"start": 10, "end": 10}},
        "string-exact": {"string_match": {"exact": "abc"}}, "string-ignoring-case": {"string_match": {"exact": "ABC", "ignore_case": True}},
        "string-prefix": {"string_match": {"prefix": "ab"}}, "string-contains": {"string_match": {"contains": "b"}},
        "string-suffix-ignoring-case": {"string_match": {"suffix": "BC", "ignore_case": True}}, "string-regex": {"string_match": {"safe_regex": {"regex": "[a-c]+"}}},
        "none": {},
    }
    for kind, matcher in value.items():
        yield kind, f"header {kind}", {"name": name, **matcher}
    for kind in ("exact", "exact-empty", "present", "absent", "range", "regex", "string-exact", "none"):
        yield kind + "-inverted", f"header {kind}, inverted", {"name": name, **value[kind], "invert_match": True}
    for kind in ("exact", "exact-empty", "string-exact", "regex"):
        yield kind + "-missing", f"header {kind}, a missing header taken for an empty one", {"name": name, **value[kind], "treat_missing_header_as_empty": True}


VALUES = [[], [("x-a", "abc")], [("x-a", "ABC")], [("x-a", "")], [("x-a", "15")], [("x-a", "20")], [("x-a", "-5")], [("x-a", "abc"), ("x-a", "abc")],
          [("x-a", "a"), ("x-a", "c")], [("x-a", " abc ")]]

# Headers that are special: what is sent, and matchers for them.
SPECIAL = {
    "path": (":path", [[]], ["/pkg.Service/Method", "/pkg.Service/Other"]), "method": (":method", [[], [(":method", "GET")]], ["POST", "GET"]),
    "authority": (":authority", [[]], ["server.test", "other.test"]), "scheme": (":scheme", [[]], ["http", "https"]), "status": (":status", [[]], ["200"]),
    "host": ("host", [[], [("host", "server.test")]], ["server.test"]),
    "content-type": ("content-type", [[], [("content-type", "application/grpc+proto")]], ["application/grpc", "application/grpc+proto"]),
    "te": ("te", [[], [("te", "")]], ["trailers"]), "user-agent": ("user-agent", [[]], ["caller"]),
    "connection": ("connection", [[], [("connection", "close")]], ["close"]), "keep-alive": ("keep-alive", [[], [("keep-alive", "5")]], ["5"]),
    "proxy-connection": ("proxy-connection", [[], [("proxy-connection", "close")]], ["close"]),
    "transfer-encoding": ("transfer-encoding", [[], [("transfer-encoding", "chunked")]], ["chunked"]),
    "upgrade": ("upgrade", [[], [("upgrade", "h2c")]], ["h2c"]), "trailer": ("trailer", [[], [("trailer", "x")]], ["x"]),
    "grpc-timeout": ("grpc-timeout", [[], [("grpc-timeout", "5S")]], ["5S"]),
    "grpc-encoding": ("grpc-encoding", [[], [("grpc-encoding", "identity")]], ["identity"]),
    "grpc-accept-encoding": ("grpc-accept-encoding", [[], [("grpc-accept-encoding", "gzip")]], ["gzip"]),
    "grpc-tags-bin": ("grpc-tags-bin", [[], [("grpc-tags-bin", "AAAA")]], ["AAAA"]), "grpc-previous-rpc-attempts": (
        "grpc-previous-rpc-attempts", [[], [("grpc-previous-rpc-attempts", "1")]], ["1"]),
    "grpc-own": ("grpc-own", [[], [("grpc-own", "1")]], ["1"]), "bin": ("x-bin", [[], [("x-bin", "YWJj")]], ["abc", "YWJj"]),
    "bin-two": ("x-bin", [[("x-bin", "YWJj"), ("x-bin", "YWJk")], [("x-bin", "YWJj,YWJk")]], ["abc,abd", "YWJj,YWJk"]),
    "upper": ("X-A", [[], [("x-a", "abc")]], ["abc"]), "cookie": ("cookie", [[("cookie", "a=1"), ("cookie", "b=2")]], ["a=1", "a=1,b=2", "a=1; b=2"]),
    "several": ("x-a", [[("x-a", "a"), ("x-a", "b")], [("x-a", "b"), ("x-a", "a")], [("x-a", "a,b")]], ["a", "b", "a,b", "a, b"]),
}


def header_rows(kind, condition):
    for name, about, matcher in headers("x-a"):
        yield asked(f"{kind}-header-{name}", about, condition({"header": matcher}), *calls(*({"headers": sent} for sent in VALUES)))
    for name, (header, sent, values) in SPECIAL.items():
        for number, value in enumerate(values):
            yield asked(f"{kind}-header-{name}-{number}", f"header {header} is {value}", condition({"header": {"name": header, "string_match": {"exact": value}}}),
                        *calls(*({"headers": each} for each in sent), {"headers": sent[-1], "method": "/pkg.Service/Other"}))
        yield asked(f"{kind}-header-{name}-present", f"header {header} is there", condition({"header": {"name": header, "present_match": True}}),
                    *calls(*({"headers": each} for each in sent)))


def url_paths(kind, condition):
    for name, matcher in strings("/pkg.Service/Method", "/admin.Console/Delete").items():
        yield asked(f"{kind}-url-path-{name}", f"url_path {name}", condition({"url_path": {"path": matcher}}), *calls(*METHODS))
    yield asked(f"{kind}-url-path-query", "the path of a call that has a query", condition({"url_path": {"path": {"exact": "/pkg.Service/Method"}}}),
                *calls("/pkg.Service/Method?a=1", "/pkg.Service/Method#a", "/pkg.Service/Method/", "pkg.Service/Method"))
    yield asked(f"{kind}-url-path-unknown", "the path of a method that the server does not have", condition({"url_path": {"path": {"prefix": "/pkg.Service/"}}}),
                *calls("/admin.Console/None", "/none.Such/Method"))
    yield asked(f"{kind}-url-path-empty", "url_path without a matcher", condition({"url_path": {}}), *calls(*METHODS))


def metadata(kind, condition):
    matcher = {"filter": "envoy.filters.http.jwt_authn", "path": [{"key": "sub"}], "value": {"string_match": {"exact": "me"}}}
    for name, value in {"string": matcher, "present": {**matcher, "value": {"present_match": True}}, "absent": {**matcher, "value": {"present_match": False}},
                        "null": {**matcher, "value": {"null_match": {}}}, "number": {**matcher, "value": {"double_match": {"exact": 1}}},
                        "bool": {**matcher, "value": {"bool_match": False}}, "list": {**matcher, "value": {"list_match": {"one_of": {"null_match": {}}}}},
                        "no-path": {**matcher, "path": []}, "no-value": {"filter": "x", "path": [{"key": "sub"}]}, "empty": {}}.items():
        for inverted in (False, True):
            its = {**value, "invert": True} if inverted else value
            yield asked(f"{kind}-metadata-{name}{'-inverted' * inverted}", f"metadata {name}{', inverted' * inverted}", condition({"metadata": its}), *calls(*METHODS[:1]))


# --- permissions -------------------------------------------------------------------------------------------------------------------

PATH, OTHER, HEADER = ({"url_path": {"path": {"exact": METHODS[0]}}}, {"url_path": {"path": {"exact": METHODS[1]}}},
                       {"header": {"name": "x-a", "string_match": {"exact": "abc"}}})
WAYS = [METHODS[0], METHODS[1], {"headers": [("x-a", "abc")]}, {"method": METHODS[1], "headers": [("x-a", "abc")]}, METHODS[2]]


def sets(kind, condition, all_of, one_of, negated):
    """and, or, not and any, in each other."""
    def both(*parts):
        return {all_of[0]: {all_of[1]: list(parts)}}

    def either(*parts):
        return {one_of[0]: {one_of[1]: list(parts)}}

    def no(part):
        return {negated: part}

    parts = {"path": PATH, "header": HEADER, "other": OTHER, "any": ANY}
    for name in parts:
        yield asked(f"{kind}-not-{name}", f"not {name}", condition(no(parts[name])), *calls(*WAYS))
        yield asked(f"{kind}-not-not-{name}", f"not not {name}", condition(no(no(parts[name]))), *calls(*WAYS))
        yield asked(f"{kind}-and-one-{name}", f"and of {name} alone", condition(both(parts[name])), *calls(*WAYS))
        yield asked(f"{kind}-or-one-{name}", f"or of {name} alone", condition(either(parts[name])), *calls(*WAYS))
        yield asked(f"{kind}-not-and-{name}", f"not and of {name}, header", condition(no(both(parts[name], HEADER))), *calls(*WAYS))
        yield asked(f"{kind}-not-or-{name}", f"not or of {name}, header", condition(no(either(parts[name], HEADER))), *calls(*WAYS))
        for with_name in parts:
            if name < with_name:
                yield asked(f"{kind}-and-{name}-{with_name}", f"and of {name}, {with_name}", condition(both(parts[name], parts[with_name])), *calls(*WAYS))
                yield asked(f"{kind}-or-{name}-{with_name}", f"or of {name}, {with_name}", condition(either(parts[name], parts[with_name])), *calls(*WAYS))
                yield asked(f"{kind}-and-not-{name}-{with_name}", f"and of {name}, not {with_name}", condition(both(parts[name], no(parts[with_name]))), *calls(*WAYS))
                yield asked(f"{kind}-or-not-{name}-{with_name}", f"or of not {name}, {with_name}", condition(either(no(parts[name]), parts[with_name])), *calls(*WAYS))
    yield asked(f"{kind}-and-none", "and of nothing", condition({all_of[0]: {}}), *calls(*WAYS))
    yield asked(f"{kind}-or-none", "or of nothing", condition({one_of[0]: {}}), *calls(*WAYS))
    yield asked(f"{kind}-not-and-none", "not and of nothing", condition(no({all_of[0]: {}})), *calls(*WAYS))
    yield asked(f"{kind}-none", "a condition of no kind", condition({}), *calls(*WAYS))
    yield asked(f"{kind}-not-none", "not a condition of no kind", condition(no({})), *calls(*WAYS))
    yield asked(f"{kind}-any-false", "any: false", condition({"any": False}), *calls(*WAYS))
    for name, action in {"deny": "DENY", "log": "LOG"}.items():
        yield asked(f"{kind}-{name}-any", f"{action} any", condition(ANY, action), *calls(*WAYS))
        yield asked(f"{kind}-{name}-path", f"{action} path", condition(PATH, action), *calls(*WAYS))
        yield asked(f"{kind}-{name}-not-path", f"{action} not path", condition(no(PATH), action), *calls(*WAYS))
    for depth in (14, 15, 16, 17, 18, 40):
        deep = PATH
        for _ in range(depth):
            deep = no(deep)
        yield asked(f"{kind}-deep-{depth}", f"{depth} times not", condition(deep), *calls(*WAYS[:2]))


RANGES = ["127.0.0.1/32", "127.0.0.0/8", "127.0.0.0/30", "127.0.0.2/31", "0.0.0.0/0", "10.0.0.0/8", "128.0.0.0/1", "127.0.0.1", "127.0.5.77/16", "127.0.5.77/25",
          "127.0.0.1/33", "::/0", "::1/128", "::ffff:127.0.0.0/104", "::ffff:127.0.0.1/128", "server.test/32", "/0", "127.0.0.1/0", "126.0.0.0/7", "127.0.5.0/24"]


def destinations():
    to = ["127.0.0.1", "127.0.0.2", "127.0.5.1", "127.200.0.1"]
    for number, text in enumerate(RANGES):
        steps = [step for each in to for step in (connect(each, to=each), call(each))]
        yield asked(f"permission-destination-ip-{number}", f"destination_ip {text}", permitted({"destination_ip": cidr(text)}), *steps)
    made = listener([chain(filters=[permitted({"destination_ip": cidr("::1/128")})])], address="::")
    yield row("rbac-permission-destination-ip-v6", "destination_ip of IPv6", made, connect(source="::1", to="::1"), call(), connect("b"), call("b"), address="::")
    for name, port in {"right": "PORT", "next": "NEXT PORT", "zero": 0, "large": 65536, "80": 80, "huge": 4294967295}.items():
        for action in ("ALLOW", "DENY"):
            yield asked(f"permission-destination-port-{name}-{action.lower()}", f"{action} destination_port {name}", permitted({"destination_port": port}, action), *calls(*METHODS[:1]))
        yield asked(f"permission-destination-port-not-{name}", f"not destination_port {name}", permitted({"not_rule": {"destination_port": port}}), *calls(*METHODS[:1]))
    ports = {"either": {"or_rules": {"rules": [{"destination_port": 80}, {"destination_port": "PORT"}]}}, "both": {"and_rules": {"rules": [{"destination_port": 80}, {"destination_port": "PORT"}]}},
             "and-path": {"and_rules": {"rules": [{"destination_port": "PORT"}, PATH]}}, "not-and-path": {"and_rules": {"rules": [{"not_rule": {"destination_port": "PORT"}}, PATH]}}}
    for name, permission in ports.items():
        yield asked(f"permission-destination-port-{name}", f"destination_port, {name}", permitted(permission), *calls(*METHODS))
    for name, (start, end) in {"in": (7000, 9001), "first": ("PORT", "NEXT PORT"), "end": (7000, "PORT"), "one": ("PORT", "PORT"), "below": (1, 7000), "above": (9001, 65536),
                               "reversed": ("NEXT PORT", "PORT"), "all": (0, 65536), "zero": (0, 0), "negative": (-1, 65536)}.items():
        for action in ("ALLOW", "DENY"):
            yield asked(f"permission-destination-port-range-{name}-{action.lower()}", f"{action} destination_port_range [{start}, {end})",
                        permitted({"destination_port_range": {"start": start, "end": end}}, action), *calls(*METHODS[:1]))


def server_names():
    for name, matcher in strings("server.test", "other").items():
        yield asked(f"permission-server-name-{name}", f"requested_server_name {name} on a plaintext connection", permitted({"requested_server_name": matcher}), *calls(*METHODS[:1]))
        yield asked(f"permission-server-name-tls-{name}", f"requested_server_name {name} on a TLS connection", permitted({"requested_server_name": matcher}),
                    connect(tls=shows()), call(), connect("b", tls=shows(server_name="next.test", roots="")), call("b"), tls=tls())


def others():
    extension = {"name": "x", "typed_config": {"@type": FILTERS + "http.router.v3.Router"}}
    for name, permission in {
            "matcher": {"matcher": extension}, "uri-template": {"uri_template": extension}, "sourced-metadata": {
                "sourced_metadata": {"metadata_matcher": {"filter": "x", "path": [{"key": "k"}], "value": {"present_match": True}}, "metadata_source": "ROUTE"}}}.items():
        for what, its in {"": permission, "-not": {"not_rule": permission}, "-or": {"or_rules": {"rules": [permission, PATH]}},
                          "-and": {"and_rules": {"rules": [permission, PATH]}}}.items():
            for action in ("ALLOW", "DENY"):
                yield asked(f"permission-{name}{what}-{action.lower()}", f"{action}{what.replace('-', ' ')} {name}", permitted(its, action), *calls(*METHODS[:2]))
    for name, principal in {
            "filter-state": {"filter_state": {"key": "k", "string_match": {"exact": "v"}}}, "filter-state-address": {"filter_state": {"key": "k", "address_match": {"ranges": [cidr("127.0.0.0/8")]}}},
            "custom": {"custom": extension}, "sourced-metadata": {
                "sourced_metadata": {"metadata_matcher": {"filter": "x", "path": [{"key": "k"}], "value": {"present_match": True}}, "metadata_source": "ROUTE"}}}.items():
        for what, its in {"": principal, "-not": {"not_id": principal}, "-or": {"or_ids": {"ids": [principal, PATH]}}, "-and": {"and_ids": {"ids": [principal, PATH]}}}.items():
            for action in ("ALLOW", "DENY"):
                yield asked(f"principal-{name}{what}-{action.lower()}", f"{action}{what.replace('-', ' ')} {name}", known(its, action), *calls(*METHODS[:2]))


# --- principals --------------------------------------------------------------------------------------------------------------------

def addresses():
    sources = ["127.0.0.1", "127.0.0.2", "127.0.5.1", "127.200.0.1"]
    for kind in ("source_ip", "direct_remote_ip", "remote_ip"):
        for number, text in enumerate(RANGES):
            steps = [step for each in sources for step in (connect(each, source=each), call(each))]
            yield asked(f"principal-{kind.replace('_', '-')}-{number}", f"{kind} {text}", known({kind: cidr(text)}), *steps)
        yield asked(f"principal-{kind.replace('_', '-')}-forwarded", f"{kind} and what x-forwarded-for says", known({kind: cidr("10.0.0.1/32")}),
                    *calls({"headers": [("x-forwarded-for", "10.0.0.1")]}))
        yield asked(f"principal-{kind.replace('_', '-')}-deny", f"DENY {kind}", known({kind: cidr("127.0.5.0/24")}, "DENY"),
                    *[step for each in sources for step in (connect(each, source=each), call(each))])
    made = listener([chain(filters=[known({"direct_remote_ip": cidr("::1/128")})])], address="::")
    yield row("rbac-principal-direct-remote-ip-v6", "direct_remote_ip of IPv6", made, connect(source="::1", to="::1"), call(), connect("b"), call("b"), address="::")
    made = listener([chain(filters=[known({"direct_remote_ip": cidr("127.0.0.0/8")})])], address="::")
    yield row("rbac-principal-direct-remote-ip-v4", "direct_remote_ip of a connection by IPv4 to a server on [::]", made, connect(), call(), address="::")


SHOWN = ["client-uri", "client-uris", "client-dns", "client-email", "client-ip", "client-none", "client-nameless", "client-all", "client-wildcard", "client-comma"]


def peers(*certificates, plain=False):
    steps = [connect("none", tls=shows()), call("none")]
    for certificate in certificates:
        steps += [connect(certificate, tls=shows(certificate)), call(certificate)]
    return steps


def authenticated():
    for name, matcher in strings("spiffe://test/ns/default/sa/client", "spiffe://test/all").items():
        yield asked(f"principal-authenticated-{name}", f"authenticated {name}", known({"authenticated": {"principal_name": matcher}}),
                    *peers(*SHOWN[:3], "client-none"), tls=mtls(require=False))
    values = {"uri-second": "spiffe://test/ns/default/sa/second", "dns": "a.client.test", "dns-second": "b.client.test", "dns-upper": "A.CLIENT.TEST", "email": "client@test",
              "ip": "10.1.2.3", "common-name": "client-none", "subject": "CN=client-none,OU=Unit,O=Test", "subject-spaces": "CN=client-none, OU=Unit, O=Test",
              "subject-reversed": "O=Test,OU=Unit,CN=client-none", "subject-slashes": "/O=Test/OU=Unit/CN=client-none", "all-uri": "spiffe://test/all", "all-dns": "all.test",
              "all-email": "all@test", "all-subject": "CN=client-all,O=Test", "all-common-name": "client-all", "wildcard": "*.client.test", "wildcard-used": "c.client.test",
              "nameless": "nameless.test", "comma": "CN=last\\, first,O=Test\\+Co", "comma-plain": "CN=last, first,O=Test+Co", "email-subject": "CN=client-email,O=Test",
              "ip-subject": "CN=client-ip,O=Test", "dns-subject": "CN=client-dns,O=Test", "uri-subject": "CN=client-uri,O=Test"}
    for name, value in values.items():
        yield asked(f"principal-authenticated-{name}", f"authenticated exact {value}", known({"authenticated": {"principal_name": {"exact": value}}}),
                    *peers(*SHOWN), tls=mtls(require=False))
    for name, context in {"plain": None, "server-only": tls(), "not-required": mtls(require=False), "mutual": mtls()}.items():
        sides = [connect(), call(), *peers("client-uri", "client-none")]
        for what, principal in {"any": {"authenticated": {}}, "not": {"not_id": {"authenticated": {}}}, "empty": {"authenticated": {"principal_name": {"exact": ""}}},
                                "all": {"authenticated": {"principal_name": {"prefix": ""}}}, "regex": {"authenticated": {"principal_name": {"safe_regex": {"regex": ".*"}}}},
                                "not-uri": {"not_id": {"authenticated": {"principal_name": {"prefix": "spiffe://"}}}}}.items():
            yield asked(f"principal-authenticated-{what}-{name}", f"authenticated ({what}), TLS {name}", known(principal), *sides, tls=context)
    yield asked("principal-authenticated-deny", "DENY one SPIFFE id", known({"authenticated": {"principal_name": {"exact": "spiffe://test/ns/default/sa/client"}}}, "DENY"),
                *peers(*SHOWN), tls=mtls(require=False))


# --- rules as a whole --------------------------------------------------------------------------------------------------------------

def actions():
    everyone, nobody, path, other = policy(), policy([{"not_rule": ANY}]), policy([PATH]), policy([OTHER])
    for action in ("ALLOW", "DENY", "LOG", 7):
        name = str(action).lower()
        yield asked(f"action-{name}-none", f"{action} without policies", rbac(rules({}, action)), *calls(*METHODS))
        for what, its in {"all": [everyone], "nobody": [nobody], "path": [path], "path-other": [path, other], "nobody-path": [nobody, path], "no-permissions": [policy([])],
                          "no-principals": [policy(None, [])], "two-permissions": [policy([PATH, OTHER])], "two-principals": [policy(None, [{"not_id": ANY}, ANY])]}.items():
            yield asked(f"action-{name}-{what}", f"{action}: {what}", rbac(rules(its, action)), *calls(*METHODS))
    for what, condition in {"condition": {"condition": {"const_expr": {"bool_value": False}}}, "checked": {"checked_condition": {"expr": {"const_expr": {"bool_value": False}}}}}.items():
        yield asked(f"policy-{what}", f"a policy with a CEL {what}", rbac(rules([policy(**condition)])), *calls(*METHODS))
    yield asked("none", "RBAC without rules", rbac({}, **{}) | {"typed_config": {"@type": FILTERS + "http.rbac.v3.RBAC"}}, *calls(*METHODS))
    yield asked("shadow", "shadow rules alone", {"name": "rbac", "typed_config": {"@type": FILTERS + "http.rbac.v3.RBAC", "shadow_rules": rules({}, "ALLOW")}}, *calls(*METHODS))
    yield asked("shadow-both", "shadow rules that would deny beside rules that allow", rbac(rules(), shadow_rules=rules({}), shadow_rules_stat_prefix="x"), *calls(*METHODS))
    yield asked("shadow-denies", "rules that deny beside shadow rules that would allow", rbac(rules({}), shadow_rules=rules()), *calls(*METHODS))
    yield asked("matcher", "a matcher in place of rules", {"name": "rbac", "typed_config": {"@type": FILTERS + "http.rbac.v3.RBAC", "matcher": {"on_no_match": {
        "action": {"name": "deny", "typed_config": {"@type": TYPE + "envoy.config.rbac.v3.Action", "name": "deny", "action": "DENY"}}}}}}, *calls(*METHODS))
    yield asked("stat-prefix", "rules_stat_prefix and track_per_rule_stats", rbac(rules(), rules_stat_prefix="x", track_per_rule_stats=True), *calls(*METHODS))
    two = {"allow-allow": ("ALLOW", "ALLOW"), "deny-allow": ("DENY", "ALLOW"), "allow-deny": ("ALLOW", "DENY"), "log-allow": ("LOG", "ALLOW"), "deny-deny": ("DENY", "DENY")}
    for what, (first, second) in two.items():
        yield asked(f"two-{what}", f"two filters: {first} path, {second} other or header", [
            rbac(rules([path], first), name="first"), rbac(rules([policy([OTHER, HEADER])], second), name="second")], *calls(*WAYS))
    yield asked("two-same-name", "two filters of the same name", [rbac(rules([path])), rbac(rules([other]))], *calls(*METHODS))
    yield asked("optional", "a filter that is optional", [{**rbac(rules({})), "is_optional": True}], *calls(*METHODS))
    yield asked("disabled", "a filter that is disabled", [{**rbac(rules({})), "disabled": True}], *calls(*METHODS))
    yield asked("denied-then-unrouted", "a call that is denied and has no route", [rbac(rules({}))], *calls(*METHODS), hosts=[host([route({"prefix": "/none"})])])
    yield asked("denied-then-forwarded", "a call that is denied and whose route has another action", [rbac(rules({}))], *calls(*METHODS),
                hosts=[host([route(None, {"route": {"cluster": "c"}})])])
    yield asked("denied-no-host", "a call that is denied and has no virtual host", [rbac(rules({}))], *calls(*METHODS), hosts=[host(domains=["none.test"])])


def overrides():
    deny, allow = rules({}), rules()
    path, other = {"path": METHODS[0]}, {"path": METHODS[1]}
    for what, (top, on_host, on_route) in {
            "route-denies": (allow, {}, override(deny)), "route-allows": (deny, {}, override(allow)), "route-nothing": (deny, {}, override()),
            "host-denies": (allow, override(deny), {}), "host-allows": (deny, override(allow), {}), "host-nothing": (deny, override(), {}),
            "route-over-host": (deny, override(deny), override(allow)), "route-over-host-denies": (allow, override(allow), override(deny)),
            "route-other-name": (deny, {}, override(allow, "other")), "host-other-name": (deny, override(allow, "other"), {}),
            "route-no-rules": (deny, {}, {"typed_per_filter_config": {"rbac": {"@type": FILTERS + "http.rbac.v3.RBACPerRoute", "rbac": {}}}}),
            "route-log": (deny, {}, override(rules({}, "LOG"))), "route-top-type": (deny, {}, {"typed_per_filter_config": {"rbac": {"@type": FILTERS + "http.rbac.v3.RBAC", "rules": allow}}}),
            "route-filter-config": (deny, {}, {"typed_per_filter_config": {"rbac": {"@type": TYPE + "envoy.config.route.v3.FilterConfig", "config": {
                "@type": FILTERS + "http.rbac.v3.RBACPerRoute", "rbac": {"rules": allow}}}}}),
            "route-disabled": (deny, {}, {"typed_per_filter_config": {"rbac": {"@type": TYPE + "envoy.config.route.v3.FilterConfig", "disabled": True}}}),
            "route-disabled-whole": (deny, {}, {"typed_per_filter_config": {"rbac": {"@type": TYPE + "envoy.config.route.v3.FilterConfig", "disabled": True, "config": {
                "@type": FILTERS + "http.rbac.v3.RBACPerRoute", "rbac": {"rules": deny}}}}}),
            "route-unknown-optional": (deny, {}, {"typed_per_filter_config": {"rbac": {"@type": TYPE + "envoy.config.route.v3.FilterConfig", "is_optional": True, "config": {
                "@type": FILTERS + "http.cors.v3.CorsPolicy"}}}})}.items():
        yield asked(f"override-{what}", f"override: {what}", rbac(top), *calls(METHODS[0], METHODS[1], METHODS[2]),
                    hosts=[host([route(path, **on_route), route(other), route()], **on_host)])
    yield asked("override-two", "overrides of two filters", [rbac(deny, name="first"), rbac(allow, name="second")], *calls(*METHODS), hosts=[host([
        route(path, typed_per_filter_config={**override(allow, "first")["typed_per_filter_config"]}),
        route(other, typed_per_filter_config={**override(allow, "first")["typed_per_filter_config"], **override(deny, "second")["typed_per_filter_config"]}), route()])])
    yield asked("override-config", "an override of the whole RouteConfiguration", rbac(deny), *calls(*METHODS))


def audits():
    stdout = {"audit_logger": {"name": "stdout", "typed_config": {"@type": TYPE + "envoy.extensions.rbac.audit_loggers.stream.v3.StdoutAuditLog"}}}
    unknown = {"audit_logger": {"name": "x", "typed_config": {"@type": FILTERS + "http.router.v3.Router"}}}
    for condition in ("NONE", "ON_DENY", "ON_ALLOW", "ON_DENY_AND_ALLOW", 7):
        for action in ("ALLOW", "DENY"):
            yield asked(f"audit-{str(condition).lower().replace('_', '-')}-{action.lower()}", f"a stdout audit logger, {condition}, {action}",
                        rbac(rules([policy([PATH])], action, audit_logging_options={"audit_condition": condition, "logger_configs": [stdout]})), *calls(*METHODS[:2]))
    for name, loggers in {"unknown": [unknown], "unknown-optional": [{**unknown, "is_optional": True}], "none": [], "two": [stdout, stdout], "untyped": [{"audit_logger": {"name": "x"}}]}.items():
        yield asked(f"audit-{name}", f"audit loggers: {name}", rbac(rules([policy([PATH])], audit_logging_options={"audit_condition": "ON_DENY_AND_ALLOW", "logger_configs": loggers})),
                    *calls(*METHODS[:2]))


def rows():
    for kind, condition in {"permission": permitted, "principal": known}.items():
        names = (("and_rules", "rules"), ("or_rules", "rules"), "not_rule") if kind == "permission" else (("and_ids", "ids"), ("or_ids", "ids"), "not_id")
        yield from sets(kind, condition, *names)
        yield from header_rows(kind, condition)
        yield from url_paths(kind, condition)
        yield from metadata(kind, condition)
    for part in (destinations, server_names, others, addresses, authenticated, actions, overrides, audits):
        yield from part()
