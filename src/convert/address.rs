//! Addresses (`envoy.config.core.v3.Address`) and IP literals as the client parses them.
