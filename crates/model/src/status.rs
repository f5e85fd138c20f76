//! gRPC status codes, and the statuses with which RPCs end.

use std::fmt;
use std::sync::Arc;

words! {
    /// A gRPC status code.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[repr(u8)]
    pub enum Code {
        /// 0.
        #[default]
        Ok = "OK",
        /// 1.
        Cancelled = "CANCELLED",
        /// 2.
        Unknown = "UNKNOWN",
        /// 3.
        InvalidArgument = "INVALID_ARGUMENT",
        /// 4.
        DeadlineExceeded = "DEADLINE_EXCEEDED",
        /// 5.
        NotFound = "NOT_FOUND",
        /// 6.
        AlreadyExists = "ALREADY_EXISTS",
        /// 7.
        PermissionDenied = "PERMISSION_DENIED",
        /// 8.
        ResourceExhausted = "RESOURCE_EXHAUSTED",
        /// 9.
        FailedPrecondition = "FAILED_PRECONDITION",
        /// 10.
        Aborted = "ABORTED",
        /// 11.
        OutOfRange = "OUT_OF_RANGE",
        /// 12.
        Unimplemented = "UNIMPLEMENTED",
        /// 13.
        Internal = "INTERNAL",
        /// 14.
        Unavailable = "UNAVAILABLE",
        /// 15.
        DataLoss = "DATA_LOSS",
        /// 16.
        Unauthenticated = "UNAUTHENTICATED",
    }

    /// Returns the name as gRPC prints it.
    fn name
}

impl Code {
    /// Returns the code with this number; `None` above 16.
    pub fn from_number(number: u32) -> Option<Code> {
        Code::ALL.get(usize::try_from(number).ok()?).copied()
    }

    /// Returns the code with this name, in capitals.
    ///
    /// ```
    /// use xdsctl_model::status::Code;
    /// assert_eq!(Code::from_name("UNAVAILABLE"), Some(Code::Unavailable));
    /// assert_eq!(Code::from_number(14), Some(Code::Unavailable));
    /// ```
    pub fn from_name(name: &str) -> Option<Code> {
        Code::ALL.into_iter().find(|code| code.name() == name)
    }

    /// Says whether a control plane must not end RPCs with this code (A54).
    pub const fn is_reserved_for_applications(self) -> bool {
        matches!(
            self,
            Code::InvalidArgument
                | Code::NotFound
                | Code::AlreadyExists
                | Code::FailedPrecondition
                | Code::Aborted
                | Code::OutOfRange
                | Code::DataLoss
        )
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// How an RPC or a connection ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// The status code, `OK` for success.
    pub code: Code,
    /// The message. It is shared, because many may keep it: every policy above a failed connection,
    /// and every RPC that the connection fails.
    pub message: Arc<str>,
}

impl Status {
    /// Makes a status of a code and a message.
    pub fn new(code: Code, message: impl Into<Arc<str>>) -> Status {
        Status {
            code,
            message: message.into(),
        }
    }

    /// Makes an UNAVAILABLE status with this message.
    pub fn unavailable(message: impl Into<Arc<str>>) -> Status {
        Status::new(Code::Unavailable, message)
    }

    /// Makes an INTERNAL status with this message.
    pub fn internal(message: impl Into<Arc<str>>) -> Status {
        Status::new(Code::Internal, message)
    }

    /// Appends ` (<note>)` to the message, unless the note is empty.
    #[must_use]
    pub fn with_note(self, note: &str) -> Status {
        if note.is_empty() {
            return self;
        }
        Status::new(self.code, format!("{} ({note})", self.message))
    }

    /// Returns the status with which an RPC ends if the control plane asked for this one (A54).
    ///
    /// `source` is `resolver`, `ConfigSelector`, `LB pick` or `LB drop`.
    pub fn from_control_plane(self, source: &str) -> Status {
        if self.code.is_reserved_for_applications() {
            let message = format!("Illegal status code from {source}; original status: {self}");
            Status::new(Code::Internal, message)
        } else {
            self
        }
    }
}

impl fmt::Display for Status {
    /// Writes the client's form: `UNAVAILABLE: message`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

/// Returns the gRPC code for an HTTP status that is an error, as every family maps it
/// (doc/http-grpc-status-mapping.md).
pub const fn of_http_error(status: u32) -> Code {
    match status {
        400 => Code::Internal,
        401 => Code::Unauthenticated,
        403 => Code::PermissionDenied,
        404 => Code::Unimplemented,
        429 | 502 | 503 | 504 => Code::Unavailable,
        _ => Code::Unknown,
    }
}

/// Returns the gRPC code for an HTTP status as grpc-java maps it
/// (`GrpcUtil.httpStatusToGrpcStatus`): unlike the other families it maps 1xx and 431 to INTERNAL.
pub const fn of_http_error_in_java(status: u32) -> Code {
    match status {
        100..200 | 431 => Code::Internal,
        _ => of_http_error(status),
    }
}
