//! The closed forms against dense solves, the asymptotic formulas, and the limit.

use super::super::baselines::{legs_kernels, s4d_inv};
use super::super::check::difference_from_dense;
use super::super::{asymptotic_omega, decay_of_one, legs_spectrum, spectrum_figure};
use metier_core::{Bar, Cell, Claim, Finding, Lab, Result, Samples, Table};

pub(super) fn identities(lab: &Lab, finding: &mut Finding) -> Result<()> {
    exactness(lab, finding)?;
    asymptotics(finding)?;
    limit(finding);
    Ok(())
}

fn exactness(lab: &Lab, finding: &mut Finding) -> Result<()> {
    let sizes: &[usize] =
        lab.pick(&[2, 3, 4, 8, 16, 64, 257], &[2, 3, 4, 8, 16, 64, 257, 512, 1024]);
    lab.progress.begin("dense eigenvalues", Some(sizes.len() as u64));
    let mut worst = Vec::new();
    for n in sizes {
        lab.progress.check()?;
        worst.push(difference_from_dense(*n)?);
        lab.progress.advance(1);
    }
    lab.progress.finish();
    finding.claims.push(Claim {
        id: "closed-form-spectrum".into(),
        statement: "The frequencies in closed form are those of the matrix".into(),
        metric: format!("largest relative difference from a dense solve, N = {sizes:?}"),
        ours: worst.into(),
        baseline: Samples::none(),
        bar: Bar::AtMost(1e-11),
        gate: true,
    });
    Ok(())
}

fn asymptotics(finding: &mut Finding) -> Result<()> {
    let sizes = [16, 64, 256, 1024];
    let mut table = Table::new(
        "The largest frequency by formulas: relative error",
        ["N", "exact", "two terms", "S4D-Inv"],
    );
    let mut errors = Vec::new();
    for n in sizes {
        let exact = legs_spectrum(n)?.omega[0];
        let error = asymptotic_omega(n, 0, 2) / exact - 1.0;
        table.row([
            n.into(),
            Cell::number(exact, 6),
            format!("{error:.1e}").into(),
            format!("{:.1e}", s4d_inv(n)[0] / exact - 1.0).into(),
        ]);
        errors.push(error.abs());
    }
    finding.tables.push(table);
    // From 64 on, where the next term of the expansion is all that is left.
    finding.claims.push(Claim {
        id: "asymptotic-order".into(),
        statement: "The formula's relative error falls as the fourth power of N".into(),
        metric: "error at N over error at 4N, N = 64, 256".into(),
        ours: errors[1..].windows(2).map(|pair| pair[0] / pair[1]).collect(),
        baseline: Samples::none(),
        bar: Bar::AtLeast(200.0),
        gate: true,
    });
    finding.figures.push(spectrum_figure(256)?);
    Ok(())
}

fn limit(finding: &mut Finding) {
    let finite = |n: usize, t: f64| {
        let scale = n as f64 + 0.5;
        let mut row = vec![0.0; n + 1];
        legs_kernels(t / (scale * scale), &mut row);
        row[n] / (2.0 * scale).sqrt()
    };
    let times = [1.0, 10.0, 50.0];
    let error = |n: usize, t: f64| (finite(n, t) - decay_of_one(t, 1.0)).abs();
    let mut table = Table::new(
        "Entry n of the LegS kernel against its limit J₀(2√t)",
        ["n", "t = 1", "t = 10", "t = 50"],
    );
    for n in [10, 50, 200, 1000] {
        let cells = times.map(|t| Cell::from(format!("{:.1e}", error(n, t))));
        table.row(std::iter::once(n.into()).chain(cells));
    }
    finding.tables.push(table);
    finding.claims.push(Claim {
        id: "second-order-limit".into(),
        statement: "LegS converges to the limit in second order of 1/n".into(),
        metric: "error at n = 200 over error at n = 1000 (second order: 25), t = 1, 10, 50".into(),
        ours: times.iter().map(|t| error(200, *t) / error(1000, *t)).collect(),
        baseline: Samples::none(),
        bar: Bar::AtLeast(20.0),
        gate: true,
    });
}
