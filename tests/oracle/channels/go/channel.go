// A gRPC client that is told what to do on standard input, one JSON line each, and answers a line each.
//
// First line: {"uri", "options": [[name, value], ...]}; then {"pick": STEP}, {"begin": STEP, "name": N}, {"finish": N}.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	_ "google.golang.org/grpc/xds"
)

type step struct {
	Method       string      `json:"method"`
	Headers      [][2]string `json:"headers"`
	Timeout      float64     `json:"timeout"`
	WaitForReady bool        `json:"wait_for_ready"`
	Count        int         `json:"count"`
}

type message struct {
	URI     string              `json:"uri"`
	Options [][]json.RawMessage `json:"options"`
	Pick    *step               `json:"pick"`
	Begin   *step               `json:"begin"`
	Name    string              `json:"name"`
	Finish  string              `json:"finish"`
}

type result struct {
	Code      string   `json:"code"`
	Details   string   `json:"details,omitempty"`
	Backend   string   `json:"backend,omitempty"`
	SetCookie []string `json:"set_cookie"`
	Seconds   float64  `json:"seconds"`
}

// Bytes in, bytes out: no message is generated for the test's method.
type rawCodec struct{}

func (rawCodec) Marshal(v any) ([]byte, error) { return *v.(*[]byte), nil }
func (rawCodec) Unmarshal(data []byte, v any) error {
	*v.(*[]byte) = append([]byte(nil), data...)
	return nil
}
func (rawCodec) Name() string { return "raw" }

var names = map[codes.Code]string{
	codes.OK: "OK", codes.Canceled: "CANCELLED", codes.Unknown: "UNKNOWN", codes.InvalidArgument: "INVALID_ARGUMENT",
	codes.DeadlineExceeded: "DEADLINE_EXCEEDED", codes.NotFound: "NOT_FOUND", codes.AlreadyExists: "ALREADY_EXISTS",
	codes.PermissionDenied: "PERMISSION_DENIED", codes.ResourceExhausted: "RESOURCE_EXHAUSTED",
	codes.FailedPrecondition: "FAILED_PRECONDITION", codes.Aborted: "ABORTED", codes.OutOfRange: "OUT_OF_RANGE",
	codes.Unimplemented: "UNIMPLEMENTED", codes.Internal: "INTERNAL", codes.Unavailable: "UNAVAILABLE",
	codes.DataLoss: "DATA_LOSS", codes.Unauthenticated: "UNAUTHENTICATED",
}

func call(channel *grpc.ClientConn, s step) result {
	if s.Timeout == 0 {
		s.Timeout = 5
	}
	if s.Method == "" {
		s.Method = "/pkg.Service/Method"
	}
	md := metadata.MD{}
	for _, header := range s.Headers {
		md.Append(header[0], header[1])
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(s.Timeout*float64(time.Second)))
	defer cancel()
	var in, out []byte
	var header, trailer metadata.MD
	began := time.Now()
	err := channel.Invoke(metadata.NewOutgoingContext(ctx, md), s.Method, &in, &out,
		grpc.ForceCodec(rawCodec{}), grpc.Header(&header), grpc.Trailer(&trailer), grpc.WaitForReady(s.WaitForReady))
	answer := result{Code: names[status.Code(err)], Backend: string(out), SetCookie: header.Get("set-cookie"),
		Seconds: float64(time.Since(began).Microseconds()) / 1e6}
	if err != nil {
		answer.Details, answer.Backend = status.Convert(err).Message(), ""
		answer.SetCookie = append(answer.SetCookie, trailer.Get("set-cookie")...)
	}
	if answer.SetCookie == nil {
		answer.SetCookie = []string{}
	}
	return answer
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 64<<20)
	say := func(v any) {
		text, _ := json.Marshal(v)
		fmt.Println(string(text))
	}
	next := func() (m message, ok bool) {
		if !lines.Scan() {
			return m, false
		}
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			panic(err)
		}
		return m, true
	}
	first, ok := next()
	if !ok {
		return
	}
	options := []grpc.DialOption{grpc.WithTransportCredentials(insecure.NewCredentials())}
	for _, option := range first.Options {
		var name string
		json.Unmarshal(option[0], &name)
		switch name {
		case "grpc.default_authority":
			var authority string
			json.Unmarshal(option[1], &authority)
			options = append(options, grpc.WithAuthority(authority))
		case "grpc.service_config":
			var config string
			json.Unmarshal(option[1], &config)
			options = append(options, grpc.WithDefaultServiceConfig(config))
		case "grpc.client_idle_timeout_ms":
			var ms int64
			json.Unmarshal(option[1], &ms)
			options = append(options, idleAfter(ms))
		}
	}
	channel, err := open(first.URI, options...)
	if err != nil {
		say(map[string]string{"error": err.Error()})
		return
	}
	say(map[string]string{"client": "grpc-go " + grpc.Version})
	under_way := map[string][]chan result{}
	for {
		m, ok := next()
		if !ok {
			return
		}
		switch {
		case m.Pick != nil:
			say(call(channel, *m.Pick))
		case m.Begin != nil:
			var calls []chan result
			for n := 0; n < m.Begin.Count || n == 0; n++ {
				done := make(chan result, 1)
				go func() { done <- call(channel, *m.Begin) }()
				calls = append(calls, done)
			}
			under_way[m.Name] = calls
			say(map[string]string{})
		case m.Finish != "":
			results := []result{}
			for _, done := range under_way[m.Finish] {
				results = append(results, <-done)
			}
			delete(under_way, m.Finish)
			say(results)
		default:
			say(map[string]string{"error": "unknown step"})
		}
	}
}
