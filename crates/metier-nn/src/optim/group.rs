//! Which parameter goes to which optimizer.

use super::{MatrixView, Role};
use metier_core::{Error, Result};
use regex::Regex;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::str::FromStr;

/// One of the two optimizers of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// The optimizer of hidden matrices, named by `--optimizer`.
    Matrix,
    /// The optimizer of all else, named by `--aux`.
    Aux,
}

/// The user's own choice for parameters whose name matches a pattern. As text:
/// `PATTERN=matrix|aux[:FACTOR]`, such as `mlp\..*=aux:0.5`.
#[derive(Clone, Debug)]
pub struct Override {
    pattern: Regex,
    side: Side,
    lr_factor: f32,
}

impl Override {
    /// A choice for every name in which `pattern` is found.
    ///
    /// # Errors
    /// A pattern that is no regular expression; a factor that is not above zero.
    pub fn new(pattern: &str, side: Side, lr_factor: f32) -> Result<Self> {
        let pattern = Regex::new(pattern).map_err(|error| {
            Error::usage(format!("`{pattern}` is no regular expression"))
                .in_field("group")
                .caused_by(error)
        })?;
        if !(lr_factor.is_finite() && lr_factor > 0.0) {
            return Err(
                Error::usage(format!("factor {lr_factor} is not above zero")).in_field("group")
            );
        }
        Ok(Self { pattern, side, lr_factor })
    }
}

impl FromStr for Override {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = || {
            Error::usage(format!("`{text}` names no group")).in_field("group").help(
                "PATTERN=matrix or PATTERN=aux, with a learning-rate factor as in PATTERN=aux:0.5",
            )
        };
        let (pattern, choice) = text.rsplit_once('=').ok_or_else(wrong)?;
        let (side, factor) = choice.split_once(':').unwrap_or((choice, "1"));
        let side = match side {
            "matrix" => Side::Matrix,
            "aux" => Side::Aux,
            _ => return Err(wrong()),
        };
        Self::new(pattern, side, factor.parse().map_err(|_| wrong())?)
    }
}

/// How parameters are assigned.
#[derive(Clone, Debug, Default)]
pub struct GroupPolicy {
    /// Give mixture routers to the matrix optimizer too. They are few and tiny, and by default they
    /// stay with the other one.
    pub router_as_matrix: bool,
    /// The user's own choices. The last that matches decides.
    pub overrides: Vec<Override>,
}

/// Parameters that are treated alike.
#[derive(Clone, Debug, PartialEq)]
pub struct ParamGroup {
    /// What they do in the model.
    pub role: Role,
    /// Which optimizer steps them.
    pub side: Side,
    /// Multiplies the learning rate.
    pub lr_factor: f32,
    /// Names and shapes, in the model's order.
    pub params: Vec<(String, Vec<usize>)>,
}

/// All parameters of a model, assigned.
#[derive(Clone, Debug, PartialEq)]
pub struct Groups {
    /// The groups: matrices first, each role once per side and factor.
    pub groups: Vec<ParamGroup>,
}

/// Assigns every parameter by its role, unless the user chose otherwise. A name that appears twice
/// (a head tied to the embeddings) is one parameter and is stepped once.
///
/// # Errors
/// A choice that would hand a vector to the matrix optimizer, or that matches nothing; one name with
/// two shapes.
///
/// ```
/// use metier_nn::optim::{GroupPolicy, Side, group_by_role};
/// let params = [
///     ("transformer.wte.weight".into(), vec![256, 64]),
///     ("transformer.h.0.attn.c_attn.weight".into(), vec![64, 192]),
///     ("transformer.ln_f.weight".into(), vec![64]),
/// ];
/// let groups = group_by_role(&params, &GroupPolicy::default())?;
/// assert_eq!(groups.side("transformer.h.0.attn.c_attn.weight"), Some(Side::Matrix));
/// assert_eq!(groups.side("transformer.wte.weight"), Some(Side::Aux));
/// println!("{}", groups.table("olion", "adamw"));
/// # Ok::<(), metier_core::Error>(())
/// ```
pub fn group_by_role(params: &[(String, Vec<usize>)], policy: &GroupPolicy) -> Result<Groups> {
    let mut seen: HashMap<&str, &[usize]> = HashMap::new();
    let mut used = vec![false; policy.overrides.len()];
    // Factors are ordered by their bits, which for positive numbers is their order.
    let mut groups: BTreeMap<(Side, Role, u32), ParamGroup> = BTreeMap::new();
    for (name, shape) in params {
        match seen.insert(name, shape) {
            Some(first) if first == shape.as_slice() => continue,
            Some(first) => {
                return Err(Error::input(format!(
                    "{name} is listed with shape {first:?} and with shape {shape:?}"
                )));
            }
            None => {}
        }
        let role = Role::of(name, shape);
        let (mut side, mut lr_factor) = match role {
            Role::Matrix => (Side::Matrix, 1.0),
            Role::Router if policy.router_as_matrix => (Side::Matrix, 1.0),
            _ => (Side::Aux, 1.0),
        };
        for (choice, used) in policy.overrides.iter().zip(&mut used) {
            if choice.pattern.is_match(name) {
                (side, lr_factor, *used) = (choice.side, choice.lr_factor, true);
            }
        }
        if side == Side::Matrix {
            MatrixView::of(name, shape)?;
        }
        groups
            .entry((side, role, lr_factor.to_bits()))
            .or_insert_with(|| ParamGroup { role, side, lr_factor, params: Vec::new() })
            .params
            .push((name.clone(), shape.clone()));
    }
    if let Some(unused) = used.iter().position(|used| !used) {
        let pattern = policy.overrides[unused].pattern.as_str();
        return Err(Error::usage(format!("`{pattern}` matches no parameter"))
            .in_field("group")
            .help("the table of groups shows the names"));
    }
    Ok(Groups { groups: groups.into_values().collect() })
}

impl Groups {
    /// The group of the parameter called `name`.
    pub fn group(&self, name: &str) -> Option<&ParamGroup> {
        self.groups.iter().find(|group| group.params.iter().any(|(param, _)| param == name))
    }

    /// Which optimizer steps the parameter called `name`.
    pub fn side(&self, name: &str) -> Option<Side> {
        self.group(name).map(|group| group.side)
    }

    /// The table that a user reads before a run; `matrix` and `aux` name the two optimizers.
    pub fn table(&self, matrix: &str, aux: &str) -> String {
        let mut rows =
            vec![["role", "optimizer", "tensors", "parameters", "first"].map(String::from)];
        for group in &self.groups {
            let mut optimizer = match group.side {
                Side::Matrix => matrix.to_owned(),
                Side::Aux => aux.to_owned(),
            };
            if group.lr_factor != 1.0 {
                let _ = write!(optimizer, " (lr × {})", group.lr_factor);
            }
            let size: usize =
                group.params.iter().map(|(_, shape)| shape.iter().product::<usize>()).sum();
            let first = group.params.first();
            rows.push([
                group.role.to_string(),
                optimizer,
                group.params.len().to_string(),
                size.to_string(),
                first.map(|(name, shape)| format!("{name} {shape:?}")).unwrap_or_default(),
            ]);
        }
        let width = |i: usize| rows.iter().map(|row| row[i].chars().count()).max().unwrap_or(0);
        let [role, optimizer, tensors, size] = [width(0), width(1), width(2), width(3)];
        let mut text = String::new();
        for [a, b, c, d, e] in &rows {
            let line = format!("{a:role$}  {b:optimizer$}  {c:>tensors$}  {d:>size$}  {e}");
            let _ = writeln!(text, "{}", line.trim_end());
        }
        text
    }
}
