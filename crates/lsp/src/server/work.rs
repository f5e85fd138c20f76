//! The work of the thread that knows files: checking a project, finding the project of a file,
//! running a suite or one of its RPCs.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;

use lsp_server::RequestId;

use crate::project::{Host, OpenTexts, Snapshot};
use xdsctl_document::source::Span;

/// A job for the thread that knows files.
pub(super) enum Job {
    Look {
        project: PathBuf,
        open: OpenTexts,
        stamp: u64,
        with_files: bool,
    },
    Play {
        id: RequestId,
        suite: PathBuf,
        test: Option<String>,
        open: OpenTexts,
    },
    /// Finds out where the first RPC of a target goes.
    Lead {
        id: RequestId,
        suite: PathBuf,
        target: Span,
        open: OpenTexts,
    },
    Begin {
        id: RequestId,
        folders: Vec<PathBuf>,
        arguments: Vec<String>,
    },
    /// Finds the project of a file.
    Place(PathBuf),
}

/// The result of a job.
pub(super) enum Done {
    Looked {
        project: PathBuf,
        snapshot: Arc<Snapshot>,
        versions: BTreeMap<PathBuf, i32>,
        stamp: u64,
    },
    Played {
        id: RequestId,
        told: String,
    },
    Led {
        id: RequestId,
        told: String,
    },
    Begun {
        id: RequestId,
        fault: Option<String>,
    },
    Placed {
        file: PathBuf,
        project: PathBuf,
    },
}

/// Does a job. A panic in a check, a suite or an RPC ends only this job: the editor gets a message,
/// and the next one may succeed.
pub(super) fn do_job(job: Job, host: &mut dyn Host) -> Done {
    match job {
        Job::Look {
            project,
            open,
            stamp,
            with_files,
        } => {
            let look = AssertUnwindSafe(|| {
                if with_files {
                    host.forget_files();
                }
                host.look(&project, &open)
            });
            let snapshot = catch_unwind(look).unwrap_or_else(|_| Snapshot {
                trouble: Some("xdsctl has a fault of its own: this project cannot be looked at".to_owned()),
                ..Snapshot::default()
            });
            Done::Looked {
                project,
                snapshot: Arc::new(snapshot),
                versions: open.into_iter().map(|(file, open)| (file, open.version)).collect(),
                stamp,
            }
        }
        Job::Play { id, suite, test, open } => {
            let play = AssertUnwindSafe(|| host.play(&suite, test.as_deref(), &open));
            let told = catch_unwind(play).unwrap_or_else(|_| "xdsctl has a fault of its own".to_owned());
            Done::Played { id, told }
        }
        Job::Lead {
            id,
            suite,
            target,
            open,
        } => {
            let lead = AssertUnwindSafe(|| host.lead(&suite, target, &open));
            let told = catch_unwind(lead).unwrap_or_else(|_| "xdsctl has a fault of its own".to_owned());
            Done::Led { id, told }
        }
        Job::Begin { id, folders, arguments } => Done::Begun {
            id,
            fault: host.begin(folders, arguments).err(),
        },
        Job::Place(file) => Done::Placed {
            project: host.project_of(&file),
            file,
        },
    }
}
