//! Pictures of a basis: its eigenvalues, and its functions over the coasts of the earth.

use super::basis::SlepianBasis;
use super::encoder::SlepianEncoder;
use super::region::Region;
use crate::learn::Neighbors;
use crate::sphere::{KM_PER_DEGREE, check_points, dot, lon_lat, unit};
use metier_core::evidence::{Axes, Line, MapPoints, Raster, WorldMap};
use metier_core::{Error, Figure, Plot, Result};
use metier_data::geo::{Detail, borders, coastlines};
use ndarray::Array2;
use rayon::prelude::*;

/// The lambdas in order, with the Shannon number as a step.
pub fn eigenvalue_curve(basis: &SlepianBasis) -> Figure {
    let shannon = basis.shannon();
    let mut lambda = basis.lambda().to_vec();
    lambda.sort_by(|a, b| b.total_cmp(a));
    let rank = (1..=lambda.len()).map(|k| k as f64).collect();
    let lines = vec![
        Line::new("lambda", rank, lambda),
        Line::new(
            format!("Shannon number K = {shannon:.1}"),
            vec![shannon, shannon],
            vec![0.0, 1.0],
        ),
    ];
    let axes = Axes::new("function, most concentrated first", "energy inside the region");
    Figure::new("eigenvalues", "How concentrated the functions are", Plot::Lines { axes, lines })
        .caption(format!(
            "L = {}: {} functions above the threshold. About K of them lie almost wholly inside.",
            basis.bandwidth(),
            basis.len()
        ))
}

/// A window around the region, a quarter wider on each side: west, south, east, north.
pub fn window_of(region: &Region) -> [f64; 4] {
    let outline: Vec<(f64, f64)> = region.outline().into_iter().flatten().collect();
    let south = outline.iter().fold(90.0f64, |low, place| low.min(place.1));
    let north = outline.iter().fold(-90.0f64, |high, place| high.max(place.1));
    // Longitudes as seen from the middle of the region, so that the date line is no border.
    let sum = outline.iter().fold([0.0; 3], |sum, place| {
        let v = unit(place.0, place.1);
        [sum[0] + v[0], sum[1] + v[1], sum[2] + v[2]]
    });
    let (middle, _) = lon_lat(sum);
    let seen = outline.iter().map(|place| (place.0 - middle + 540.0).rem_euclid(360.0) - 180.0);
    let (west, east) =
        seen.fold((0.0f64, 0.0f64), |(low, high), lon| (low.min(lon), high.max(lon)));
    let polar = match region {
        Region::Cap(cap) => cap.lat.abs() + cap.radius_deg > 88.0,
        _ => east - west > 300.0,
    };
    let margin = 0.25 * (north - south).max(1.0);
    let (low, high) = ((south - margin).max(-90.0), (north + margin).min(90.0));
    if polar {
        let reach = |lat: f64, pole: f64| if lat.abs() > 60.0 { pole } else { lat };
        return [middle - 180.0, reach(low, -90.0), middle + 180.0, reach(high, 90.0)];
    }
    let side = 0.25 * (east - west).max(1.0);
    [middle + west - side, low, middle + east + side, high]
}

/// A field over a window, given at the centres of a grid, with coasts, borders and the region.
///
/// # Errors
/// What `field` returns.
pub fn field_map(
    region: &Region,
    window: [f64; 4],
    width: usize,
    field: impl FnOnce(&[f64], &[f64]) -> Result<Vec<f64>>,
) -> Result<WorldMap> {
    let [w, s, e, n] = window;
    let shrink = (0.5 * (s + n)).to_radians().cos().max(0.2);
    let height = ((n - s) / ((e - w) * shrink) * width as f64).round().clamp(2.0, 2000.0) as usize;
    let (mut lon, mut lat) = (Vec::new(), Vec::new());
    for row in 0..height {
        for column in 0..width {
            lon.push(turn(w + (e - w) * (column as f64 + 0.5) / width as f64));
            lat.push(n - (n - s) * (row as f64 + 0.5) / height as f64);
        }
    }
    let values = field(&lon, &lat)?;
    let detail = if (e - w).max(n - s) > 60.0 { Detail::Coarse } else { Detail::Fine };
    let mut outlines = inside(coastlines(detail)?, window);
    outlines.extend(inside(borders(detail)?, window));
    Ok(WorldMap {
        window,
        raster: Some(Raster { height, width, values }),
        outlines,
        region: around(region.outline(), window),
        points: None,
        value_label: String::new(),
        signed: true,
    })
}

/// How far from a place that it was learned from a model of the encoder's features is shown: a quarter
/// of the detail that they resolve, an eighth of their shortest wave. At twice that distance a linear
/// model has already turned.
pub fn map_reach_km(encoder: &SlepianEncoder) -> f64 {
    0.25 * encoder.basis().resolution_km()
}

/// What a model of the encoder's features predicts: inside the region, within [`map_reach_km`] of one
/// of the `places` that it was learned from. Elsewhere the map is blank, for there a model runs away
/// and a scale of colours with it. Predictions outside `range` are cut off.
///
/// ```
/// use metier_geometry::slepian::{Region, SlepianConfig, SlepianEncoder, prediction_map};
/// let region = Region::cap(10.0, 50.0, 8.0);
/// let config = SlepianConfig { region: region.into(), l: 20, ..SlepianConfig::default() };
/// let (lon, lat) = ([8.0, 12.0], [49.0, 51.0]);
/// let encoder = SlepianEncoder::fit(&config, &lon, &lat)?;
/// let predict = |x: &ndarray::Array2<f32>| x.column(0).iter().map(|v| f64::from(*v)).collect();
/// let map = prediction_map(&encoder, (&lon, &lat), [-1.0, 1.0], "first feature", 40, predict)?;
/// assert!(map.raster.unwrap().values.iter().any(|value| value.is_finite()));
/// # Ok::<(), metier_core::Error>(())
/// ```
///
/// # Errors
/// No places, or a place that is none.
pub fn prediction_map(
    encoder: &SlepianEncoder,
    places: (&[f64], &[f64]),
    range: [f64; 2],
    label: &str,
    width: usize,
    predict: impl FnOnce(&Array2<f32>) -> Vec<f64>,
) -> Result<WorldMap> {
    check_points(places.0, places.1)?;
    if places.0.is_empty() {
        return Err(Error::input("there are no places that the model was learned from"));
    }
    let tree = Neighbors::new(places.0, places.1);
    let reach = (map_reach_km(encoder) / KM_PER_DEGREE).to_radians().cos();
    let region = encoder.region();
    let mut map = field_map(region, window_of(region), width, |lon, lat| {
        let inside = region.contains(lon, lat)?;
        let near = |i: usize| {
            let place = unit(lon[i], lat[i]);
            let nearest = tree.nearest(lon[i], lat[i], 1);
            nearest.iter().any(|k| dot(unit(places.0[*k], places.1[*k]), place) >= reach)
        };
        let shown: Vec<usize> =
            (0..lon.len()).into_par_iter().filter(|i| inside[*i] && near(*i)).collect();
        let pick = |values: &[f64]| shown.iter().map(|i| values[*i]).collect::<Vec<f64>>();
        let predicted = predict(&encoder.transform(&pick(lon), &pick(lat))?);
        let mut values = vec![f64::NAN; lon.len()];
        for (i, value) in shown.iter().zip(predicted) {
            values[*i] = value.max(range[0]).min(range[1]);
        }
        Ok(values)
    })?;
    map.signed = false;
    map.value_label = label.to_owned();
    Ok(map)
}

/// One function of the basis over its region.
///
/// # Errors
/// A function that the basis does not have.
pub fn mode_map(
    region: &Region,
    basis: &SlepianBasis,
    mode: usize,
    width: usize,
) -> Result<Figure> {
    let (Some(lambda), Some(name)) =
        (basis.lambda().get(mode), basis.names().into_iter().nth(mode))
    else {
        return Err(Error::usage(format!(
            "function {mode} is asked for, where the basis has 0 to {}",
            basis.len() - 1
        ))
        .in_field("mode"));
    };
    let mut map = field_map(region, window_of(region), width, |lon, lat| {
        Ok(basis.evaluate(lon, lat)?.column(mode).iter().map(|value| f64::from(*value)).collect())
    })?;
    map.value_label = name.clone();
    Ok(Figure::new(format!("mode-{mode}"), format!("Function {mode}: {name}"), Plot::Map(map))
        .caption(format!(
            "{:.2} % of its energy lies inside the outlined region; details of {:.0} km \
             ({:.2} degrees).",
            100.0 * lambda,
            basis.resolution_km(),
            basis.resolution_km() / KM_PER_DEGREE
        )))
}

/// Points over a window with coasts, coloured by value.
///
/// # Errors
/// Never, unless the embedded coasts are damaged.
pub(super) fn points_map(
    region: &Region,
    places: Vec<(f64, f64)>,
    values: Vec<f64>,
    value_label: &str,
) -> Result<WorldMap> {
    let window = window_of(region);
    let mut outlines = inside(coastlines(Detail::Fine)?, window);
    outlines.extend(inside(borders(Detail::Fine)?, window));
    Ok(WorldMap {
        window,
        raster: None,
        outlines,
        region: around(region.outline(), window),
        points: Some(MapPoints { places, values }),
        value_label: value_label.into(),
        signed: false,
    })
}

// Into [-180, 180].
fn turn(lon: f64) -> f64 {
    if lon.abs() <= 180.0 { lon } else { (lon + 180.0).rem_euclid(360.0) - 180.0 }
}

// Of every copy of the lines, a turn apart, the pieces in the window and a little around it.
fn inside(lines: Vec<Vec<(f64, f64)>>, window: [f64; 4]) -> Vec<Vec<(f64, f64)>> {
    // More than the longest step of a line, so that no step that crosses a corner is lost.
    const AROUND: f64 = 5.0;
    let [w, s, e, n] = window;
    let near = |(lon, lat): &(f64, f64)| {
        (w - AROUND..=e + AROUND).contains(lon) && (s - AROUND..=n + AROUND).contains(lat)
    };
    let mut kept = Vec::new();
    for line in lines {
        for by in [-360.0, 0.0, 360.0] {
            let moved: Vec<(f64, f64)> = line.iter().map(|place| (place.0 + by, place.1)).collect();
            let pieces = moved.chunk_by(|a, b| near(a) && near(b));
            kept.extend(pieces.filter(|piece| piece.len() > 1).map(<[_]>::to_vec));
        }
    }
    kept
}

// The outline turned to where the window is.
fn around(lines: Vec<Vec<(f64, f64)>>, window: [f64; 4]) -> Vec<Vec<(f64, f64)>> {
    let middle = 0.5 * (window[0] + window[2]);
    let near = |lon: f64| middle + (lon - middle + 540.0).rem_euclid(360.0) - 180.0;
    lines
        .into_iter()
        .map(|line| {
            let Some(first) = line.first() else { return line };
            let by = near(first.0) - first.0;
            line.iter().map(|place| (place.0 + by, place.1)).collect()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn predictions_are_shown_near_what_they_were_learned_from() {
        use crate::slepian::SlepianConfig;
        let region = Region::cap(10.0, 50.0, 8.0);
        let config = SlepianConfig { region: region.into(), l: 90, ..SlepianConfig::default() };
        // 20015 km / 90 are two degrees, and a quarter of that half a degree.
        let (lon, lat) = ([6.0, 11.0], [50.0, 50.0]);
        let encoder = SlepianEncoder::fit(&config, &lon, &lat).unwrap();
        let predict = |x: &Array2<f32>| vec![7.0; x.nrows()];
        let map = prediction_map(&encoder, (&lon, &lat), [0.0, 5.0], "v", 120, predict).unwrap();
        let raster = map.raster.as_ref().unwrap();
        let at = |lon: f64, lat: f64| {
            let [w, s, e, n] = map.window;
            let column = ((lon - w) / (e - w) * raster.width as f64) as usize;
            let row = ((n - lat) / (n - s) * raster.height as f64) as usize;
            raster.values[row * raster.width + column]
        };
        assert_eq!((at(11.0, 50.0), at(11.0, 50.3), at(6.0, 49.7)), (5.0, 5.0, 5.0));
        assert!(at(11.0, 50.9).is_nan() && at(8.5, 50.0).is_nan());
        let error =
            prediction_map(&encoder, (&[], &[]), [0.0, 5.0], "v", 120, predict).unwrap_err();
        assert!(error.to_string().contains("no places"), "{error}");
    }

    #[test]
    fn lines_are_cut_to_the_window_and_its_surroundings() {
        let line: Vec<(f64, f64)> = (-170..=170).map(|lon| (f64::from(lon), 40.0)).collect();
        let kept = inside(vec![line.clone()], [0.0, 30.0, 10.0, 50.0]);
        assert_eq!(kept.len(), 1);
        assert_eq!((kept[0][0].0, kept[0].last().unwrap().0), (-5.0, 15.0));
        // Across the date line, with the copy a turn further on.
        let kept = inside(vec![line.clone()], [160.0, 30.0, 200.0, 50.0]);
        let ends: Vec<_> = kept.iter().map(|piece| (piece[0].0, piece.last().unwrap().0)).collect();
        assert_eq!(ends, [(155.0, 170.0), (190.0, 205.0)]);
        assert!(inside(vec![line], [0.0, -30.0, 10.0, -20.0]).is_empty());
    }
}
