package xdsclient

import (
	"BOOTSTRAP"
	"RESOURCE"
	"google.golang.org/protobuf/types/known/anypb"
	"INTERNAL"
)

// Recovers says whether the client survives a decoder that panics.
const Recovers = RECOVERS

// DecodeOne puts a resource to the decoder of its type.
func DecodeOne(url string, packed *anypb.Any, contents []byte) (isSilent bool, err error) {
	config, err := bootstrap.CONFIG(contents)
	if err != nil {
		panic(err)
	}
	known := internal.ResourceTypeMapForTesting[url].(xdsresource.Type)
	result, err := known.Decode(&xdsresource.DecodeOptions{BootstrapConfig: config, SERVER}, packed)
	return result == nil, err
}
