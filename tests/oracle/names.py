"""Words of xDS that rows are made of."""
import base64

TYPE = "type.googleapis.com/"
LDS = TYPE + "envoy.config.listener.v3.Listener"
RDS = TYPE + "envoy.config.route.v3.RouteConfiguration"
CDS = TYPE + "envoy.config.cluster.v3.Cluster"
EDS = TYPE + "envoy.config.endpoint.v3.ClusterLoadAssignment"
MANAGER = TYPE + "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager"
ADS = {"ads": {}}
METHODS = ["/pkg.Service/Method", "/pkg.Service/Other", "/shop.Cart/Get"]
HEALTH = ["HEALTHY", "UNKNOWN", "UNHEALTHY", "DRAINING", "TIMEOUT", "DEGRADED"]


def endpoint(address, **fields):
    host, port = address.rsplit(":", 1)
    return {"endpoint": {"address": {"socket_address": {"address": host, "port_value": int(port)}}}, **fields}


def policy(name, **config):
    """An LB policy as a message of its own."""
    typed = {"@type": TYPE + "envoy.extensions.load_balancing_policies." + name, **config}
    return {"policies": [{"typed_extension_config": {"name": "n", "typed_config": typed}}]}


def custom(name, config):
    """An LB policy by its name in gRPC."""
    typed = {"@type": TYPE + "xds.type.v3.TypedStruct", "type_url": TYPE + name, "value": config}
    return {"policies": [{"typed_extension_config": {"name": "n", "typed_config": typed}}]}


def http_filter(name, kind, is_optional=False, **config):
    typed = {"@type": TYPE + "envoy.extensions.filters.http." + kind, **config}
    return {"name": name, "typed_config": typed, **({"is_optional": True} if is_optional else {})}


def cookie_state(cookie):
    """The state of a session filter: a cookie."""
    kind = TYPE + "envoy.extensions.http.stateful_session.cookie.v3.CookieBasedSessionState"
    return {"name": "c", "typed_config": {"@type": kind, "cookie": cookie}}


def router():
    return http_filter("router", "router.v3.Router")


def cookie(address, cluster="c", name="sid"):
    value = base64.b64encode(f"{address};{cluster}".encode()).decode()
    return ("cookie", f"{name}={value}")
