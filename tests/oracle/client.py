"""A real gRPC client in this process: its bootstrap, and what it says of its resources (CSDS)."""
import concurrent.futures
import json
import os

STATUS = {1: "REQUESTED", 2: "DOES_NOT_EXIST", 3: "ACKED", 4: "NACKED"}


def bootstrap(port, additions):
    """The bootstrap of the recordings (fixtures/conformance/bootstrap.json) with a row's additions."""
    additions = dict(additions)
    server = {"server_uri": f"127.0.0.1:{port}", "channel_creds": [{"type": "insecure"}],
              "server_features": additions.pop("server_features", ["xds_v3"])}
    watcher = {"plugin_name": "file_watcher", "config": {
        "certificate_file": "/dev/null", "private_key_file": "/dev/null", "ca_certificate_file": "/dev/null",
        "refresh_interval": "600s"}}
    return {"xds_servers": [server],
            "node": {"id": "oracle", "locality": {"region": "r", "zone": "z", "sub_zone": "s"}},
            "certificate_providers": {"id": watcher, "ca": watcher}, **additions}


def start(plane):
    """Starts the client; the second value keeps it alive. It reads its environment once, so this comes first."""
    additions = json.loads(os.environ.pop("ORACLE_BOOTSTRAP", "{}"))
    os.environ["GRPC_XDS_BOOTSTRAP_CONFIG"] = json.dumps(bootstrap(plane.port, additions))
    import grpc
    import grpc_csds
    from envoy.service.status.v3 import csds_pb2_grpc
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(2))
    grpc_csds.add_csds_servicer(server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    channel = grpc.insecure_channel(f"127.0.0.1:{port}", options=[("grpc.max_receive_message_length", -1)])
    return csds_pb2_grpc.ClientStatusDiscoveryServiceStub(channel), (server, channel, port)


def resources(stub):
    """(type URL, name) -> (status, the client's words)."""
    from envoy.service.status.v3 import csds_pb2
    found = {}
    for config in stub.FetchClientStatus(csds_pb2.ClientStatusRequest()).config:
        for entry in config.generic_xds_configs:
            status = STATUS.get(entry.client_status, str(entry.client_status))
            found[(entry.type_url, entry.name)] = (status, entry.error_state.details)
    return found
