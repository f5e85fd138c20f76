"""A server that lets calls go unprocessed, in HTTP/2 frames: GOAWAY, RST_STREAM, or the end of the connection."""
import socket
import threading
import time

hits = []  # (address, grpc-previous-rpc-attempts) of every call that came here


def _connection(sock, address, script):
    import h2.config
    import h2.connection
    import h2.events
    config = h2.config.H2Configuration(client_side=False, header_encoding="utf-8")
    conn = h2.connection.H2Connection(config=config)
    if "max_streams" in script:
        conn.local_settings.max_concurrent_streams = script["max_streams"]
    conn.initiate_connection()
    sock.sendall(conn.data_to_send())

    def answer(stream):
        body = address.encode()
        conn.send_headers(stream, [(":status", "200"), ("content-type", "application/grpc")])
        conn.send_data(stream, b"\0" + len(body).to_bytes(4, "big") + body)
        conn.send_headers(stream, [("grpc-status", "0")], end_stream=True)

    while True:
        try:
            data = sock.recv(65536)
        except OSError:
            return
        if not data:
            return
        closes = False
        for event in conn.receive_data(data):
            if not isinstance(event, h2.events.RequestReceived):
                continue
            wanted = dict(event.headers)
            hits.append((address, wanted.get("grpc-previous-rpc-attempts")))
            import backend
            backend.hits.append(address)
            if script["times"] <= 0:
                if "x-hold" in wanted:
                    sock.sendall(conn.data_to_send())
                    time.sleep(float(wanted["x-hold"]))
                answer(event.stream_id)
                continue
            script["times"] -= 1
            if script["calls"] == "goaway":
                conn.close_connection(last_stream_id=0)
                closes = True
            elif script["calls"] == "refuse":
                conn.reset_stream(event.stream_id, error_code=7)
            elif script["calls"] == "reset":
                conn.reset_stream(event.stream_id, error_code=script.get("code", 2))
            else:
                closes = True
        sock.sendall(conn.data_to_send())
        if closes:
            time.sleep(0.02)
            sock.close()
            return


def start(address, script):
    host, port = address.rsplit(":", 1)
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((host, int(port)))
    listener.listen(64)

    def accept():
        while True:
            try:
                sock, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=_connection, args=(sock, address, script), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    return listener
