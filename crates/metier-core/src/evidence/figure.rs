//! Figures as data; drawing them is another module's work.

use serde::{Serialize, Serializer};

/// A picture with its words.
#[derive(Clone, Debug, Serialize)]
pub struct Figure {
    /// File name of the picture, without its ending: `loss-by-optimizer`.
    pub id: String,
    /// What it shows, in a few words.
    pub title: String,
    /// What the reader should see in it, and under which conditions it was measured.
    pub caption: String,
    /// The content.
    pub plot: Plot,
}

impl Figure {
    /// A figure of `plot`.
    pub fn new(id: impl Into<String>, title: impl Into<String>, plot: Plot) -> Self {
        Self { id: id.into(), title: title.into(), caption: String::new(), plot }
    }

    /// Adds the words below the picture.
    #[must_use]
    pub fn caption(mut self, caption: impl Into<String>) -> Self {
        self.caption = caption.into();
        self
    }
}

/// What a figure holds.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Plot {
    /// Curves, each with an optional band.
    Lines {
        /// The axes.
        axes: Axes,
        /// The curves.
        lines: Vec<Line>,
    },
    /// Points.
    Scatter {
        /// The axes.
        axes: Axes,
        /// The groups of points.
        points: Vec<Points>,
    },
    /// Groups of bars side by side, each bar with an optional error.
    Bars {
        /// The label of the value axis.
        y_label: String,
        /// What the bars inside each group stand for.
        names: Vec<String>,
        /// The groups, left to right.
        groups: Vec<BarGroup>,
    },
    /// Counts over intervals.
    Histogram(Histogram),
    /// A matrix of colours.
    HeatMap(HeatMap),
    /// A field over longitude and latitude, with outlines and points.
    Map(WorldMap),
}

/// Labels and scales of two axes.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Axes {
    /// The label below.
    pub x_label: String,
    /// The label at the left.
    pub y_label: String,
    /// Whether x is on a logarithmic scale.
    pub log_x: bool,
    /// Whether y is on a logarithmic scale.
    pub log_y: bool,
}

impl Axes {
    /// Linear axes.
    pub fn new(x_label: impl Into<String>, y_label: impl Into<String>) -> Self {
        Self { x_label: x_label.into(), y_label: y_label.into(), ..Self::default() }
    }

    /// Makes x logarithmic.
    #[must_use]
    pub fn log_x(mut self) -> Self {
        self.log_x = true;
        self
    }

    /// Makes y logarithmic.
    #[must_use]
    pub fn log_y(mut self) -> Self {
        self.log_y = true;
        self
    }
}

/// A curve through `(x, y)`, with a band from `low` to `high` where those are given.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Line {
    /// The name in the legend.
    pub name: String,
    /// Abscissae.
    pub x: Vec<f64>,
    /// Ordinates, as many.
    pub y: Vec<f64>,
    /// Lower edge of the band, as many or none.
    pub low: Vec<f64>,
    /// Upper edge of the band, as many or none.
    pub high: Vec<f64>,
}

impl Line {
    /// A curve without a band.
    pub fn new(name: impl Into<String>, x: Vec<f64>, y: Vec<f64>) -> Self {
        Self { name: name.into(), x, y, ..Self::default() }
    }

    /// The mean over seeds, with a band from the least to the greatest.
    pub fn over_seeds(name: impl Into<String>, x: Vec<f64>, runs: &[Vec<f64>]) -> Self {
        let at = |i: usize| runs.iter().map(move |run| run[i]);
        let n = x.len();
        Self {
            name: name.into(),
            y: (0..n).map(|i| at(i).sum::<f64>() / runs.len() as f64).collect(),
            low: (0..n).map(|i| at(i).fold(f64::INFINITY, f64::min)).collect(),
            high: (0..n).map(|i| at(i).fold(f64::NEG_INFINITY, f64::max)).collect(),
            x,
        }
    }
}

/// A named group of points.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Points {
    /// The name in the legend.
    pub name: String,
    /// Abscissae.
    pub x: Vec<f64>,
    /// Ordinates, as many.
    pub y: Vec<f64>,
}

/// One group of a bar chart.
#[derive(Clone, Debug, Default, Serialize)]
pub struct BarGroup {
    /// The label below the group.
    pub label: String,
    /// One value per name; NaN leaves the bar out.
    pub values: Vec<f64>,
    /// Half the length of each error line, as many or none.
    pub errors: Vec<f64>,
}

/// Counts over intervals: `counts[i]` lies between `edges[i]` and `edges[i + 1]`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Histogram {
    /// The label below.
    pub x_label: String,
    /// The label at the left.
    pub y_label: String,
    /// The edges of the intervals, one more than counts.
    pub edges: Vec<f64>,
    /// The counts of each named series.
    pub series: Vec<(String, Vec<f64>)>,
}

/// A matrix of colours, row 0 on top.
#[derive(Clone, Debug, Default, Serialize)]
pub struct HeatMap {
    /// The label below.
    pub x_label: String,
    /// The label at the left.
    pub y_label: String,
    /// What the colour stands for.
    pub value_label: String,
    /// The names of the columns; empty for plain indices.
    pub columns: Vec<String>,
    /// The names of the rows; empty for plain indices.
    pub rows: Vec<String>,
    /// The values, row by row.
    pub values: Vec<Vec<f64>>,
    /// Whether colours are centred on zero.
    pub signed: bool,
}

/// A window of the earth with a field, outlines and points, all in degrees.
#[derive(Clone, Debug, Default, Serialize)]
pub struct WorldMap {
    /// West, south, east and north edge of the window.
    pub window: [f64; 4],
    /// The field shown as colours, if any.
    pub raster: Option<Raster>,
    /// Lines such as coasts and borders, each a list of `(longitude, latitude)`.
    pub outlines: Vec<Vec<(f64, f64)>>,
    /// The outline of the region at hand, drawn stronger.
    pub region: Vec<Vec<(f64, f64)>>,
    /// Points, if any.
    pub points: Option<MapPoints>,
    /// What the colours stand for.
    pub value_label: String,
    /// Whether colours are centred on zero.
    pub signed: bool,
}

/// A field on an even grid over the window, row 0 in the north.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Raster {
    /// The number of rows.
    pub height: usize,
    /// The number of columns.
    pub width: usize,
    /// The values, row by row; NaN is left blank. Written down to single precision, which is more
    /// than a colour shows.
    #[serde(serialize_with = "single")]
    pub values: Vec<f64>,
}

fn single<S: Serializer>(values: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(values.iter().map(|value| *value as f32))
}

/// Points on a map, coloured by value where values are given.
#[derive(Clone, Debug, Default, Serialize)]
pub struct MapPoints {
    /// `(longitude, latitude)` of each.
    pub places: Vec<(f64, f64)>,
    /// One value each, or none.
    pub values: Vec<f64>,
}
