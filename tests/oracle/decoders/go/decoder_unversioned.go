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
		_, err = UnmarshalListener(resources, nil)
	case strings.HasSuffix(url, ".RouteConfiguration"):
		_, err = UnmarshalRouteConfig(resources, nil)
	case strings.HasSuffix(url, ".Cluster"):
		_, err = UnmarshalCluster(resources, nil)
	default:
		_, err = UnmarshalEndpoints(resources, nil)
	}
	return false, err
}
