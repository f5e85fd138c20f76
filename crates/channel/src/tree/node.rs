//! A node of the tree as it is shown: a policy, a locality or an endpoint, with what there is to
//! say about it.
//!
//! Plain data for the report formats; nothing here decides anything.

/// What a node stands for. The formats that draw choose shape and colour by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum NodeKind {
    /// The channel.
    Channel,
    /// A policy that the channel or a cluster needs as a frame: cluster manager, cds, and the
    /// wrappers of a leaf.
    Frame,
    /// A policy that fails over.
    Priority,
    /// A policy that spreads over localities.
    Locality,
    /// A policy that chooses an endpoint.
    Picker,
    /// An endpoint.
    Endpoint,
    /// RPCs that come here fail.
    Failure,
}

impl NodeKind {
    /// All kinds, in the order of the tree.
    pub const ALL: [NodeKind; 7] = [
        NodeKind::Channel,
        NodeKind::Frame,
        NodeKind::Priority,
        NodeKind::Locality,
        NodeKind::Picker,
        NodeKind::Endpoint,
        NodeKind::Failure,
    ];

    /// The words of the legend.
    pub const fn legend(self) -> &'static str {
        match self {
            NodeKind::Channel => "channel",
            NodeKind::Frame => "frame of a channel or cluster",
            NodeKind::Priority => "fails over in order",
            NodeKind::Locality => "spreads over localities by weight",
            NodeKind::Picker => "chooses an endpoint",
            NodeKind::Endpoint => "endpoint",
            NodeKind::Failure => "RPCs fail",
        }
    }
}

/// A node of the tree as it is shown: a policy, a channel, a locality or an endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeNode {
    /// What it stands for.
    pub kind: NodeKind,
    /// How its parent names it: a key, a priority's child name, a locality; empty for none.
    pub edge: String,
    /// Policy name, or address.
    pub name: String,
    /// What there is to say, most important first.
    pub facts: Vec<Fact>,
    /// Not started before something above it needs it.
    pub lazy: bool,
    /// Children in order.
    pub children: Vec<TreeNode>,
}

/// Something about a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// What it is: `weight`.
    pub label: &'static str,
    /// The value of the fact, with its origin: `1 (default)`.
    pub value: String,
    /// Something is lost or wrong.
    pub warns: bool,
}

impl TreeNode {
    /// A node without facts and children.
    pub fn new(kind: NodeKind, name: impl Into<String>) -> TreeNode {
        TreeNode {
            kind,
            edge: String::new(),
            name: name.into(),
            // An endpoint has two, and there are many of them.
            facts: Vec::with_capacity(if matches!(kind, NodeKind::Endpoint) { 2 } else { 0 }),
            lazy: false,
            children: Vec::new(),
        }
    }

    /// Names the way from the parent.
    pub fn under(mut self, edge: impl Into<String>) -> TreeNode {
        self.edge = edge.into();
        self
    }

    /// The same node with one more fact beside it.
    pub fn fact(mut self, label: &'static str, value: impl Into<String>) -> TreeNode {
        self.add(label, value.into(), false);
        self
    }

    /// Adds a fact that the reader should notice.
    pub fn warning(mut self, label: &'static str, value: impl Into<String>) -> TreeNode {
        self.add(label, value.into(), true);
        self
    }

    /// The same node with one more child below it.
    pub fn with(mut self, child: TreeNode) -> TreeNode {
        self.children.push(child);
        self
    }

    fn add(&mut self, label: &'static str, value: String, warns: bool) {
        self.facts.push(Fact { label, value, warns });
    }
}
