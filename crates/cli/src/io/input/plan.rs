//! Which inputs are read and how they are interpreted, from arguments and the project or from a
//! suite.

use std::path::PathBuf;

use crate::Error;
use crate::args::{AsType, ConnectArgs, InputArgs, WorldMode};
use crate::config::ProjectConfig;
use xdsctl_model::profile::{Fleet, Package};

/// Which inputs are read, and how they are interpreted.
#[derive(Debug, Clone, Default)]
pub struct InputPlan {
    /// Files, directories, revisions and running systems; `-` is standard input.
    pub files: Vec<PathBuf>,
    /// The name for standard input.
    pub stdin_name: Option<String>,
    /// The file of the bootstrap, if an argument names one.
    pub bootstrap: Option<PathBuf>,
    /// The bootstrap of the project, for use if no argument names one.
    pub usual_bootstrap: Option<PathBuf>,
    /// Switches of the clients, by name.
    pub env: Vec<(String, String)>,
    /// The packages that the clients' programs have.
    pub packages: Vec<Package>,
    /// How files are divided into worlds.
    pub world: WorldMode,
    /// The type of bare resources.
    pub as_type: Option<AsType>,
    /// Directories from which files may name files, besides their own.
    pub allow_read: Vec<PathBuf>,
    /// How to connect to running systems.
    #[cfg_attr(not(feature = "net"), expect(dead_code, reason = "nothing connects"))]
    pub connect: ConnectArgs,
}

impl InputPlan {
    /// Gives the clients of a run these packages and switches.
    ///
    /// # Errors
    /// A switch is given that no client has.
    pub fn equip(&self, fleet: &mut Fleet) -> Result<(), Error> {
        self.packages.iter().for_each(|package| fleet.bring(*package));
        set_env(fleet, &self.env)
    }

    /// Makes the plan from the arguments. The project decides where they say nothing.
    ///
    /// # Errors
    /// A switch has no value.
    pub fn of(args: &InputArgs, config: &ProjectConfig) -> Result<InputPlan, Error> {
        let of_project = || Some(config.worlds.as_ref()?.value);
        Ok(InputPlan {
            files: args.files.clone(),
            stdin_name: args.stdin_filename.clone(),
            bootstrap: args.bootstrap.clone(),
            usual_bootstrap: config.bootstrap.as_ref().map(|setting| setting.value.clone()),
            env: switches(&args.env)?,
            packages: args.with.clone(),
            world: args.world().or_else(of_project).unwrap_or_default(),
            as_type: args.as_type,
            allow_read: args.config.allow_read.clone(),
            connect: args.connect.clone(),
        })
    }
}

/// Reads `NAME=VALUE` of each switch.
///
/// # Errors
/// A switch has no `=`.
pub(crate) fn switches(args: &[String]) -> Result<Vec<(String, String)>, Error> {
    let read = |switch: &String| match switch.split_once('=') {
        Some((name, value)) => Ok((name.to_owned(), value.to_owned())),
        None => Err(Error::Usage(format!("--env `{switch}` must be NAME=VALUE"))),
    };
    args.iter().map(read).collect()
}

/// Gives the clients of a run these switches.
///
/// # Errors
/// A switch is given that no client has.
pub(crate) fn set_env(fleet: &mut Fleet, env: &[(String, String)]) -> Result<(), Error> {
    for (name, value) in env {
        fleet
            .set_env(name, value)
            .map_err(|error| Error::Usage(error.to_string()))?;
    }
    Ok(())
}
