// Asks the decoders of grpc-go what they make of single resources: no network. It is built inside a copy of the module, whose
// packages are internal. See installs.py.
//
// A line in: {"id", "kind": "lds|rds|cds|eds", "any_b64", "bootstrap"}. A line out: {"id", "verdict", "message"}.
package main

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"

	xdsclient "CLIENT"
	_ "google.golang.org/grpc/xds"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
)

type resource struct {
	ID        string          `json:"id"`
	Kind      string          `json:"kind"`
	Any       string          `json:"any_b64"`
	Bootstrap json.RawMessage `json:"bootstrap"`
}

type answer struct {
	ID      string `json:"id"`
	Verdict string `json:"verdict"`
	Message string `json:"message"`
}

// Types by their kind.
var types = map[string]string{
	"lds": "envoy.config.listener.v3.Listener", "rds": "envoy.config.route.v3.RouteConfiguration",
	"cds": "envoy.config.cluster.v3.Cluster", "eds": "envoy.config.endpoint.v3.ClusterLoadAssignment",
}

func judge(r resource) (said answer) {
	said = answer{ID: r.ID, Verdict: "ACK"}
	defer func() {
		if p := recover(); p != nil {
			said.Verdict, said.Message = "CRASH", fmt.Sprint(p)
			if xdsclient.Recovers {
				said.Verdict = "NACK"
			}
		}
	}()
	bytes, err := base64.StdEncoding.DecodeString(r.Any)
	if err != nil {
		panic(err)
	}
	packed := &anypb.Any{}
	if err := proto.Unmarshal(bytes, packed); err != nil {
		panic(err)
	}
	isSilent, err := xdsclient.DecodeOne("type.googleapis.com/"+types[r.Kind], packed, r.Bootstrap)
	switch {
	case err != nil:
		said.Verdict, said.Message = "NACK", err.Error()
	case isSilent: // neither a resource nor an error: what is made of it next ends the process
		said.Verdict = "CRASH"
	}
	return said
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 64<<20)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for lines.Scan() {
		var one resource
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			panic(err)
		}
		text, _ := json.Marshal(judge(one))
		fmt.Fprintln(out, string(text))
	}
}
