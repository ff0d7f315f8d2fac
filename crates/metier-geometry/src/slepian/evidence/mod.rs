//! The experiment: house prices in California and prefectures of Japanese places, from the location
//! alone, by each encoder.

mod beyond;
mod california;
mod japan;
mod learners;
mod networks;

use super::baselines::Baseline;
use super::encoder::{SlepianConfig, SlepianEncoder};
use super::region::Region;
use california::{Houses, california};
use japan::japan;
use metier_core::{Card, Finding, Lab, Method, Result};
use metier_data::registry;
use ndarray::Array2;

/// The method, for the list of methods.
pub struct Slepian;

static CARD: Card = Card {
    id: "slepian",
    name: "Slepian location encoder",
    paper: "Rao, Crasto, Ooms, Rolnick, Klemmer & Rußwurm, \"Localized, High-resolution Geographic \
            Representations with Slepian Functions\", ICML 2026, arXiv 2602.00392",
    job: "turn places into features that are fine inside a region",
    command: "metier slepian encode --in houses.csv --region fit --L 120 -o features.csv",
    data: "2,188 places of Japan (embedded); California housing, 20,640 rows (from a path)",
    data_licence: "GeoNames CC BY 4.0; Apache-2.0",
};

impl Method for Slepian {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn evidence(&self, lab: &mut Lab) -> Result<Finding> {
        let mut finding = Finding::default();
        japan(lab, &mut finding)?;
        match registry::file("california-housing", "housing.csv", lab.data("california-housing")) {
            Ok(path) => california(lab, &Houses::read(&path)?, &mut finding)?,
            Err(error) => finding.notes.push(format!(
                "California housing was left out: {error}. Hand the file over with \
                 `--data california-housing=housing.csv`."
            )),
        }
        Ok(finding)
    }
}

/// One arm of a comparison.
#[derive(Clone)]
enum Arm {
    Plain(Baseline),
    /// Slepian functions of this L, beside global harmonics of this many degrees.
    Slepian {
        region: Region,
        l: usize,
        global_l: usize,
    },
}

impl Arm {
    fn name(&self) -> String {
        match self {
            Self::Plain(baseline) => baseline.name(),
            Self::Slepian { l, global_l: 0, .. } => format!("Slepian {l}"),
            Self::Slepian { l, .. } => format!("hybrid {l}"),
        }
    }

    fn encode(&self, lon: &[f64], lat: &[f64], seed: u64) -> Result<Array2<f32>> {
        match self {
            Self::Plain(baseline) => baseline.encode(lon, lat, seed),
            Self::Slepian { region, l, global_l } => {
                let config = SlepianConfig {
                    region: region.clone().into(),
                    l: *l,
                    global_l: *global_l,
                    max_modes: 4000,
                    scale: false,
                    ..SlepianConfig::default()
                };
                SlepianEncoder::fit(&config, lon, lat)?.transform(lon, lat)
            }
        }
    }
}

fn slepian(region: &Region, l: usize, global_l: usize) -> Arm {
    Arm::Slepian { region: region.clone(), l, global_l }
}

fn pick<T: Copy>(values: &[T], rows: &[usize]) -> Vec<T> {
    rows.iter().map(|row| values[*row]).collect()
}
