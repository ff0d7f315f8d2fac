use super::*;
use crate::evidence::BarGroup;
use crate::evidence::{Axes, HeatMap, Histogram, Line, MapPoints, Points, Raster, WorldMap};
use proptest::prelude::*;

fn figure(plot: Plot) -> Figure {
    Figure::new("f", "A & B", plot)
}

fn lines(x: Vec<f64>, y: Vec<f64>) -> Figure {
    let lines = vec![Line::new("ours <fast>", x, y)];
    figure(Plot::Lines { axes: Axes::new("step", "loss").log_y(), lines })
}

fn every_kind(values: &[f64]) -> Vec<Plot> {
    let n = values.len();
    let x: Vec<f64> = (0..n).map(|i| i as f64).collect();
    let line = Line {
        name: "a".into(),
        x: x.clone(),
        y: values.to_vec(),
        low: values.to_vec(),
        high: values.to_vec(),
    };
    let points = Points { name: "p".into(), x: x.clone(), y: values.to_vec() };
    let group = BarGroup { label: "g".into(), values: values.to_vec(), errors: vec![f64::NAN; n] };
    let places: Vec<(f64, f64)> = values.iter().map(|v| (*v, -*v)).collect();
    vec![
        Plot::Lines { axes: Axes::new("x", "y").log_x().log_y(), lines: vec![line] },
        Plot::Scatter { axes: Axes::new("x", "y"), points: vec![points] },
        Plot::Bars { y_label: "v".into(), names: vec!["n".into()], groups: vec![group] },
        Plot::Histogram(Histogram {
            edges: (0..=n).map(|i| i as f64).collect(),
            series: vec![("s".into(), values.to_vec())],
            ..Histogram::default()
        }),
        Plot::HeatMap(HeatMap { values: vec![values.to_vec(); 3], ..HeatMap::default() }),
        Plot::Map(WorldMap {
            window: [-180.0, -90.0, 180.0, 90.0],
            raster: Some(Raster { height: 1, width: n, values: values.to_vec() }),
            outlines: vec![places.clone()],
            region: vec![places.clone()],
            points: Some(MapPoints { places, values: values.to_vec() }),
            ..WorldMap::default()
        }),
    ]
}

#[test]
fn a_theme_leaves_no_placeholder_and_nothing_outside_the_file() {
    for plot in every_kind(&[0.5, 1.0, 2.0]) {
        for theme in [Theme::Light, Theme::Dark, Theme::Page] {
            let svg = svg(&figure(plot.clone()), Size::Wide, theme);
            assert!(!svg.contains("\"#0000"), "{svg}");
            assert_eq!(svg.contains("var(--"), theme == Theme::Page);
            let links = svg.matches("http").count();
            assert_eq!(links, svg.matches("http://www.w3.org/2000/svg").count());
        }
    }
}

#[test]
fn drawing_twice_gives_the_same_bytes() {
    for plot in every_kind(&[0.5, 1.0, 2.0]) {
        let draw = || svg(&figure(plot.clone()), Size::Narrow, Theme::Light);
        assert_eq!(draw(), draw());
    }
}

#[test]
fn words_are_escaped() {
    let svg = svg(&lines(vec![1.0, 2.0], vec![3.0, 4.0]), Size::Wide, Theme::Light);
    assert!(svg.contains("<title>A &amp; B</title>"));
    assert!(svg.contains("ours &lt;fast&gt;"));
}

#[test]
fn a_gap_in_the_data_is_a_gap_in_the_curve() {
    let strokes = |y: Vec<f64>| {
        let x = (0..y.len()).map(|i| i as f64).collect();
        let svg = svg(&lines(x, y), Size::Wide, Theme::Light);
        // Grid and axes are thinner than curves.
        svg.matches("stroke-width=\"20\" points=").count()
    };
    let whole = strokes(vec![1.0, 2.0, 3.0, 4.0, 5.0]);
    assert_eq!(strokes(vec![1.0, 2.0, f64::NAN, 4.0, 5.0]), whole + 1);
    // A logarithmic axis has no place for zero.
    assert_eq!(strokes(vec![1.0, 2.0, 0.0, 4.0, 5.0]), whole + 1);
}

#[test]
fn a_field_becomes_one_picture_where_it_has_a_place() {
    let map = every_kind(&[1.0, f64::NAN, 3.0]).pop().unwrap();
    let svg = svg(&figure(map), Size::Wide, Theme::Light);
    assert_eq!(svg.matches("<image href=\"data:image/png;base64,").count(), 1);
}

#[test]
fn colours_run_from_end_to_end() {
    let map = colour::ColourMap::over([2.0, 4.0, f64::NAN].into_iter(), false);
    assert_eq!(map.at(2.0), Some([68, 1, 84]));
    assert_eq!(map.at(4.0), Some([253, 231, 37]));
    assert_eq!(map.at(f64::NAN), None);
    let signed = colour::ColourMap::over([-1.0, 3.0].into_iter(), true);
    assert_eq!(signed.at(0.0), Some([244, 244, 244]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn nothing_that_can_be_measured_breaks_a_picture(
        values in proptest::collection::vec(
            prop_oneof![
                proptest::num::f64::ANY,
                -1e3f64..1e3,
            ],
            0..6,
        )
    ) {
        for plot in every_kind(&values) {
            for size in [Size::Wide, Size::Narrow] {
                let svg = svg(&figure(plot.clone()), size, Theme::Light);
                prop_assert!(svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>"));
                prop_assert!(!svg.contains("NaN") && !svg.contains("inf"));
            }
        }
    }
}
