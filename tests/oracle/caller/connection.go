package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// One connection to a server.
type connection struct {
	raw     net.Conn
	framer  *http2.Framer
	scheme  string
	writing sync.Mutex
	encoder *hpack.Encoder
	encoded bytes.Buffer
	next    uint32
	held    *rpc

	mu     sync.Mutex
	rpcs   map[uint32]*rpc
	hello  chan struct{} // closed at the server's SETTINGS
	said   bool
	goaway time.Time
	debug  string
	end    error
	ended  time.Time
	over   chan struct{} // closed when the connection is
}

// One RPC, until its stream ends.
type rpc struct {
	headers map[string]string
	reset   *http2.ErrCode
	done    chan struct{}
	once    sync.Once
}

func (r *rpc) finish() { r.once.Do(func() { close(r.done) }) }

func config(want *tlsWanted, certificates string) *tls.Config {
	config := &tls.Config{NextProtos: want.Protocols, ServerName: want.ServerName, InsecureSkipVerify: want.Roots == ""}
	if want.Protocols == nil {
		config.NextProtos = []string{"h2"}
	}
	if want.Roots != "" {
		text, err := os.ReadFile(filepath.Join(certificates, want.Roots+".pem"))
		check(err)
		config.RootCAs = x509.NewCertPool()
		config.RootCAs.AppendCertsFromPEM(text)
	}
	if want.Certificate != "" {
		at := filepath.Join(certificates, want.Certificate)
		pair, err := tls.LoadX509KeyPair(at+".pem", at+".key")
		check(err)
		// Whatever the server asks for: it shall see this one.
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &pair, nil }
	}
	return config
}

// Why there is no connection, in words without addresses.
func why(err error) answer {
	var alert tls.AlertError
	var operation *net.OpError
	var timeout net.Error
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return answer{"refused": true}
	case errors.As(err, &alert):
		return answer{"handshake": "failed", "details": "alert: " + alert.Error()}
	case errors.As(err, &operation) && (operation.Op == "remote error" || operation.Op == "local error"):
		return answer{"handshake": "failed", "details": operation.Op + ": " + operation.Err.Error()}
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return answer{"closed": true}
	case errors.As(err, &timeout) && timeout.Timeout():
		return answer{"silent": true}
	}
	return answer{"handshake": "failed", "details": err.Error()}
}

func connect(told command, certificates string, timeout time.Duration) (*connection, answer) {
	dialer := net.Dialer{Timeout: timeout}
	if told.From != "" {
		from, err := net.ResolveTCPAddr("tcp", told.From)
		check(err)
		dialer.LocalAddr = from
		dialer.Control = func(_, _ string, raw syscall.RawConn) error { // a port may be used by one row after the other
			return raw.Control(func(fd uintptr) { syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1) })
		}
	}
	raw, err := dialer.Dial("tcp", told.To)
	if err != nil {
		return nil, why(err)
	}
	if tcp, is := raw.(*net.TCPConn); is {
		tcp.SetLinger(0) // leaves no port behind that waits
	}
	scheme := "http"
	raw.SetDeadline(time.Now().Add(timeout))
	if told.TLS != nil {
		scheme = "https"
		secure := tls.Client(raw, config(told.TLS, certificates))
		if err := secure.Handshake(); err != nil {
			raw.Close()
			return nil, why(err)
		}
		raw = secure
	}
	made := &connection{raw: raw, scheme: scheme, next: 1, rpcs: map[uint32]*rpc{}, hello: make(chan struct{}), over: make(chan struct{})}
	made.encoder = hpack.NewEncoder(&made.encoded)
	made.framer = http2.NewFramer(raw, raw)
	made.framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	raw.Write([]byte(http2.ClientPreface))
	made.framer.WriteSettings()
	go made.read()
	select {
	case <-made.hello:
		raw.SetDeadline(time.Time{})
		return made, answer{"connected": true}
	case <-made.over:
		result := why(made.end)
		if result["closed"] != nil && told.TLS != nil { // with TLS 1.3 a client is done before the server has seen its certificate
			result = answer{"handshake": "failed", "details": "closed"}
		}
		return nil, result
	}
}

func (c *connection) read() {
	for {
		frame, err := c.framer.ReadFrame()
		c.mu.Lock()
		if err != nil {
			c.end, c.ended = err, time.Now()
			for _, each := range c.rpcs {
				each.finish()
			}
			c.mu.Unlock()
			close(c.over)
			return
		}
		c.take(frame)
		c.mu.Unlock()
	}
}

func (c *connection) take(frame http2.Frame) {
	on := c.rpcs[frame.Header().StreamID]
	switch frame := frame.(type) {
	case *http2.SettingsFrame:
		if frame.IsAck() {
			return
		}
		c.write(func() { c.framer.WriteSettingsAck() })
		if !c.said {
			c.said = true
			close(c.hello)
		}
	case *http2.PingFrame:
		if !frame.IsAck() {
			c.write(func() { c.framer.WritePing(true, frame.Data) })
		}
	case *http2.GoAwayFrame:
		if c.goaway.IsZero() {
			c.goaway = time.Now()
		}
		c.debug = fmt.Sprintf("%v: %s", frame.ErrCode, frame.DebugData())
	case *http2.MetaHeadersFrame:
		if on == nil {
			return
		}
		for _, field := range frame.Fields {
			on.headers[field.Name] = field.Value
		}
		if frame.StreamEnded() {
			on.finish()
		}
	case *http2.DataFrame:
		if on != nil && frame.StreamEnded() {
			on.finish()
		}
	case *http2.RSTStreamFrame:
		if on != nil {
			on.reset = &frame.ErrCode
			on.finish()
		}
	}
}

func (c *connection) write(what func()) {
	c.writing.Lock()
	defer c.writing.Unlock()
	what()
}

func (c *connection) close() { c.raw.Close() }
