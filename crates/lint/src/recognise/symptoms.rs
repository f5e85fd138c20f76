//! Symptoms: what RPCs and logs report when no rule is broken. The cause is a state of the network
//! or of the process, not a fault of a resource.

/// A state that a client reports although the configuration may be correct.
#[derive(Debug)]
pub struct Symptom {
    /// Id in kebab case, such as `connections-failing`.
    pub id: &'static str,
    /// The Markdown page; its first line is a summary.
    pub page: &'static str,
}

impl Symptom {
    /// Returns what the symptom means, in one sentence.
    pub fn summary(&self) -> &'static str {
        self.page.lines().next().unwrap_or_default()
    }
}

macro_rules! symptoms {
    ($($id:literal)+) => {
        /// All symptoms.
        pub static SYMPTOMS: &[Symptom] = &[$(Symptom {
            id: $id,
            page: include_str!(concat!("symptoms/", $id, ".md")),
        }),+];
    };
}

symptoms! {
    "authority-unknown"
    "bootstrap-incomplete"
    "bootstrap-not-found"
    "bootstrap-unreadable"
    "certificate-files-unreadable"
    "certificate-providers-missing"
    "circuit-breaker-drop"
    "cluster-unresolved"
    "connection-drained"
    "connections-failing"
    "control-plane-refused"
    "control-plane-unreachable"
    "deadline-exceeded"
    "dns-failing"
    "endpoint-drop"
    "fault-injected"
    "lookup-failed"
    "no-endpoints"
    "no-failover"
    "no-route-matches"
    "priority-timeout"
    "rbac-denied"
    "resolver-empty"
    "resource-missing"
    "response-rejected"
    "rls-policy-not-registered"
    "server-method-unknown"
    "server-not-serving"
    "server-template-missing"
    "session-lost"
    "tls-handshake-failing"
    "tls-name-mismatch"
}

/// Returns the symptoms whose id or page has every word of `text`.
pub fn search(text: &str) -> Vec<&'static Symptom> {
    let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
    let has_all = |symptom: &&Symptom| {
        let page = format!("{} {}", symptom.id, symptom.page).to_lowercase();
        !words.is_empty() && words.iter().all(|word| page.contains(word))
    };
    SYMPTOMS.iter().filter(has_all).collect()
}

/// Finds the symptom with this id.
pub fn find(id: &str) -> Option<&'static Symptom> {
    SYMPTOMS.iter().find(|symptom| symptom.id == id)
}
