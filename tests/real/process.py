"""The real processes that `xdsctl fetch` asks. Each prints what there is to know as a line of JSON, and lives until its input ends.

  process.py plane [--tls DIR] [--unix PATH]     a control plane on the C-core server of grpcio; with --hold its resource that clients
                                                 reject comes in a version that they take, until there is a line of input
  process.py client [--plane PORT --node ID]     a gRPC client with its CSDS service, behind this control plane or one of its own
  process.py silent|text|drip|slow|half|bytes|other|reset|flood|loop|many|big|pieces
                                                 servers on a bad day
"""
import json
import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "oracle"))


def shop():
    """A configuration with one resource that clients reject."""
    from control_plane import CDS, EDS, RDS
    from resources import ADS, listener
    endpoint = {"endpoint": {"address": {"socket_address": {"address": "127.0.0.1", "port_value": 8080}}}}
    return [
        listener("shop", rds={"config_source": ADS, "route_config_name": "routes"}),
        {"@type": RDS, "name": "routes", "virtual_hosts": [{"name": "v", "domains": ["*"], "routes": [
            {"match": {"prefix": "/a"}, "route": {"cluster": "a"}}, {"match": {"prefix": ""}, "route": {"cluster": "bad"}}]}]},
        {"@type": CDS, "name": "a", "type": "EDS", "eds_cluster_config": {"eds_config": ADS, "service_name": "endpoints"}},
        {"@type": CDS, "name": "bad", "type": "EDS", "lb_policy": "MAGLEV", "eds_cluster_config": {"eds_config": ADS}},
        {"@type": EDS, "cluster_name": "endpoints", "endpoints": [
            {"locality": {"region": "r"}, "load_balancing_weight": 1, "lb_endpoints": [endpoint]}]},
    ]


def entries():
    from control_plane import pack
    return [(r["@type"], r.get("name") or r["cluster_name"], pack(r)) for r in shop()]


def say(**facts):
    print(json.dumps(facts), flush=True)


def until_end():
    sys.stdin.read()
    os._exit(0)  # grpc's background threads need no farewell


def read(directory, name):
    with open(os.path.join(directory, name), "rb") as file:
        return file.read()


def plane(arguments):
    import concurrent.futures
    import grpc
    from control_plane import ControlPlane
    from envoy.service.discovery.v3 import ads_pb2_grpc
    served = ControlPlane(streams=20)
    served.set(entries())
    facts = {"port": served.port}
    holds = "--hold" in arguments
    arguments = [argument for argument in arguments if argument != "--hold"]
    options = dict(zip(arguments[::2], arguments[1::2]))
    if holds:
        from control_plane import pack
        served.set([(r["@type"], r["name"], pack({**r, "type": "EDS", "lb_policy": "ROUND_ROBIN", "eds_cluster_config": {
            "eds_config": {"ads": {}}, "service_name": "endpoints"}})) for r in shop() if r.get("name") == "bad"])
    # A server takes no port once it has started, so this is a second one.
    other = grpc.server(concurrent.futures.ThreadPoolExecutor(20))
    ads_pb2_grpc.add_AggregatedDiscoveryServiceServicer_to_server(served, other)
    if "--tls" in options:
        keys = options["--tls"]
        credentials = grpc.ssl_server_credentials(
            [(read(keys, "server.key"), read(keys, "server.pem"))], read(keys, "ca.pem"), require_client_auth=True)
        facts["tls"] = other.add_secure_port("127.0.0.1:0", credentials)
    if "--unix" in options:
        other.add_insecure_port("unix:" + options["--unix"])
    other.start()
    say(**facts)
    if holds and sys.stdin.readline():
        served.set(entries())
    until_end()


def client(arguments):
    import base64
    import types
    import client as real
    from control_plane import ControlPlane
    from envoy.service.status.v3 import csds_pb2
    options = dict(zip(arguments[::2], arguments[1::2]))
    if "--plane" in options:
        served = types.SimpleNamespace(port=options["--plane"])
        os.environ["ORACLE_BOOTSTRAP"] = json.dumps({"node": {"id": options["--node"]}})
    else:
        served = ControlPlane(streams=20)
        served.set(entries())
    stub, keep = real.start(served)
    import grpc
    channel = grpc.insecure_channel("xds:///shop")
    channel.unary_unary("/real.Probe/Call").future(b"", timeout=0.2)
    wanted = len(shop())
    deadline = time.time() + 20
    while time.time() < deadline:
        found = real.resources(stub)
        if sum(status in ("ACKED", "NACKED") for status, _ in found.values()) == wanted:
            break
        time.sleep(0.05)
    (config,) = stub.FetchClientStatus(csds_pb2.ClientStatusRequest()).config
    held = [base64.b64encode(entry.SerializeToString()).decode() for entry in config.generic_xds_configs]
    say(csds=keep[2], entries=held)
    until_end()


def main():
    what, arguments = sys.argv[1], sys.argv[2:]
    if what == "plane":
        plane(arguments)
    elif what == "client":
        client(arguments)
    else:
        import bad_days
        bad_days.serve(what, say)
        until_end()


if __name__ == "__main__":
    main()
