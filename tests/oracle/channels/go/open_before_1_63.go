//go:build before_1_63

package main

import "google.golang.org/grpc"

// The name is resolved by passthrough unless it has a scheme, and all here have one.
func open(uri string, options ...grpc.DialOption) (*grpc.ClientConn, error) {
	return grpc.Dial(uri, options...)
}
