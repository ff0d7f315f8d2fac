//! Countries by code or by name.

use super::iso;
use super::ring::Shapes;
use super::topojson::{Shape, Topology};
use crate::embedded::{self, Detail};
use crate::names;
use geo_types::MultiPolygon;
use metier_core::{Error, Result};

/// The outline of a country, at 1:50 million, by its ISO 3166 code of two letters, three letters or
/// three digits, or by its English name; case does not count.
///
/// ```
/// let japan = metier_data::geo::country("JP")?;
/// assert_eq!(japan, metier_data::geo::country("392")?);
/// assert_eq!(japan, metier_data::geo::country("japan")?);
/// let error = metier_data::geo::country("Jappan").unwrap_err();
/// assert!(error.help_text().unwrap().starts_with("did you mean `Japan`?"));
/// # Ok::<(), metier_core::Error>(())
/// ```
///
/// # Errors
/// A usage error that names the nearest countries.
pub fn country(wanted: &str) -> Result<MultiPolygon<f64>> {
    let topology = topology()?;
    let members = topology.members("countries");
    let number = iso::number(wanted);
    let is_wanted = |shape: &&Shape| {
        let name = shape.property("name").unwrap_or_default();
        number.is_some_and(|number| shape.id() == number)
            || name.eq_ignore_ascii_case(wanted.trim())
    };
    let mut shapes = Shapes::trusted();
    // A state and its far islands may be listed apart under one code.
    for shape in members.iter().filter(is_wanted) {
        topology.collect(shape, "country", &mut shapes)?;
    }
    shapes.finish().map(|outlines| outlines.polygons).map_err(|_| {
        let all = members.iter().filter_map(|shape| shape.property("name"));
        Error::usage(format!("no country `{wanted}`")).in_field("country").help(names::suggest(
            wanted,
            all,
            "the countries are",
        ))
    })
}

/// The countries that [`country`] knows: ISO code of two letters (empty where there is none) and
/// name, sorted by name.
///
/// # Errors
/// Never, unless the program file itself is damaged.
pub fn countries() -> Result<Vec<(String, String)>> {
    let topology = topology()?;
    let entry = |shape: &Shape| {
        let code = iso::letters(&shape.id()).unwrap_or_default();
        (code.to_owned(), shape.property("name").unwrap_or_default().to_owned())
    };
    let mut all: Vec<_> = topology.members("countries").iter().map(entry).collect();
    all.sort_by(|a, b| a.1.cmp(&b.1));
    Ok(all)
}

fn topology() -> Result<Topology> {
    let text = embedded::countries(Detail::Fine)?;
    Topology::new(super::json(text.as_bytes())?)
}
