// xDS servers of a program: one is started or stopped by each line of JSON on standard input. Standard output has, one JSON line each,
// in which mode a server is and why.
//
//	{"listen": "0.0.0.0:7102", "credentials": "xds" or absent, "tag": any number}    an argument is a first such address
//	{"stop": true}                                                                   the last one
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	xdscredentials "google.golang.org/grpc/credentials/xds"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/xds"
)

// Bytes in, bytes out: no message is generated for the test's methods.
type rawCodec struct{}

func (rawCodec) Marshal(v any) ([]byte, error) { return *v.(*[]byte), nil }
func (rawCodec) Unmarshal(data []byte, v any) error {
	*v.(*[]byte) = append([]byte(nil), data...)
	return nil
}
func (rawCodec) Name() string   { return "raw" }
func (rawCodec) String() string { return "raw" }

type command struct {
	Listen      string
	Credentials string
	Tag         int
	Stop        bool
}

func say(v any) {
	text, _ := json.Marshal(v)
	fmt.Println(string(text))
}

// Answers with nothing, after the seconds that the header x-hold asks for.
func answer(_ any, ctx context.Context, decode func(any) error, intercept grpc.UnaryServerInterceptor) (any, error) {
	var message []byte
	if err := decode(&message); err != nil {
		return nil, err
	}
	handle := func(ctx context.Context, in any) (any, error) {
		if values := metadata.ValueFromIncomingContext(ctx, "x-hold"); len(values) > 0 {
			if seconds, err := strconv.ParseFloat(values[0], 64); err == nil {
				time.Sleep(time.Duration(seconds * float64(time.Second)))
			}
		}
		return in, nil
	}
	if intercept == nil {
		return handle(ctx, &message)
	}
	return intercept(ctx, &message, &grpc.UnaryServerInfo{}, handle)
}

func service(name string, methods ...string) *grpc.ServiceDesc {
	made := &grpc.ServiceDesc{ServiceName: name, HandlerType: (*any)(nil)}
	for _, method := range methods {
		made.Methods = append(made.Methods, grpc.MethodDesc{MethodName: method, Handler: answer})
	}
	return made
}

func start(told command) *xds.GRPCServer {
	tag := told.Tag
	mode := xds.ServingModeCallback(func(_ net.Addr, now xds.ServingModeChangeArgs) {
		words := ""
		if now.Err != nil {
			words = now.Err.Error()
		}
		say(map[string]any{"mode": now.Mode.String(), "words": words, "tag": tag})
	})
	options := []grpc.ServerOption{grpc.ForceServerCodec(rawCodec{}), mode}
	if told.Credentials == "xds" {
		credentials, err := xdscredentials.NewServerCredentials(xdscredentials.ServerOptions{FallbackCreds: insecure.NewCredentials()})
		if err != nil {
			panic(err)
		}
		options = append(options, grpc.Creds(credentials))
	}
	server, err := make_server(options...)
	var lis net.Listener
	if err == nil {
		server.RegisterService(service("pkg.Service", "Method", "Other"), nil)
		server.RegisterService(service("admin.Console", "Delete"), nil)
		network := "tcp" // which listens on [::] where it is asked for 0.0.0.0
		if !strings.HasPrefix(told.Listen, "[") {
			network = "tcp4"
		}
		lis, err = net.Listen(network, told.Listen)
	}
	if err != nil {
		say(map[string]any{"mode": "ENDED", "words": err.Error(), "tag": tag})
		return nil
	}
	go func() {
		err := server.Serve(lis)
		say(map[string]any{"mode": "ENDED", "words": fmt.Sprint(err), "tag": tag})
	}()
	return server
}

func main() {
	var last *xds.GRPCServer
	if len(os.Args) > 1 {
		last = start(command{Listen: os.Args[1]})
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var told command
		if err := json.Unmarshal(lines.Bytes(), &told); err != nil {
			panic(err)
		}
		if last != nil {
			last.Stop()
			last = nil
		}
		if told.Stop {
			say(map[string]any{"mode": "STOPPED", "words": "", "tag": told.Tag})
		} else {
			last = start(told)
		}
	}
	if len(os.Args) > 1 {
		select {}
	}
}
