//! The right values of the specification, the laws, and one test per kind of bad input.

mod bad_input;
mod choosing;
mod dictionary;
mod guards;
mod judging;
mod language_model;
mod learning;
mod measures;
mod optima;
mod printing;
mod rules;

use super::{Checklist, Config, DataProposer, Rule, fit};
use metier_data::{Column, Frame};

fn cohort(rows: usize) -> (Frame, Vec<u8>) {
    let at = |i: usize, k: usize| ((i * 7919 + k * 104_729) % 1009) as f64 / 1009.0;
    let age: Vec<f64> = (0..rows).map(|i| (20.0 + 70.0 * at(i, 1)).round()).collect();
    let crea: Vec<f64> = (0..rows).map(|i| (40.0 + 200.0 * at(i, 2) * at(i, 3)).round()).collect();
    let shock: Vec<f64> = (0..rows).map(|i| f64::from(u8::from(at(i, 4) < 0.2))).collect();
    let ward: Vec<Option<&str>> =
        (0..rows).map(|i| Some(["east", "north", "west"][(at(i, 5) * 3.0) as usize])).collect();
    let y = (0..rows)
        .map(|i| {
            let risk = age[i] / 90.0 + crea[i] / 240.0 + 0.5 * shock[i] + 0.9 * at(i, 6);
            u8::from(risk > 1.6)
        })
        .collect();
    let frame = Frame::new(vec![
        Column::number("age", age),
        Column::number("crea", crea),
        Column::number("shock", shock),
        Column::text("ward", ward),
    ])
    .unwrap();
    (frame, y)
}

fn fitted(config: &Config) -> Checklist {
    let (frame, y) = cohort(600);
    fit(&frame, &y, &mut DataProposer::default(), config).unwrap()
}

fn rule(text: &str) -> Rule {
    Rule::parse(text).unwrap()
}
