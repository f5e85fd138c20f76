"""The words in which rows of servers are written: resources, steps, rows."""
import zlib

TYPE = "type.googleapis.com/"
LISTENER = TYPE + "envoy.config.listener.v3.Listener"
ROUTES = TYPE + "envoy.config.route.v3.RouteConfiguration"
FILTERS = TYPE + "envoy.extensions.filters."
HCM = FILTERS + "network.http_connection_manager.v3.HttpConnectionManager"
RBAC = FILTERS + "http.rbac.v3.RBAC"
ROUTER = {"name": "router", "typed_config": {"@type": FILTERS + "http.router.v3.Router"}}
TLS = TYPE + "envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext"
PORT = "PORT"  # stands for the port of the row's server, and "NEXT PORT" for the one after it
SERVED = {"match": {"prefix": ""}, "non_forwarding_action": {}}


def present(**values):
    return {name: value for name, value in values.items() if value not in (None, [], {})}


def route(match=None, action=None, **more):
    """A route to the server's methods, unless there is another action."""
    return {"match": match or {"prefix": ""}, **(action or {"non_forwarding_action": {}}), **more}


def host(routes=None, domains=("*",), **more):
    return {"name": "host", "domains": list(domains), "routes": routes or [SERVED], **more}


def routes(hosts=None, name="routes"):
    return {"@type": ROUTES, "name": name, "virtual_hosts": hosts or [host()]}


def chain(match=None, tls=None, filters=(), hosts=None, rds=None, name="chain", **more):
    """A filter chain with a connection manager, whose routes are in it or asked for by RDS."""
    manager = {"@type": HCM, "http_filters": [*filters, ROUTER]}
    if rds:
        manager["rds"] = {"route_config_name": rds, "config_source": {"ads": {}}}
    else:
        manager["route_config"] = {"name": "routes", "virtual_hosts": hosts or [host()]}
    made = {"name": name, "filters": [{"name": "manager", "typed_config": manager}]}
    if match is not None:
        made["filter_chain_match"] = match
    if tls:
        made["transport_socket"] = {"name": "envoy.transport_sockets.tls", "typed_config": {"@type": TLS, **tls}}
    return {**made, **more}


def listener(chains=None, default=None, address="0.0.0.0", **more):
    where = f"[{address}]" if ":" in address else address
    return {"@type": LISTENER, "name": f"grpc/server?address={where}:{PORT}",
            "address": {"socket_address": {"address": address, "port_value": PORT}},
            **present(filter_chains=[chain()] if chains is None and default is None else chains, default_filter_chain=default), **more}


def cidr(text):
    """10.0.0.0/8, or an address without a length."""
    address, _, length = text.partition("/")
    return {"address_prefix": address, **({"prefix_len": int(length)} if length else {})}


# --- RBAC --------------------------------------------------------------------------------------------------------------------------

ANY = {"any": True}


def policy(permissions=None, principals=None, **more):
    return {"permissions": [ANY] if permissions is None else permissions, "principals": [ANY] if principals is None else principals, **more}


def rules(policies=None, action="ALLOW", **more):
    """Rules with one policy that is met by everybody, or these: a list gets names."""
    if isinstance(policies, list):
        policies = {f"policy-{number}": each for number, each in enumerate(policies, 1)}
    return {"action": action, **({"policies": policies} if policies != {} else {}), **more} if policies is not None else \
        {"action": action, "policies": {"all": policy()}, **more}


def rbac(its_rules=None, name="rbac", **more):
    return {"name": name, "typed_config": {"@type": RBAC, "rules": rules() if its_rules is None else its_rules, **more}}


def permitted(permission, action="ALLOW", principals=None):
    return rbac(rules([policy([permission], principals)], action))


def known(principal, action="ALLOW", permissions=None):
    return rbac(rules([policy(permissions, [principal])], action))


def override(its_rules=None, name="rbac"):
    """typed_per_filter_config of a route or virtual host; without rules, nothing is enforced there."""
    config = {"@type": RBAC + "PerRoute", **({"rbac": {"rules": its_rules}} if its_rules is not None else {})}
    return {"typed_per_filter_config": {name: config}}


# --- TLS ---------------------------------------------------------------------------------------------------------------------------

def tls(roots=None, require=None, identity="server", sans=None, combined=False, **more):
    """A server's TLS: roots and the names that a client must have."""
    context = present(ca_certificate_provider_instance={"instance_name": roots} if roots else None, match_subject_alt_names=sans)
    common = {"tls_certificate_provider_instance": {"instance_name": identity}} if identity else {}
    if context:
        common.update({"combined_validation_context": {"default_validation_context": context}} if combined else
                      {"validation_context": context})
    return {"common_tls_context": common, **({} if require is None else {"require_client_certificate": require}), **more}


def mtls(**more):
    return tls(**{"roots": "server", "require": True, **more})


def shows(certificate=None, **more):
    """TLS of the side that connects."""
    return {"roots": "ca", "server_name": "server.test", **present(certificate=certificate), **more}


# --- steps -------------------------------------------------------------------------------------------------------------------------

def connect(name="a", source="127.0.0.2", to="127.0.0.1", tls=None, **more):
    return {"connect": name, "from": source, "to": to, **present(tls=tls), **more}


def call(name="a", method="/pkg.Service/Method", headers=None, **more):
    return {"call": name, "method": method, **present(headers=[list(header) for header in headers or []]), **more}


def replaced(value, port):
    if isinstance(value, dict):
        return {key: replaced(each, port) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [replaced(each, port) for each in value]
    if value == PORT:
        return port
    if value == "NEXT PORT":
        return port + 1
    return value.replace("NEXT PORT", str(port + 1)).replace(PORT, str(port)) if isinstance(value, str) else value


def row(id, about, resources, *steps, address="0.0.0.0", **more):
    """Each row has a port of its own, so that nothing is left of the one before it."""
    port = 7000 + zlib.crc32(id.encode()) % 2000
    where = f"[{address}]" if ":" in address else address
    made = {"id": id, "about": about, "listen": f"{where}:{PORT}", **more,
            "resources": [resources] if isinstance(resources, dict) else list(resources), "steps": list(steps)}
    return replaced(made, port)
