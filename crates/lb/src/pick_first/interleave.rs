//! The order in which pick_first tries addresses.

use std::collections::VecDeque;

use crate::endpoint::Address;

/// Takes addresses of each IP family in turn, beginning with the family of the first address (A61).
pub(super) fn interleave(addresses: impl Iterator<Item = Address>) -> Vec<Address> {
    let mut families: Vec<(bool, VecDeque<Address>)> = Vec::new();
    let mut count = 0;
    for address in addresses {
        count += 1;
        let family = address.socket.is_ipv4();
        match families.iter_mut().find(|(known, _)| *known == family) {
            Some((_, members)) => members.push_back(address),
            None => families.push((family, VecDeque::from([address]))),
        }
    }
    let mut order = Vec::with_capacity(count);
    while order.len() < count {
        order.extend(families.iter_mut().filter_map(|(_, members)| members.pop_front()));
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_alternate() {
        let texts = ["[::1]:1", "[::2]:1", "[::3]:1", "4.0.0.1:1", "4.0.0.2:1"];
        let order = interleave(texts.iter().map(|t| Address::new(t.parse().unwrap())));
        let order: Vec<&str> = order.iter().map(|a| &*a.text).collect();
        assert_eq!(order, ["[::1]:1", "4.0.0.1:1", "[::2]:1", "4.0.0.2:1", "[::3]:1"]);
    }
}
