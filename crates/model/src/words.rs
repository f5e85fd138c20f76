//! Enums of which each variant has a word, which stands in reports, in JSON or in a resource.

/// Declares such an enum, with the list `ALL` of its variants and the function that returns the
/// word of one.
macro_rules! words {
    (
        $(#[$of_enum:meta])*
        pub enum $name:ident { $($(#[$of_variant:meta])* $variant:ident = $word:literal,)+ }
        $(#[doc = $doc:literal])+
        fn $function:ident
    ) => {
        $(#[$of_enum])*
        pub enum $name { $($(#[$of_variant])* $variant,)+ }

        impl $name {
            /// All of them, in their order.
            pub const ALL: [$name; [$($word),+].len()] = [$($name::$variant),+];

            $(#[doc = $doc])+
            pub const fn $function(self) -> &'static str {
                match self { $($name::$variant => $word),+ }
            }
        }
    };
}
