//! `envoy.config.core.v3.Metadata` (A83, A86).
