//! What a reader chooses to hear: rules by name, suppressions, baselines, the configuration file.

mod select;
