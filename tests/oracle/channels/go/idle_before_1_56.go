//go:build before_1_56

package main

import "google.golang.org/grpc"

// A channel was never idle.
func idleAfter(int64) grpc.DialOption { return grpc.EmptyDialOption{} }
