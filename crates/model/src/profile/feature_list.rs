//! The macro that lists features.

macro_rules! features {
    (@env $env:literal) => { Some($env) };
    (@env) => { None };
    (=> $( $(#[doc = $doc:literal])+ $name:ident $(= $env:literal)? ;)+) => {
        /// Something that some versions do.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u16)]
        pub enum Feature { $( $(#[doc = $doc])+ $name, )+ }

        impl Feature {
            /// Every feature, in declaration order.
            pub const ALL: &'static [Feature] = &[$(Feature::$name),+];

            /// Returns the environment variable that switches the feature, if there is one.
            pub const fn env(self) -> Option<&'static str> {
                match self { $(Feature::$name => features!(@env $($env)?)),+ }
            }

            /// Returns one sentence that says what the feature is.
            pub const fn summary(self) -> &'static str {
                match self { $(Feature::$name => concat!($($doc),+)),+ }
            }
        }
    };
}
