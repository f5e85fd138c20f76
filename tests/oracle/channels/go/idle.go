//go:build !before_1_56

package main

import (
	"time"

	"google.golang.org/grpc"
)

func idleAfter(ms int64) grpc.DialOption {
	return grpc.WithIdleTimeout(time.Duration(ms) * time.Millisecond)
}
