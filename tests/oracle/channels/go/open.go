//go:build !before_1_63

package main

import "google.golang.org/grpc"

func open(uri string, options ...grpc.DialOption) (*grpc.ClientConn, error) {
	return grpc.NewClient(uri, options...)
}
