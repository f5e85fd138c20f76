//go:build before_1_58

package main

import (
	"google.golang.org/grpc"
	"google.golang.org/grpc/xds"
)

func make_server(options ...grpc.ServerOption) (*xds.GRPCServer, error) {
	return xds.NewGRPCServer(options...), nil
}
