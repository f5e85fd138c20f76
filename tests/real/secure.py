"""A real gRPC client over TLS, and a resource with a real key.

  secure.py client KEYS TARGET     with the bootstrap of GRPC_XDS_BOOTSTRAP, and the certificate and key of KEYS
  secure.py resource KEY           a Cluster that holds the key, as JSON
"""
import json
import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "oracle"))


def client(keys, target):
    import alone
    assert alone.is_alone(), "the endpoints of the served resources are anywhere"
    with open(os.environ.pop("GRPC_XDS_BOOTSTRAP")) as text:
        bootstrap = json.load(text)
    creds = bootstrap["xds_servers"][0]["channel_creds"][0]
    assert creds["type"] == "tls", creds
    assert creds["config"]["ca_certificate_file"].endswith("/server.pem"), creds
    creds["config"].update(certificate_file=os.path.join(keys, "client.pem"), private_key_file=os.path.join(keys, "client.key"))
    os.environ["GRPC_XDS_BOOTSTRAP_CONFIG"] = json.dumps(bootstrap)
    import grpc
    channel = grpc.insecure_channel("xds:///" + target)
    # What becomes of the RPC does not matter; the configuration is there before it fails or ends.
    call = channel.unary_unary("/real.Probe/Call").future(b"", timeout=10, wait_for_ready=True)
    time.sleep(3)
    call.cancel()
    channel.close()
    sys.stdout.flush()
    os._exit(0)  # grpc's background threads need no farewell


def resource(key):
    with open(key) as text:
        key = text.read()
    tls = {"@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext",
           "common_tls_context": {"tls_certificates": [{"private_key": {"inline_string": key}}]}}
    cluster = {"@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "with-key", "type": "EDS",
               "eds_cluster_config": {"eds_config": {"ads": {}}}, "transport_socket_matches": [
                   {"name": "m", "transport_socket": {"name": "envoy.transport_sockets.tls", "typed_config": tls}}]}
    print(json.dumps({"resources": [cluster]}))


if __name__ == "__main__":
    {"client": client, "resource": resource}[sys.argv[1]](*sys.argv[2:])
