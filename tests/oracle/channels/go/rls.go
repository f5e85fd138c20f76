package main

import _ "google.golang.org/grpc/balancer/rls"
