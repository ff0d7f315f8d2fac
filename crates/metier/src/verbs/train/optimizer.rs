//! From flags to optimizers.

use super::settings::Settings;
use metier_core::{Error, Result};
use metier_nn::optim::GroupPolicy;
use metier_train::olion::{OptimKind, Orthogonalizer, StateType};

/// The optimizer of matrices and the one of everything else.
///
/// # Errors
/// A name that is not known; a flag that the optimizer does not have; a value out of range.
pub fn kinds(settings: &Settings) -> Result<(OptimKind, OptimKind)> {
    let mut matrix = OptimKind::named(&settings.optimizer)?;
    set_decays(&mut matrix, settings)?;
    set_orthogonalizer(&mut matrix, settings)?;
    set_size(&mut matrix, settings)?;
    set_olion(&mut matrix, settings)?;
    let mut aux = match &settings.aux {
        Some(name) => OptimKind::named(name).map_err(|error| error.in_field("aux"))?,
        None if matrix.matrices_only() => OptimKind::named("adamw")?,
        None => matrix,
    };
    if let Some(decay) = settings.weight_decay {
        (matrix, aux) = (matrix.with_weight_decay(decay), aux.with_weight_decay(decay));
    }
    // Building checks the values; the optimizer itself is built once the model is known.
    matrix.build()?;
    aux.build()?;
    Ok((matrix, aux))
}

/// Who steps what.
///
/// # Errors
/// A choice that cannot be read.
pub fn policy(settings: &Settings) -> Result<GroupPolicy> {
    let overrides = settings.group.iter().map(|choice| choice.parse()).collect::<Result<_>>()?;
    Ok(GroupPolicy { router_as_matrix: settings.router_as_matrix, overrides })
}

fn set_decays(kind: &mut OptimKind, settings: &Settings) -> Result<()> {
    let (betas, momentum) = match kind {
        OptimKind::AdamW(c) => (Some((&mut c.beta1, &mut c.beta2)), None),
        OptimKind::Lion(c) => (Some((&mut c.beta1, &mut c.beta2)), None),
        OptimKind::LionRms(c) => (Some((&mut c.beta1, &mut c.beta2)), None),
        OptimKind::Olion(c) => (Some((&mut c.beta1, &mut c.beta2)), None),
        OptimKind::Muon(c) => (None, Some(&mut c.momentum)),
        OptimKind::AdaMuon(c) => (None, Some(&mut c.momentum)),
        OptimKind::Signum(c) => (None, Some(&mut c.momentum)),
    };
    let (beta1, beta2) = betas.unzip();
    for (flag, value, place) in [
        ("--beta1", settings.beta1, beta1),
        ("--beta2", settings.beta2, beta2),
        ("--momentum", settings.momentum, momentum),
    ] {
        match (value, place) {
            (Some(value), Some(place)) => *place = value,
            (Some(_), None) => return Err(not_for(flag, settings)),
            (None, _) => {}
        }
    }
    Ok(())
}

fn set_orthogonalizer(kind: &mut OptimKind, settings: &Settings) -> Result<()> {
    let place = match kind {
        OptimKind::Olion(config) => &mut config.orthogonalizer,
        OptimKind::Muon(config) => &mut config.orthogonalizer,
        OptimKind::AdaMuon(config) => &mut config.orthogonalizer,
        // Sign steps without orthogonalization are what `--ns-steps 0` asks for.
        OptimKind::LionRms(_)
            if settings.ns_steps == Some(0) && settings.orthogonalizer.is_none() =>
        {
            return Ok(());
        }
        _ if settings.ns_steps.is_some() => return Err(not_for("--ns-steps", settings)),
        _ if settings.orthogonalizer.is_some() => {
            return Err(not_for("--orthogonalizer", settings));
        }
        _ => return Ok(()),
    };
    *place = match (settings.orthogonalizer.as_deref(), settings.ns_steps) {
        (None, None) => *place,
        (None | Some("quintic"), steps) => Orthogonalizer::Quintic { steps: steps.unwrap_or(5) },
        (Some("polar-express"), None) => Orthogonalizer::PolarExpress,
        (Some("svd"), None) => Orthogonalizer::Svd,
        (Some(name @ ("polar-express" | "svd")), Some(_)) => {
            return Err(Error::usage(format!("{name} has no number of steps"))
                .in_field("--ns-steps")
                .help("only the quintic iteration has one"));
        }
        (Some(name), _) => {
            return Err(Error::usage(format!("there is no orthogonalizer `{name}`"))
                .in_field("--orthogonalizer")
                .help("quintic, polar-express or svd"));
        }
    };
    Ok(())
}

/// What OLion alone has.
fn set_olion(kind: &mut OptimKind, settings: &Settings) -> Result<()> {
    if let OptimKind::Olion(config) = kind {
        config.every = settings.orth_every.unwrap_or(config.every);
        config.projections = settings.projections.unwrap_or(config.projections);
        config.split_fused |= settings.split_fused;
        config.state = match settings.state.as_deref() {
            None | Some("f32") => StateType::F32,
            Some("bf16") => StateType::Bf16,
            Some(name) => {
                return Err(Error::usage(format!("`{name}` is no type of state"))
                    .in_field("--state")
                    .help("f32 or bf16"));
            }
        };
        return Ok(());
    }
    for (flag, given) in [
        ("--orth-every", settings.orth_every.is_some()),
        ("--projections", settings.projections.is_some()),
        ("--split-fused", settings.split_fused),
        ("--state", settings.state.is_some()),
    ] {
        if given {
            return Err(not_for(flag, settings));
        }
    }
    Ok(())
}

fn set_size(kind: &mut OptimKind, settings: &Settings) -> Result<()> {
    let Some(size) = settings.rms.as_deref() else { return Ok(()) };
    let place = match kind {
        OptimKind::Olion(config) => &mut config.rms,
        OptimKind::LionRms(config) => &mut config.rms,
        OptimKind::Signum(config) => &mut config.rms,
        _ => return Err(not_for("--rms", settings)),
    };
    *place = match size {
        "none" => None,
        number => Some(number.parse().map_err(|_| {
            Error::usage(format!("`{number}` is no size of an update"))
                .in_field("--rms")
                .help("a size, or none for plain signs")
        })?),
    };
    Ok(())
}

fn not_for(flag: &str, settings: &Settings) -> Error {
    Error::usage(format!("{} has no such setting", settings.optimizer)).in_field(flag)
}
