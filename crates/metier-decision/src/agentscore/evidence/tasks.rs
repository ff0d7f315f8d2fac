//! The tables: who is in, what is predicted, what is left out.

use crate::agentscore::checks::at_horizon;
use metier_core::{Lab, Result, Scale};
use metier_data::{Frame, Values, embedded, registry, survset};

/// A table with a label per row.
pub struct Task {
    pub name: String,
    pub frame: Frame,
    pub y: Vec<u8>,
}

impl Task {
    fn new(
        name: &str,
        table: &Frame,
        event: &str,
        time: &str,
        horizon: f64,
        drop: &[&str],
    ) -> Result<Self> {
        let (rows, y) = at_horizon(table, event, time, horizon)?;
        let gone = |column: &str| column == event || column == time || drop.contains(&column);
        let names: Vec<&str> = table
            .columns()
            .iter()
            .filter(|column| !gone(&column.name) && few_levels(&column.values))
            .map(|column| column.name.as_str())
            .collect();
        Ok(Self { name: name.into(), frame: table.select(&names)?.take(&rows), y })
    }
}

// Categories with more than 12 levels are dropped.
fn few_levels(values: &Values) -> bool {
    match values {
        Values::Number(_) => true,
        Values::Text(texts) => {
            let levels: std::collections::BTreeSet<&String> = texts.iter().flatten().collect();
            levels.len() <= 12
        }
    }
}

/// The tasks of a scale.
pub fn tasks(lab: &Lab) -> Result<Vec<Task>> {
    match lab.scale {
        Scale::Quick => quick(),
        Scale::Full => full(lab),
    }
}

fn quick() -> Result<Vec<Task>> {
    let gbsg2 = embedded::gbsg2()?;
    let actg = embedded::actg175()?;
    // What became known after the start of treatment would be no prediction.
    const LATER: [&str; 7] = ["pidnum", "offtrt", "cd420", "cd496", "r", "cd820", "zprior"];
    Ok(vec![
        Task::new("GBSG2, 3 years", &gbsg2, "cens", "time", 3.0 * 365.25, &[])?,
        Task::new("ACTG 175, 3 years", &actg, "cens", "days", 1095.0, &LATER)?,
    ])
}

// Name, table, horizon in the table's own unit, columns left out.
const FULL: [(&str, &str, f64, &[&str]); 10] = [
    ("whas500, 1 year", "whas500", 365.0, &["los", "week", "year"]),
    ("grace, 180 days", "grace", 179.0, &["los"]),
    ("TRACE, 5 years", "TRACE", 5.0, &[]),
    ("rott2, 5 years", "rott2", 60.0, &[]),
    ("vlbw", "vlbw", f64::INFINITY, &["cld"]),
    ("flchain, 10 years", "flchain", 3650.0, &["chapter", "sample_yr"]),
    ("smarto, 5 years", "smarto", 1825.0, &[]),
    ("prostate, 3 years", "prostate", 36.0, &["sdate", "rx"]),
    ("rhc, 180 days", "rhc", 180.0, &["surv2md1", "aps1", "dnr1", "swang1"]),
    (
        "support2, 180 days",
        "support2",
        180.0,
        &["surv2m", "surv6m", "sps", "num_co", "sfdm2", "dnr", "hday", "adlp"],
    ),
];

fn full(lab: &Lab) -> Result<Vec<Task>> {
    let folder = registry::path("survset", lab.data("survset"))?;
    FULL.iter()
        .map(|(name, table, horizon, drop)| {
            let frame = survset::table_in(&folder, table)?;
            prepared(name, &frame, *horizon, drop)
        })
        .collect()
}

/// A survset table as a task: `pid` goes, numbers written as categories become categories again.
fn prepared(name: &str, frame: &Frame, horizon: f64, drop: &[&str]) -> Result<Task> {
    // `num_co` is a count under `num_num.co`; only its copy among the categories is dropped.
    let dropped = |column: &str| {
        let plain = column.trim_start_matches("num_").trim_start_matches("fac_");
        let same = |wanted: &&&str| {
            let wanted = wanted.replace('_', "");
            plain.chars().filter(|c| c.is_alphanumeric()).collect::<String>() == wanted
        };
        let is_copy = plain.replace(['.', '_'], "") == "numco";
        if is_copy { column.starts_with("fac_") } else { drop.iter().any(|d| same(&d)) }
    };
    let columns = frame
        .columns()
        .iter()
        .filter(|column| column.name != "pid" && !dropped(&column.name))
        .map(|column| {
            if column.name.starts_with("fac_") && matches!(column.values, Values::Number(_)) {
                metier_data::Column::text(column.name.clone(), column.labels())
            } else {
                column.clone()
            }
        })
        .collect();
    let frame = Frame::new(columns)?;
    // Without a horizon the event itself is the label.
    if horizon.is_infinite() {
        let y = crate::agentscore::checks::labels(&frame, "event")?;
        let names: Vec<&str> = frame
            .columns()
            .iter()
            .filter(|column| {
                !["event", "time", "time2"].contains(&column.name.as_str())
                    && few_levels(&column.values)
            })
            .map(|column| column.name.as_str())
            .collect();
        return Ok(Task { name: name.into(), frame: frame.select(&names)?, y });
    }
    Task::new(name, &frame, "event", "time", horizon, &["time2"])
}
