//! What each shape yields.
