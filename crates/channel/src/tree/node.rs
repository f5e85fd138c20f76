//! A node of the tree as it is shown: a policy, a locality or an endpoint, with facts about it.
//!
//! Plain data for the report formats; nothing here decides anything.

/// What a node stands for. Formats that draw choose shape and colour by it.
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
    /// A failure: RPCs that come here fail.
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
    /// What the node stands for.
    pub kind: NodeKind,
    /// How its parent names it: a key, a priority's child name, a locality; empty for none.
    pub edge: String,
    /// The name of the policy, or the address.
    pub name: String,
    /// The facts about the node, the most important first.
    pub facts: Vec<Fact>,
    /// Whether the node is started only when something above needs it.
    pub lazy: bool,
    /// The children, in order.
    pub children: Vec<TreeNode>,
}

/// A fact about a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// The label of the fact: `weight`.
    pub label: &'static str,
    /// The value of the fact, with its origin: `1 (default)`.
    pub value: String,
    /// Whether something is lost or wrong.
    pub warns: bool,
}

impl TreeNode {
    /// A node without facts and children.
    pub fn new(kind: NodeKind, name: impl Into<String>) -> TreeNode {
        TreeNode {
            kind,
            edge: String::new(),
            name: name.into(),
            // An endpoint has two facts, and there are many endpoints.
            facts: Vec::with_capacity(if matches!(kind, NodeKind::Endpoint) { 2 } else { 0 }),
            lazy: false,
            children: Vec::new(),
        }
    }

    /// Sets how the parent names the node.
    pub fn under(mut self, edge: impl Into<String>) -> TreeNode {
        self.edge = edge.into();
        self
    }

    /// Adds a fact.
    pub fn fact(mut self, label: &'static str, value: impl Into<String>) -> TreeNode {
        self.add(label, value.into(), false);
        self
    }

    /// Adds a fact that the reader should notice.
    pub fn warning(mut self, label: &'static str, value: impl Into<String>) -> TreeNode {
        self.add(label, value.into(), true);
        self
    }

    /// Adds a child.
    pub fn with(mut self, child: TreeNode) -> TreeNode {
        self.children.push(child);
        self
    }

    fn add(&mut self, label: &'static str, value: String, warns: bool) {
        self.facts.push(Fact { label, value, warns });
    }
}
