//! The evidence contract: how a method shows that it works, on the reader's own machine.
//!
//! A [`Method`] runs its experiment in a [`Lab`] and returns a [`Finding`]: claims with the samples
//! behind them and the [`Bar`] that each has to clear, fixed before the run; tables; figures; notes.

mod bar;
mod claim;
pub mod draw;
mod figure;
mod lab;
mod method;
mod record;
mod report;
mod run;
mod table;
pub mod text;

pub use bar::{Bar, Need};
pub use claim::{Claim, Samples};
pub use figure::{
    Axes, BarGroup, Figure, HeatMap, Histogram, Line, MapPoints, Plot, Points, Raster, WorldMap,
};
pub use lab::{Lab, Scale};
pub use method::{Card, Finding, Method};
pub use record::Record;
pub use report::Report;
pub use run::{Options, Outcome, exit_code, run, run_one};
pub use table::{Cell, Table};
