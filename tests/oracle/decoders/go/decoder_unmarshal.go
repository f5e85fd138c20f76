package xdsclient

import (
	"BOOTSTRAP"
	"google.golang.org/protobuf/types/known/anypb"
	"strings"
)

// Recovers says whether the client survives a decoder that panics.
const Recovers = RECOVERS

// DecodeOne puts a resource to the decoder of its type.
func DecodeOne(url string, packed *anypb.Any, contents []byte) (isSilent bool, err error) {
	config, err := bootstrap.CONFIG(contents)
	if err != nil {
		panic(err)
	}
	options := &QUALIFIERUnmarshalOptions{Resources: []*anypb.Any{packed}, UpdateValidator: (&clientImpl{config: config}).updateValidator}
	switch {
	case strings.HasSuffix(url, ".Listener"):
		_, _, err = QUALIFIERUnmarshalListener(options)
	case strings.HasSuffix(url, ".RouteConfiguration"):
		_, _, err = QUALIFIERUnmarshalRouteConfig(options)
	case strings.HasSuffix(url, ".Cluster"):
		_, _, err = QUALIFIERUnmarshalCluster(options)
	default:
		_, _, err = QUALIFIERUnmarshalEndpoints(options)
	}
	return false, err
}
