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
use metier_core::error::Kind;
use metier_core::{Card, Error, Finding, Lab, Method, Result};
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
        // What the user handed over is looked at before minutes go into the rest.
        let houses = houses(lab)?;
        japan(lab, &mut finding)?;
        match houses {
            Ok(houses) => california(lab, &houses, &mut finding)?,
            Err(missing) => finding.notes.push(format!(
                "California housing was left out: {missing}. Hand the file over with \
                 `--data california-housing=housing.csv`."
            )),
        }
        Ok(finding)
    }
}

// The houses, or what is missing where none are here. A path that the user gave is meant, so what is
// wrong with it is an error of its own.
fn houses(lab: &Lab) -> Result<Result<Houses>> {
    let given = lab.data("california-housing");
    match registry::file("california-housing", "housing.csv", given) {
        Ok(path) => Houses::read(&path).map(Ok),
        Err(error) if given.is_none() && error.kind() == Kind::Missing => Ok(Err(error)),
        Err(error) => Err(error),
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

// The number of the arm of this name. A claim about an arm that is not there must not be judged by
// another.
fn position(arms: &[Arm], name: &str) -> Result<usize> {
    arms.iter()
        .position(|arm| arm.name() == name)
        .ok_or_else(|| Error::internal(format!("no encoder of this run is called `{name}`")))
}

fn slepian(region: &Region, l: usize, global_l: usize) -> Arm {
    Arm::Slepian { region: region.clone(), l, global_l }
}

fn pick<T: Copy>(values: &[T], rows: &[usize]) -> Vec<T> {
    rows.iter().map(|row| values[*row]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use metier_core::{Scale, Silent};

    #[test]
    fn a_path_that_the_user_gave_is_meant() {
        let folder = tempfile::tempdir().unwrap();
        let lab = |path: &std::path::Path| {
            Lab::new(Scale::Quick, 0, &Silent).with_data("california-housing", path)
        };
        // Before anything else is run: this test would take seconds otherwise.
        let missing = Slepian.evidence(&mut lab(&folder.path().join("no.csv"))).unwrap_err();
        assert!(missing.to_string().contains("no.csv"), "{missing}");
        let other = folder.path().join("other.csv");
        std::fs::write(&other, "a,b\n1,2\n").unwrap();
        let wrong = Slepian.evidence(&mut lab(&other)).unwrap_err();
        assert!(wrong.to_string().contains("other.csv"), "{wrong}");
    }

    #[test]
    fn an_arm_that_is_not_there_is_no_other_arm() {
        let arms = [Arm::Plain(Baseline::LonLat), slepian(&Region::cap(0.0, 0.0, 5.0), 40, 0)];
        assert_eq!(position(&arms, "Slepian 40").unwrap(), 1);
        let error = position(&arms, "Slepian 41").unwrap_err();
        assert_eq!(error.message(), "no encoder of this run is called `Slepian 41`");
    }
}
