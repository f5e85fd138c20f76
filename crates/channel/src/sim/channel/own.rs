//! Events of the channel itself, in the two numbers that the runtime keeps of them.

use xdsctl_lb::runtime::Event;

/// Events of the channel's own, as the runtime keeps them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Own {
    /// An attempt to connect comes to its end.
    Connect { subchannel: u32, generation: u32 },
    /// A backend answers.
    Answer { call: u64, serial: u64 },
    /// An RPC's time is over.
    Deadline { call: u64 },
    /// Another attempt, or the first one after a delay.
    Attempt { call: u64, serial: u64 },
    /// A backend reports its load out of band.
    Report { subchannel: u32, serial: u64 },
    /// The configuration is to be made anew: a resource has been waited for long enough, or other clusters are wanted.
    Resolve,
}

impl Own {
    pub const fn event(self) -> Event {
        match self {
            Own::Connect { subchannel, generation } => Event::Owner((subchannel as u64) << 3, generation as u64),
            Own::Answer { call, serial } => Event::Owner(call << 3 | 1, serial),
            Own::Deadline { call } => Event::Owner(call << 3 | 2, 0),
            Own::Attempt { call, serial } => Event::Owner(call << 3 | 3, serial),
            Own::Report { subchannel, serial } => Event::Owner((subchannel as u64) << 3 | 5, serial),
            Own::Resolve => Event::Owner(4, 0),
        }
    }

    pub const fn of(first: u64, second: u64) -> Own {
        let number = first >> 3;
        match first & 7 {
            // Both were 32 bits wide.
            0 => Own::Connect {
                subchannel: number as u32,
                generation: second as u32,
            },
            1 => Own::Answer {
                call: number,
                serial: second,
            },
            2 => Own::Deadline { call: number },
            3 => Own::Attempt {
                call: number,
                serial: second,
            },
            5 => Own::Report {
                subchannel: number as u32,
                serial: second,
            },
            _ => Own::Resolve,
        }
    }
}
