//! LB policies: config, defaults, validation and picker of each in one file (A52).
