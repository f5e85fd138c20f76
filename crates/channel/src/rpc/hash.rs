//! The request hash (A42) that ring_hash looks up: one number from a route's hash policies.
//!
//! Follows C-core `XdsConfigSelector::GetCallConfig` (xds_resolver.cc). The hash is made for every
//! RPC, whatever the LB policy.

use twox_hash::XxHash64;

use super::Request;
use xdsctl_model::resource::matcher::HeaderView;
use xdsctl_model::resource::route::{HashPolicy, HashPolicyKind};

/// XXH64 with seed 0, as the request hash and the ring use it.
///
/// ```
/// assert_eq!(xdsctl_channel::rpc::hash::xxh64(b"foo"), 0x33bf_00a8_59c4_ba3f);
/// ```
pub fn xxh64(bytes: &[u8]) -> u64 {
    XxHash64::oneshot(0, bytes)
}

/// The hash that a route's policies make of an RPC; `None` if no policy has a value.
///
/// `channel_id` is the random number of the channel.
pub fn of_policies(policies: &[HashPolicy], request: &Request<'_>, channel_id: u64) -> Option<u64> {
    let has_view = |wanted: HeaderView| {
        let of_view =
            move |policy: &HashPolicy| matches!(&policy.kind, HashPolicyKind::Header { view, .. } if *view == wanted);
        policies.iter().any(of_view)
    };
    let (is_signed, is_wide) = (has_view(HeaderView::OfApplication), has_view(HeaderView::OfMetadata));
    let mut is_beyond = false;
    let mut hash: Option<u64> = None;
    for policy in policies {
        let new = of_policy(policy, request, channel_id);
        if let Some(new) = new {
            // A hash beyond 64 bits stays beyond all entries of a ring.
            is_beyond |= is_wide && hash.is_some_and(|old| old >> 63 == 1);
            // The hash is rotated, so that two equal values do not cancel each other.
            hash = Some(hash.map_or(0, |old| turn(old, is_signed)) ^ new);
        }
        let needs_own = matches!(
            policy.kind,
            HashPolicyKind::Header {
                view: HeaderView::AsSent,
                ..
            }
        );
        if policy.terminal && if needs_own { new.is_some() } else { hash.is_some() } {
            break;
        }
    }
    // After the last entry of a ring comes the first.
    hash.map(|hash| if is_beyond { 0 } else { hash })
}

/// Rotates a hash by one bit. In a client where it is signed, the shift to the right fills it up
/// with the sign bit (grpc-java `XdsNameResolver.ConfigSelector.generateHash`).
const fn turn(hash: u64, is_signed: bool) -> u64 {
    match is_signed {
        true => (hash << 1) | (hash.cast_signed() >> 63).cast_unsigned(),
        false => hash.rotate_left(1),
    }
}

/// The hash of one policy; `None` if its header has no value.
pub fn of_policy(policy: &HashPolicy, request: &Request<'_>, channel_id: u64) -> Option<u64> {
    match &policy.kind {
        HashPolicyKind::ChannelId => Some(channel_id),
        HashPolicyKind::Header { name, rewrite, view } => {
            // No client hashes binary headers.
            let is_text = !name.ends_with("-bin");
            let value = is_text.then(|| request.seen(name, *view)).flatten()?;
            Some(match rewrite {
                None => xxh64(value.as_bytes()),
                Some((regex, substitution)) => xxh64(&regex.replace_all(&value, substitution)),
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(name: &str, terminal: bool) -> HashPolicy {
        HashPolicy {
            kind: HashPolicyKind::Header {
                name: name.into(),
                rewrite: None,
                view: HeaderView::Completed,
            },
            terminal,
        }
    }

    #[test]
    fn xxh64_has_the_published_values() {
        for (text, hash) in [
            ("", 0xef46_db37_51d8_e999),
            ("10.0.0.1:80_0", 0x7504_1381_e737_1a08),
            ("10.0.0.1:80_1", 0x1834_1d92_7ea1_0691),
            ("10.0.0.1:8080_0", 0x23a2_9ae7_75df_d4a3),
            ("[2001:db8::1]:443_0", 0xcadd_e4ca_8f69_16ae),
            ("foo", 0x33bf_00a8_59c4_ba3f),
            ("bar", 0x48a3_7c90_ad27_a659),
            ("user-42", 0x397e_9d3a_76af_7c81),
        ] {
            assert_eq!(xxh64(text.as_bytes()), hash, "{text}");
        }
    }

    #[test]
    fn policies_are_turned_into_each_other() {
        let headers = [("a", "foo"), ("b", "bar")].map(|(k, v)| (k.to_owned(), v.to_owned()));
        let request = Request {
            path: "/",
            headers: &headers,
            timeout: None,
        };
        let hash = |policies: &[HashPolicy]| of_policies(policies, &request, 7);
        assert_eq!(
            hash(&[header("a", false), header("b", false)]),
            Some(0x2fdd_7dc0_1eae_d227)
        );
        assert_eq!(
            hash(&[header("a", false), header("a", false)]),
            Some(0x54c1_01f8_ea4d_ce41)
        );
        // A terminal policy without a value stops only if an earlier one had one.
        assert_eq!(
            hash(&[header("x", true), header("b", false)]),
            Some(0x48a3_7c90_ad27_a659)
        );
        assert_eq!(
            hash(&[header("a", false), header("x", true), header("b", false)]),
            Some(0x33bf_00a8_59c4_ba3f)
        );
        assert_eq!(hash(&[header("x", false)]), None);
    }
}
