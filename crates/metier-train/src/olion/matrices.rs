//! What all matrix optimizers share: the checks before a step, and one task per matrix.

use super::momentum::{Momenta, Momentum, StateType};
use super::newton_schulz::Scratch;
use super::orthogonalizer::Pool;
use metier_core::Result;
use metier_nn::optim::{
    GradRef, MatrixView, ParamMut, StateDict, StepStats, check_gradients, check_learning_rate, sign,
};
use rayon::prelude::*;
use serde::Serialize;

/// The momentum, the step count and the working space of a matrix optimizer.
#[derive(Debug)]
pub(super) struct Matrices {
    pub(super) step: u64,
    momenta: Momenta,
    pool: Pool<Workspace>,
}

/// What one task works in.
#[derive(Debug, Default)]
pub(super) struct Workspace {
    pub(super) scratch: Scratch,
    pub(super) mix: Vec<f32>,
    pub(super) out: Vec<f32>,
}

/// One matrix of a parameter, with all that belongs to it.
pub(super) struct Matrix<'a> {
    pub(super) name: &'a str,
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) x: &'a mut [f32],
    pub(super) g: &'a [f32],
    pub(super) momentum: Momentum<'a>,
    /// A second buffer, for optimizers that keep one; empty otherwise.
    pub(super) second: &'a mut [f32],
}

impl Matrices {
    pub(super) fn new(state_type: StateType) -> Self {
        Self { step: 0, momenta: Momenta::new(state_type), pool: Pool::default() }
    }

    /// Checks all that a step needs. Returns how each parameter is seen as matrices, and how many
    /// gradients hold zeros only.
    pub(super) fn check(
        &self,
        params: &[ParamMut<'_>],
        grads: &[GradRef<'_>],
        lr: f32,
    ) -> Result<(Vec<MatrixView>, usize)> {
        check_learning_rate(lr)?;
        let views = params
            .iter()
            .map(|param| MatrixView::of(param.name, param.shape))
            .collect::<Result<_>>()?;
        let found = check_gradients(params, grads, self.step + 1)?;
        self.momenta.check(params)?;
        Ok((views, found.zeros))
    }

    /// Checks everything and then calls `rule` once for every matrix, on all threads. Matrices of a
    /// stack are matrices of their own. `second` holds one buffer per parameter, or nothing.
    pub(super) fn step(
        &mut self,
        params: &mut [ParamMut<'_>],
        grads: &[GradRef<'_>],
        lr: f32,
        second: Option<Vec<&mut [f32]>>,
        rule: impl Fn(&mut Matrix<'_>, &mut Workspace) -> Result<()> + Sync,
    ) -> Result<StepStats> {
        let (views, zero_gradients) = self.check(params, grads, lr)?;
        let momenta = self.momenta.of(params)?;
        self.step += 1;

        let mut second = second.map(Vec::into_iter);
        let mut tasks = Vec::new();
        for (((param, grad), view), momentum) in
            params.iter_mut().zip(grads).zip(&views).zip(momenta)
        {
            let second = second.as_mut().and_then(Iterator::next).unwrap_or_default();
            push_matrices(&mut tasks, param, grad, *view, momentum, second);
        }
        // The dearest first, so that no thread starts on one when the others are done.
        tasks.sort_by_key(|task| std::cmp::Reverse(task.x.len()));
        let run = |task: &mut Matrix<'_>| {
            self.pool.with(|space: &mut Workspace| {
                let len = task.x.len();
                space.mix.resize(len, 0.0);
                space.out.resize(len, 0.0);
                rule(task, space)
            })
        };
        // Tiny tasks cost less than handing them out.
        if tasks.iter().map(|task| task.x.len()).sum::<usize>() < 1 << 14 {
            tasks.iter_mut().try_for_each(run)?;
        } else {
            tasks.par_iter_mut().with_max_len(1).try_for_each(run)?;
        }
        Ok(StepStats { tensors: params.len(), zero_gradients })
    }

    /// The state of the optimizer called `name`.
    pub(super) fn state(&self, name: &str, config: &impl Serialize) -> StateDict {
        let mut state = StateDict::new(name, self.step, config);
        self.momenta.save(&mut state);
        state
    }

    /// Goes on from what [`state`](Self::state) returned.
    pub(super) fn load(&mut self, state: &StateDict) {
        self.step = state.step;
        self.momenta.load(state);
    }
}

fn push_matrices<'a>(
    tasks: &mut Vec<Matrix<'a>>,
    param: &'a mut ParamMut<'_>,
    grad: &GradRef<'a>,
    view: MatrixView,
    momentum: Momentum<'a>,
    second: &'a mut [f32],
) {
    let MatrixView { count, rows, columns } = view;
    let size = rows * columns;
    if size == 0 {
        return;
    }
    let (mut x, mut momentum, mut second) = (&mut *param.data, momentum, second);
    for g in grad.data.chunks_exact(size).take(count) {
        let (x_head, x_tail) = x.split_at_mut(size);
        let (momentum_head, momentum_tail) = momentum.split_at(size);
        let (second_head, second_tail) = second.split_at_mut(size.min(second.len()));
        tasks.push(Matrix {
            name: param.name,
            rows,
            columns,
            x: x_head,
            g,
            momentum: momentum_head,
            second: second_head,
        });
        (x, momentum, second) = (x_tail, momentum_tail, second_tail);
    }
}

impl Matrix<'_> {
    /// `x ← keep·x - rate·u`, value by value.
    pub(super) fn apply(&mut self, keep: f32, rate: f32, u: &[f32]) {
        for (x, u) in self.x.iter_mut().zip(u) {
            *x = keep * *x - rate * u;
        }
    }

    /// `x ← keep·x - rate·sign(u)` with the rate that gives the signs a root mean square of `rms`;
    /// zeros in `u` stay where they are. Without `rms` the rate is `lr` itself.
    pub(super) fn apply_signs(&mut self, keep: f32, lr: f32, rms: Option<f32>, u: &[f32]) {
        let rate = match rms {
            None => lr,
            Some(rms) => {
                let moving = u.iter().filter(|u| **u != 0.0).count();
                lr * sign_scale(rms, u.len(), moving)
            }
        };
        for (x, u) in self.x.iter_mut().zip(u) {
            *x = keep * *x - rate * sign(*u);
        }
    }
}

/// `rms·√(d1·d2) / (‖S‖_F + 1e-8)` for signs of which `moving` are not zero.
fn sign_scale(rms: f32, size: usize, moving: usize) -> f32 {
    (f64::from(rms) * (size as f64).sqrt() / ((moving as f64).sqrt() + 1e-8)) as f32
}
