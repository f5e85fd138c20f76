// Calls servers, one JSON line in and one line out, over HTTP/2 as it is told: the address that it comes from, the certificate that
// it shows, and any header. No library of gRPC is in between, which would leave some headers out.
//
//	caller certificates TABLE DIRECTORY     makes the certificates of a table
//	caller CERTIFICATES                     calls; certificates are named as in the table
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"time"
)

type tlsWanted struct {
	Certificate string   `json:"certificate"`
	Roots       string   `json:"roots"`
	ServerName  string   `json:"server_name"`
	Protocols   []string `json:"protocols"` // ALPN; h2 if absent
}

type command struct {
	Do        string      `json:"do"`
	Name      string      `json:"name"`
	From      string      `json:"from"`
	To        string      `json:"to"`
	TLS       *tlsWanted  `json:"tls"`
	Method    string      `json:"method"`
	Authority *string     `json:"authority"`
	Headers   [][2]string `json:"headers"`
	Timeout   float64     `json:"timeout"`
}

type answer map[string]any

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	if os.Args[1] == "certificates" {
		makeCertificates(os.Args[2], os.Args[3])
		return
	}
	all := map[string]*connection{}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<22)
	for lines.Scan() {
		var told command
		check(json.Unmarshal(lines.Bytes(), &told))
		text, err := json.Marshal(obey(all, told))
		check(err)
		fmt.Println(string(text))
	}
}

func obey(all map[string]*connection, told command) answer {
	timeout := time.Duration(told.Timeout * float64(time.Second))
	if told.Do == "connect" {
		made, result := connect(told, os.Args[1], timeout)
		all[told.Name] = made
		return result
	}
	if told.Do == "forget" {
		for name, each := range all {
			if each != nil {
				each.close()
			}
			delete(all, name)
		}
		return answer{}
	}
	on := all[told.Name]
	if on == nil {
		return answer{"closed": true}
	}
	switch told.Do {
	case "call":
		return on.finish(on.begin(told), timeout)
	case "begin":
		on.held = on.begin(told)
		return answer{}
	case "finish":
		return on.finish(on.held, timeout)
	case "state": // waits until the server says goodbye, and then until it closes the connection
		return on.state(timeout)
	}
	panic(told.Do)
}
