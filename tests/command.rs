//! Tests of the command, from outside and in process.

mod admit;
mod change;
mod change_clients;
mod change_effects;
mod change_worlds;
mod choice;
mod cli;
mod cli_rpc;
mod cli_tree;
mod clients_form;
mod defects;
mod edge;
#[cfg(unix)]
mod edges;
mod every_client;
mod explain;
mod explain_error;
mod features;
mod fix;
mod fleet;
mod generated;
mod hostile;
mod input;
mod lint;
mod live;
mod needed;
mod not_checked;
mod outputs;
mod own_world;
mod policies;
mod reached;
mod readme;
#[path = "support/run.rs"]
mod run;
mod runtime;
mod same_client;
mod secrets;
#[path = "support/server.rs"]
mod server;
mod servers;
mod several;
mod shapes;
mod suites;
mod support;
mod together;
mod told;
mod unmet;
mod what_if;
mod worlds;
