use super::points::parse_points;
use super::*;
use crate::Values;
use geo_types::{LineString, Polygon};

fn outlines_of(json: &str) -> Result<Outlines> {
    parse_outlines(json.as_bytes(), None)
}

fn one(coordinates: &str) -> Result<Outlines> {
    outlines_of(&format!(r#"{{"type":"Polygon","coordinates":{coordinates}}}"#))
}

fn xs(ring: &LineString<f64>) -> Vec<f64> {
    ring.coords().map(|coord| coord.x).collect()
}

// The area on a sphere of the earth's size in km²: rings by Green's theorem, holes taken off.
fn area(polygons: &MultiPolygon<f64>) -> f64 {
    let ring = |ring: &LineString<f64>| {
        let edge = |edge: geo_types::Line<f64>| {
            let (a, b) = (edge.start.y.to_radians(), edge.end.y.to_radians());
            (edge.end.x - edge.start.x).to_radians() * 0.5 * (a.sin() + b.sin())
        };
        ring.lines().map(edge).sum::<f64>().abs()
    };
    let polygon = |polygon: &Polygon<f64>| {
        ring(polygon.exterior()) - polygon.interiors().iter().map(ring).sum::<f64>()
    };
    polygons.iter().map(polygon).sum::<f64>() * 6371.0f64.powi(2)
}

#[test]
fn a_square_with_a_hole_keeps_its_numbers() {
    let read = one("[[[0,0],[4,0],[4,4],[0,4],[0,0]],[[1,1],[1,2],[2,2],[2,1],[1,1]]]").unwrap();
    assert!(read.notes.is_empty());
    let polygon = &read.polygons.0[0];
    assert_eq!(xs(polygon.exterior()), [0.0, 4.0, 4.0, 0.0, 0.0]);
    assert_eq!(xs(&polygon.interiors()[0]), [1.0, 1.0, 2.0, 2.0, 1.0]);
}

#[test]
fn features_collections_and_geometries_all_give_their_polygons() {
    let square = r#"{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,0]]]}"#;
    let pair = r#"{"type":"MultiPolygon","coordinates":[[[[0,0],[1,0],[1,1],[0,0]]],
                   [[[5,0],[6,0],[6,1],[5,0]]]]}"#;
    let point = r#"{"type":"Point","coordinates":[1,2]}"#;
    let features = format!(
        r#"{{"type":"FeatureCollection","features":[
            {{"type":"Feature","properties":null,"geometry":{square}}},
            {{"type":"Feature","properties":null,"geometry":null}},
            {{"type":"Feature","properties":null,"geometry":
                {{"type":"GeometryCollection","geometries":[{point},{pair}]}}}}]}}"#
    );
    assert_eq!(outlines_of(&features).unwrap().polygons.0.len(), 3);
    let error = outlines_of(point).unwrap_err();
    assert_eq!(error.message(), "holds no polygons");
}

#[test]
fn an_open_ring_is_closed_and_noted() {
    let read = one("[[[0,0],[4,0],[4,4],[0,4]]]").unwrap();
    assert_eq!(read.notes, ["coordinates[0] is not closed; its ends are joined"]);
    assert!(read.polygons.0[0].exterior().is_closed());
    assert_eq!(read.polygons.0[0].exterior().0.len(), 5);
}

#[test]
fn a_ring_across_the_date_line_is_continuous() {
    for ring in [
        "[[[170,0],[-170,0],[-170,10],[170,10],[170,0]]]",
        "[[[170,10],[-170,10],[-170,0],[170,0],[170,10]]]",
    ] {
        let read = one(ring).unwrap();
        assert_eq!(xs(read.polygons.0[0].exterior()), [170.0, 190.0, 190.0, 170.0, 170.0]);
    }
    // The hole lies on the other side of the line and follows the outer ring.
    let read = one("[[[170,0],[-170,0],[-170,10],[170,10],[170,0]],
                     [[-178,2],[-176,2],[-176,4],[-178,2]]]");
    assert_eq!(xs(&read.unwrap().polygons.0[0].interiors()[0]), [182.0, 184.0, 184.0, 182.0]);
}

#[test]
fn a_ring_around_a_pole_is_closed_over_it() {
    for (lat, pole) in [(80.0, 90.0), (-75.0, -90.0)] {
        let ring: Vec<String> = (0..=12).map(|i| format!("[{},{lat}]", 30 * i - 180)).collect();
        let read = one(&format!("[[{}]]", ring.join(","))).unwrap();
        let outer = read.polygons.0[0].exterior();
        assert!(outer.is_closed());
        assert_eq!(outer.coords().filter(|coord| coord.y == pole).count(), 2);
        let exact = std::f64::consts::TAU * (1.0 - f64::to_radians(lat).sin().abs());
        assert!((area(&read.polygons) / 6371.0f64.powi(2) - exact).abs() < 1e-12);
    }
}

#[test]
fn a_ring_that_crosses_itself_is_refused_with_its_segments() {
    let bow = r#"{"type":"FeatureCollection","features":[{"type":"Feature","properties":{},
        "geometry":{"type":"Polygon","coordinates":[[[0,0],[2,2],[2,0],[0,2],[0,0]]]}}]}"#;
    assert_eq!(
        outlines_of(bow).unwrap_err().to_string(),
        "features[0].geometry.coordinates[0]: the ring crosses itself: segment 1 (from 0, 0) and \
         segment 3 meet"
    );
    // Rings that touch themselves at a corner are common and harmless.
    assert!(one("[[[0,0],[2,2],[4,0],[4,4],[2,2],[0,4],[0,0]]]").is_ok());
}

#[test]
fn what_is_no_position_is_shown_with_its_place() {
    let error = one("[[[0,0],[37,-122.5],[1,1],[0,0]]]").unwrap_err();
    assert_eq!(error.to_string(), "coordinates[0][1]: latitude -122.5 is outside [-90, 90]");
    assert_eq!(
        error.help_text(),
        Some("are longitude and latitude swapped? the longitude comes first")
    );
    let error = one("[[[0,0],[551000,4180000],[1,1],[0,0]]]").unwrap_err();
    assert_eq!(error.to_string(), "coordinates[0][1]: longitude 551000 is outside [-360, 360]");
    let error = one("[[[0,0],[1,1],[0,0]]]").unwrap_err();
    assert_eq!(error.to_string(), "coordinates[0]: the ring has 2 distinct positions");
    let error = outlines_of("{\n\"type\": Polygon\n").unwrap_err();
    assert!(error.to_string().starts_with("row 2: no valid JSON"), "{error}");
    assert!(outlines_of(r#"{"type":"Hexagon"}"#).unwrap_err().message().starts_with("no valid"));
}

const SQUARES: &str = r#"{"type":"Topology",
    "transform":{"scale":[0.5,0.25],"translate":[10,20]},
    "objects":{
        "pair":{"type":"GeometryCollection","geometries":[
            {"type":"Polygon","arcs":[[0,1]],"id":"a","properties":{"name":"West"}},
            {"type":"MultiPolygon","arcs":[[[-1,2]]],"id":7}]},
        "empty":{"type":"GeometryCollection","geometries":[{"type":null}]}},
    "arcs":[[[2,0],[0,4]],[[2,4],[-2,0],[0,-4],[2,0]],[[2,0],[2,0],[0,4],[-2,0]]]}"#;

#[test]
fn quantised_topologies_join_their_arcs() {
    let read = parse_outlines(SQUARES.as_bytes(), Some("pair")).unwrap();
    let [west, east] = &read.polygons.0[..] else { panic!("two polygons") };
    let west: Vec<_> = west.exterior().coords().map(|coord| (coord.x, coord.y)).collect();
    assert_eq!(west, [(11.0, 20.0), (11.0, 21.0), (10.0, 21.0), (10.0, 20.0), (11.0, 20.0)]);
    let east: Vec<_> = east.exterior().coords().map(|coord| (coord.x, coord.y)).collect();
    assert_eq!(east, [(11.0, 21.0), (11.0, 20.0), (12.0, 20.0), (12.0, 21.0), (11.0, 21.0)]);
    let topology = topojson::Topology::new(json(SQUARES.as_bytes()).unwrap()).unwrap();
    assert_eq!(topology.shared("pair").len(), 1);
    assert_eq!(topology.members("pair")[1].id(), "7");
}

#[test]
fn topologies_say_what_does_not_fit() {
    let error = parse_outlines(SQUARES.as_bytes(), None).unwrap_err();
    assert_eq!(error.message(), "holds several objects: pair, empty");
    let error = parse_outlines(SQUARES.as_bytes(), Some("pairs")).unwrap_err();
    assert_eq!(error.message(), "no object `pairs`");
    assert!(error.help_text().unwrap().starts_with("did you mean `pair`?"));
    let broken = SQUARES.replace("[[0,1]]", "[[0,9]]");
    assert_eq!(
        parse_outlines(broken.as_bytes(), Some("pair")).unwrap_err().to_string(),
        "objects.pair.geometries[0].arcs[0]: there is no arc 9: the file has 3"
    );
}

#[test]
fn a_file_and_the_object_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("squares.json");
    std::fs::write(&path, SQUARES).unwrap();
    let named = folder.path().join("squares.json#pair");
    assert_eq!(read_polygons(&named).unwrap().0.len(), 2);
    let error = read_polygons(&path).unwrap_err();
    assert_eq!(error.location().file.as_deref(), Some(path.as_path()));
    assert_eq!(read_polygons(&folder.path().join("none.json")).unwrap_err().exit_code(), 3);
}

#[test]
fn countries_have_their_known_areas() {
    // Land areas in km²; the outlines are simplified.
    for (code, known) in
        [("JP", 378e3), ("DEU", 357e3), ("076", 8.51e6), ("Russia", 17.1e6), ("fj", 18.3e3)]
    {
        let found = area(&country(code).unwrap());
        assert!((found / known - 1.0).abs() < 0.04, "{code}: {found} instead of {known}");
    }
    // All of it: its outline goes once around the pole.
    let antarctica = area(&country("AQ").unwrap());
    assert!((12e6..14.5e6).contains(&antarctica), "{antarctica}");
}

#[test]
fn countries_across_the_date_line_stay_in_one_piece() {
    let russia = country("RU").unwrap();
    let widest = |ring: &LineString<f64>| {
        ring.lines().map(|edge| (edge.end.x - edge.start.x).abs()).fold(0.0, f64::max)
    };
    assert!(russia.iter().all(|polygon| widest(polygon.exterior()) < 30.0));
    assert!(russia.iter().flat_map(|polygon| xs(polygon.exterior())).any(|lon| lon > 185.0));
}

#[test]
fn every_country_is_found_by_its_code_and_by_its_name() {
    let all = countries().unwrap();
    assert_eq!(all.len(), 241);
    assert!(all.contains(&("JP".to_owned(), "Japan".to_owned())));
    assert_eq!(all.iter().filter(|(code, _)| code.is_empty()).count(), 5);
    assert_eq!(country("uk").unwrap(), country("United Kingdom").unwrap());
    let error = country("Atlantis").unwrap_err();
    assert_eq!(error.to_string(), "country: no country `Atlantis`");
}

#[test]
fn coasts_and_borders_are_lines_within_the_map() {
    for detail in [Detail::Coarse, Detail::Fine] {
        for lines in [coastlines(detail).unwrap(), borders(detail).unwrap()] {
            assert!(lines.len() > 100);
            for pair in lines.iter().flat_map(|line| line.windows(2)) {
                assert!(pair[0].0.abs() <= 180.0 && pair[0].1.abs() <= 90.0);
                assert!((pair[1].0 - pair[0].0).abs() <= 180.0, "{pair:?}");
            }
        }
    }
}

#[test]
fn points_come_with_their_properties() {
    let json = r#"{"type":"FeatureCollection","features":[
        {"type":"Feature","geometry":{"type":"Point","coordinates":[135.8,35.0]},
         "properties":{"name":"Kyoto","people":1.5e6,"lon":"east"}},
        {"type":"Feature","geometry":{"type":"Point","coordinates":[135.8,34.7]},
         "properties":{"name":"Nara","capital":true}}]}"#;
    let frame = parse_points(json.as_bytes()).unwrap();
    let names: Vec<_> = frame.names().collect();
    assert_eq!(names, ["lon", "lat", "name", "people", "properties.lon", "capital"]);
    assert_eq!(frame.numbers("lat").unwrap(), [35.0, 34.7]);
    assert!(frame.numbers("people").unwrap()[1].is_nan());
    assert_eq!(frame.numbers("capital").unwrap()[1], 1.0);
    assert!(matches!(frame.column("name").unwrap().values, Values::Text(_)));
    let error = parse_points(br#"{"type":"LineString","coordinates":[[0,0],[1,1]]}"#).unwrap_err();
    assert_eq!(error.to_string(), "features[0].geometry: a LineString, not a Point");
}
