//! The one error type of the toolkit: what is wrong, where, and what would be right.

use std::fmt;
use std::path::{Path, PathBuf};

/// Shorthand for a result whose error is [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What kind of failure an [`Error`] reports; it decides the program's exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The request itself is wrong: an unknown name, a parameter out of range.
    Usage,
    /// The data handed in is wrong: a bad row, a shape that does not fit.
    Input,
    /// Something needed could not be had: a file, a data set, a client program.
    Missing,
    /// The operating system refused to read or write.
    Io,
    /// A computation could not be carried out to the accuracy that it promises.
    Numeric,
    /// The user asked to stop.
    Interrupted,
    /// A fault of the toolkit's own.
    Internal,
}

/// Where in the user's input an [`Error`] lies. Rows count from 1, as editors do, header included.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Location {
    /// The file at fault.
    pub file: Option<PathBuf>,
    /// The row (line) in that file, or the index of the item in an array, counted from 1.
    pub row: Option<u64>,
    /// The column, field or parameter at fault.
    pub field: Option<String>,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        if let Some(file) = &self.file {
            write!(f, "{}", file.display())?;
            separator = ": ";
        }
        if let Some(row) = self.row {
            write!(f, "{separator}row {row}")?;
            separator = ", ";
        }
        if let Some(field) = &self.field {
            write!(f, "{separator}{field}")?;
        }
        Ok(())
    }
}

/// A failure with its place and, where one is known, its cure.
///
/// ```
/// use metier_core::Error;
/// let error = Error::input("latitude 122.4 is outside [-90, 90]")
///     .in_file("houses.csv").at_row(17).in_field("lat")
///     .help("are the longitude and latitude columns swapped?");
/// assert_eq!(error.to_string(), "houses.csv: row 17, lat: latitude 122.4 is outside [-90, 90]");
/// assert_eq!(error.exit_code(), 2);
/// ```
#[derive(Debug)]
pub struct Error(Box<Inner>);

#[derive(Debug)]
struct Inner {
    kind: Kind,
    message: String,
    location: Location,
    help: Option<String>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// An error of the given kind; the shorthands below read better at the place of use.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            kind,
            message: message.into(),
            location: Location::default(),
            help: None,
            source: None,
        }))
    }

    /// The request is wrong.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Kind::Usage, message)
    }

    /// The data handed in is wrong.
    pub fn input(message: impl Into<String>) -> Self {
        Self::new(Kind::Input, message)
    }

    /// Something needed could not be had.
    pub fn missing(message: impl Into<String>) -> Self {
        Self::new(Kind::Missing, message)
    }

    /// A computation fell short of the accuracy that it promises.
    pub fn numeric(message: impl Into<String>) -> Self {
        Self::new(Kind::Numeric, message)
    }

    /// The toolkit itself is at fault.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(Kind::Internal, message)
    }

    /// The user asked to stop.
    pub fn interrupted() -> Self {
        Self::new(Kind::Interrupted, "stopped on request")
    }

    /// An operating-system error on a file.
    pub fn io(path: impl AsRef<Path>, source: std::io::Error) -> Self {
        let kind =
            if source.kind() == std::io::ErrorKind::NotFound { Kind::Missing } else { Kind::Io };
        Self::new(kind, source.to_string()).in_file(path).caused_by(source)
    }

    /// Names the file at fault.
    #[must_use]
    pub fn in_file(mut self, path: impl AsRef<Path>) -> Self {
        self.0.location.file = Some(path.as_ref().to_path_buf());
        self
    }

    /// Names the row at fault, counted from 1.
    #[must_use]
    pub fn at_row(mut self, row: u64) -> Self {
        self.0.location.row = Some(row);
        self
    }

    /// Names the column, field or parameter at fault.
    #[must_use]
    pub fn in_field(mut self, field: impl Into<String>) -> Self {
        self.0.location.field = Some(field.into());
        self
    }

    /// Says what would be right, or what to do next.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.0.help = Some(help.into());
        self
    }

    /// Keeps the error that led to this one.
    #[must_use]
    pub fn caused_by(
        mut self,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// The kind of failure.
    pub fn kind(&self) -> Kind {
        self.0.kind
    }

    /// What is wrong, without its place.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Where it is wrong.
    pub fn location(&self) -> &Location {
        &self.0.location
    }

    /// What would be right, where that is known.
    pub fn help_text(&self) -> Option<&str> {
        self.0.help.as_deref()
    }

    /// The exit status of a program that ends on this error: 2 wrong usage or input, 3 something
    /// missing, 130 stopped on request, 1 otherwise.
    pub fn exit_code(&self) -> u8 {
        match self.0.kind {
            Kind::Usage | Kind::Input => 2,
            Kind::Missing => 3,
            Kind::Interrupted => 130,
            Kind::Io | Kind::Numeric | Kind::Internal => 1,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.location != Location::default() {
            write!(f, "{}: ", self.0.location)?;
        }
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}
