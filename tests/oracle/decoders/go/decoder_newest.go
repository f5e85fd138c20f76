package xdsclient

import (
	"BOOTSTRAP"
	"google.golang.org/grpc/internal/xds/clients"
	"google.golang.org/grpc/internal/xds/clients/xdsclient"
	"google.golang.org/protobuf/types/known/anypb"
)

// Recovers says whether the client survives a decoder that panics.
const Recovers = RECOVERS

// DecodeOne puts a resource to the decoder of its type.
func DecodeOne(url string, packed *anypb.Any, contents []byte) (isSilent bool, err error) {
	config, err := bootstrap.CONFIG(contents)
	if err != nil {
		panic(err)
	}
	server := xdsclient.ServerConfig{ServerIdentifier: clients.ServerIdentifier{ServerURI: config.XDSServers()[0].ServerURI()}}
	known := supportedResourceTypes(config, map[xdsclient.ServerConfig]*bootstrap.ServerConfig{server: config.XDSServers()[0]})
	options := xdsclient.DecodeOptions{Config: &xdsclient.Config{Servers: []xdsclient.ServerConfig{server}}, ServerConfig: &server}
	result, err := known[url].Decoder.Decode(xdsclient.NewAnyProto(packed), options)
	return result == nil, err
}
