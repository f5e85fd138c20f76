package main

import (
	"net/url"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// Names of the codes of gRPC by number.
var codes = strings.Fields("OK CANCELLED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS PERMISSION_DENIED " +
	"RESOURCE_EXHAUSTED FAILED_PRECONDITION ABORTED OUT_OF_RANGE UNIMPLEMENTED INTERNAL UNAVAILABLE DATA_LOSS UNAUTHENTICATED")

// What every client of gRPC sends, and then the row's headers. One that is named ":method" or "te" replaces the usual one; an empty
// value of it leaves it out.
func fields(told command, scheme string) []hpack.HeaderField {
	usual := [][2]string{{":method", "POST"}, {":scheme", scheme}, {":path", told.Method}}
	if told.Authority != nil {
		usual = append(usual, [2]string{":authority", *told.Authority})
	}
	usual = append(usual, [2]string{"content-type", "application/grpc"}, [2]string{"te", "trailers"}, [2]string{"user-agent", "caller"})
	given := map[string]string{}
	for _, header := range told.Headers {
		given[header[0]] = header[1]
	}
	var all []hpack.HeaderField
	replaced := map[string]bool{}
	for _, header := range usual {
		value, is := given[header[0]]
		if is {
			replaced[header[0]] = true
			if value == "" {
				continue
			}
			header[1] = value
		}
		all = append(all, hpack.HeaderField{Name: header[0], Value: header[1]})
	}
	for _, header := range told.Headers {
		if !replaced[header[0]] {
			all = append(all, hpack.HeaderField{Name: header[0], Value: header[1]})
		}
	}
	return all
}

// Sends a unary RPC with an empty message.
func (c *connection) begin(told command) *rpc {
	made := &rpc{headers: map[string]string{}, done: make(chan struct{})}
	c.mu.Lock()
	if c.end != nil || !c.goaway.IsZero() {
		c.mu.Unlock()
		return nil
	}
	stream := c.next
	c.next += 2
	c.rpcs[stream] = made
	c.mu.Unlock()
	c.write(func() {
		c.encoded.Reset()
		for _, field := range fields(told, c.scheme) {
			c.encoder.WriteField(field)
		}
		c.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: c.encoded.Bytes(), EndHeaders: true})
		c.framer.WriteData(stream, true, []byte{0, 0, 0, 0, 0})
	})
	return made
}

func (c *connection) finish(waited *rpc, timeout time.Duration) answer {
	if waited == nil {
		return answer{"closed": true}
	}
	select {
	case <-waited.done:
	case <-time.After(timeout):
		return answer{"late": true}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if code, is := waited.headers["grpc-status"]; is {
		number, err := strconv.Atoi(code)
		if err == nil && number >= 0 && number < len(codes) {
			code = codes[number]
		}
		details, err := url.PathUnescape(waited.headers["grpc-message"])
		if err != nil {
			details = waited.headers["grpc-message"]
		}
		return answer{"code": code, "details": details}
	}
	if waited.reset != nil {
		return answer{"reset": waited.reset.String()}
	}
	if status, is := waited.headers[":status"]; is {
		return answer{"http": status}
	}
	return answer{"closed": true}
}

func seconds(from, to time.Time) float64 { return float64(to.Sub(from).Milliseconds()) / 1000 }

// Waits until the server has sent GOAWAY and closed the connection, or the time is over.
func (c *connection) state(timeout time.Duration) answer {
	began := time.Now()
	for wait := began.Add(timeout); time.Now().Before(wait); time.Sleep(10 * time.Millisecond) {
		c.mu.Lock()
		over := c.end != nil
		c.mu.Unlock()
		if over {
			break
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	result := answer{"open": c.end == nil && c.goaway.IsZero()}
	if !c.goaway.IsZero() {
		result["goaway"], result["words"] = max(0, seconds(began, c.goaway)), c.debug
	}
	if c.end != nil {
		result["closed_after"] = max(0, seconds(began, c.ended))
	}
	return result
}
