//! The tree of LB policies of a channel: the configs that the client generates, and nodes to show
//! them.
//!
//! [`service_config`] and [`build`] generate the JSON of the client, byte for byte in content;
//! [`names`] numbers the priorities over updates. Nothing is picked here.

pub mod build;
pub mod flat;
pub mod form;
pub mod java;
pub mod js;
pub mod layers;
pub mod legacy;
pub mod names;
pub mod node;
pub mod policies;
pub mod service_config;
pub mod shares;
pub mod show;
pub mod size;
pub mod tower;
