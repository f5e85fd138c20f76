"""Servers that answer with their own address, as the request's headers and the steps of a row script them."""
import concurrent.futures
import threading
import time

hits = []  # the address of every attempt that reached a server
told = []  # of the same attempts: the authority, grpc-previous-rpc-attempts, x-google-rls-data, when it came
orca = {}  # address -> fields of an OrcaLoadReport, sent with every answer and out of band
out_of_band = {}  # address -> shortest period, in seconds, in which it sends reports to those who asked for them
streams = []  # (address, period that the client asked for) of every stream of reports
ends = set()  # addresses whose next stream of reports ends at once
scripts = {}  # address -> {"latency", "status", "methods": {path: {"latency", "status"}}}

REPORTS = "/xds.service.orca.v3.OpenRcaService/StreamCoreMetrics"


def forget():
    """What a row before this one has left."""
    for kept in (hits, told, orca, out_of_band, streams, ends, scripts):
        kept.clear()


def _report(address):
    from xds.data.orca.v3 import orca_load_report_pb2 as reports
    return reports.OrcaLoadReport(**orca.get(address, {}))


def _fail(context, code):
    import grpc
    context.abort(getattr(grpc.StatusCode, code), "scripted")


def _answer(address, path, context):
    wanted = {k: v for k, v in context.invocation_metadata() if isinstance(v, str)}
    hits.append(address)
    told.append({"authority": context._rpc_event.call_details.host.decode(), "previous": wanted.get("grpc-previous-rpc-attempts"),
                 "rls_data": wanted.get("x-google-rls-data"), "time": time.time()})
    trailers = []
    if "x-pushback" in wanted:
        trailers.append(("grpc-retry-pushback-ms", wanted["x-pushback"]))
    if address in orca:
        trailers.append(("endpoint-load-metrics-bin", _report(address).SerializeToString()))
    context.set_trailing_metadata(trailers)
    script = scripts.get(address, {})
    script = script.get("methods", {}).get(path, script)
    if "x-hold" in wanted or "latency" in script:
        time.sleep(float(wanted.get("x-hold", script.get("latency", 0))))
    for how in ("x-fail", "x-fail-late"):
        if how in wanted:
            code, _, times = wanted[how].partition(":")
            if int(wanted.get("grpc-previous-rpc-attempts", "0")) < int(times or 1):
                if how == "x-fail-late":
                    context.send_initial_metadata([("x-early", "1")])
                    time.sleep(0.05)
                _fail(context, code)
    if script.get("status", "OK") != "OK":
        _fail(context, script["status"])
    return address.encode()


def _report_stream(address, request, context, mark):
    """The first report at once, the next ones in the period that the client asks for."""
    import grpc
    from xds.service.orca.v3 import orca_pb2
    wanted = orca_pb2.OrcaLoadReportRequest.FromString(request).report_interval
    period = wanted.seconds + wanted.nanos / 1e9
    streams.append((address, period))
    mark("orca_stream", backend=address, period=period)
    due, over = time.monotonic(), threading.Event()
    context.add_callback(over.set)
    while context.is_active():
        if address in ends:
            ends.discard(address)
            context.abort(grpc.StatusCode.UNAVAILABLE, "scripted")
        mark("orca_report", backend=address)
        yield _report(address).SerializeToString()
        due += max(period, out_of_band[address])
        if over.wait(max(0, due - time.monotonic())):
            return


def start(address, mark=lambda event, **what: None):
    import grpc

    class AnyMethod(grpc.GenericRpcHandler):
        def service(self, details):
            path = details.method
            if path == REPORTS and address not in out_of_band:
                return None
            if path == REPORTS:
                return grpc.unary_stream_rpc_method_handler(
                    lambda request, context: _report_stream(address, request, context, mark))
            return grpc.unary_unary_rpc_method_handler(lambda request, context: _answer(address, path, context))

    server = grpc.server(concurrent.futures.ThreadPoolExecutor(32), options=[("grpc.so_reuseport", 0)])
    server.add_generic_rpc_handlers((AnyMethod(),))
    server.add_insecure_port(address)
    server.start()
    return server
