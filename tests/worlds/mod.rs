//! Worlds that a seed makes: what `validate` says of them and what `pick` does in them never contradict each other.

mod chance;
mod consistency;
mod findings;
mod generate;
mod make;
mod mutate;
mod policies;
mod routes;
