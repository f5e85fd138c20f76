package PACKAGE

import (
	"google.golang.org/protobuf/types/known/anypb"
	"strings"
)

// Recovers says whether the client survives a decoder that panics.
const Recovers = RECOVERS

// DecodeOne puts a resource to the decoder of its type, which asks no bootstrap.
func DecodeOne(url string, packed *anypb.Any, _ []byte) (isSilent bool, err error) {
	resources := []*anypb.Any{packed}
	switch {
	case strings.HasSuffix(url, ".Listener"):
		_, _, err = UnmarshalListener("1", resources, nil)
	case strings.HasSuffix(url, ".RouteConfiguration"):
		_, _, err = UnmarshalRouteConfig("1", resources, nil)
	case strings.HasSuffix(url, ".Cluster"):
		_, _, err = UnmarshalCluster("1", resources, nil)
	default:
		_, _, err = UnmarshalEndpoints("1", resources, nil)
	}
	return false, err
}
