//! Compares the library with the recorded answers of the real client.

mod bootstrap;
mod conformance;
mod lines;
mod messages;
mod parsed;
mod responses;
mod scenarios;
mod support;
