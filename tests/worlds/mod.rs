//! Tests of random worlds: `validate` and `pick` never contradict each other about them.

mod chance;
mod consistency;
mod findings;
mod generate;
mod make;
mod mutate;
mod policies;
mod routes;
