// An xDS server that says on standard output, one JSON line each, in which mode it is and why.
//
// Its only argument is the address to listen on. It answers every RPC with nothing.
package main

import (
	"encoding/json"
	"fmt"
	"net"
	"os"

	"google.golang.org/grpc"
	"google.golang.org/grpc/xds"
)

// Bytes in, bytes out: no message is generated for the test's method.
type rawCodec struct{}

func (rawCodec) Marshal(v any) ([]byte, error) { return *v.(*[]byte), nil }
func (rawCodec) Unmarshal(data []byte, v any) error {
	*v.(*[]byte) = append([]byte(nil), data...)
	return nil
}
func (rawCodec) Name() string   { return "raw" }
func (rawCodec) String() string { return "raw" }

func say(v any) {
	text, _ := json.Marshal(v)
	fmt.Println(string(text))
}

func answer(_ any, stream grpc.ServerStream) error {
	var message []byte
	if err := stream.RecvMsg(&message); err != nil {
		return err
	}
	return stream.SendMsg(&message)
}

func main() {
	mode := xds.ServingModeCallback(func(_ net.Addr, now xds.ServingModeChangeArgs) {
		words := ""
		if now.Err != nil {
			words = now.Err.Error()
		}
		say(map[string]string{"mode": now.Mode.String(), "words": words})
	})
	server, err := make_server(grpc.UnknownServiceHandler(answer), grpc.ForceServerCodec(rawCodec{}), mode)
	if err == nil {
		var lis net.Listener
		if lis, err = net.Listen("tcp", os.Args[1]); err == nil {
			err = server.Serve(lis)
		}
	}
	say(map[string]string{"mode": "ENDED", "words": fmt.Sprint(err)})
}
