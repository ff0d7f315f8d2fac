"""Optimizers that step NumPy arrays in place."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from metier import _metier

__all__ = ["OLion", "StepStats"]


@dataclass(frozen=True)
class StepStats:
    """What one step did: the tensors stepped, and those whose gradient was all zero."""

    tensors: int
    zero_gradients: int


class OLion:
    """OLion: steps hidden matrices along the signs of their orthogonalized momentum.

    Embeddings, output heads, norms and biases are told from their names (as in Hugging Face
    checkpoints) and shapes, and are stepped by ``aux``.

    Parameters
    ----------
    params : dictionary of float32 arrays, or None
        What ``step(grads)`` changes. With None every step is given its parameters.
    lr : float
        The learning rate. Set ``optimizer.lr`` between steps to follow a schedule.
    betas : (float, float)
        The share of the momentum in the direction of a step, and the decay of the momentum.
    weight_decay : float
        Decoupled weight decay; ``aux`` applies it to tensors of two dimensions or more.
    ns_steps : int
        Newton–Schulz steps of the quintic orthogonalizer.
    rms : float or None
        The size of an update at a learning rate of one; None gives plain signs.
    orthogonalizer : {"quintic", "polar-express", "svd"}
        How the momentum is orthogonalized.
    every : int
        Orthogonalize in every ``every``-th step and take cheap sign steps between.
    projections : int
        How many times to project on orthogonal and then on sign matrices within a step.
    split_fused : bool
        Orthogonalize the parts of a fused query-key-value or gate-up matrix by themselves.
    state : {"f32", "bf16"}
        How the momentum is kept; bf16 takes half the memory.
    aux : {"adamw", "lion", None}
        The optimizer of what is no hidden matrix. With None every parameter must be a matrix.
    groups : sequence of str
        Parameters assigned otherwise, as regular expressions: ``"attn\\.c_proj=aux"``, or
        ``"mlp=matrix:0.5"`` for half the learning rate. The last that matches decides.
    router_as_matrix : bool
        Give mixture routers to OLion too.

    Examples
    --------
    >>> import numpy as np
    >>> from metier.train import OLion
    >>> params = {"w": np.zeros((2, 2), np.float32)}
    >>> grads = {"w": np.array([[1, 2], [-3, 4]], np.float32)}
    >>> stats = OLion(params, lr=0.01).step(grads)
    >>> np.abs(params["w"])
    array([[0.002, 0.002],
           [0.002, 0.002]], dtype=float32)
    """

    def __init__(
        self,
        params: Mapping[str, np.ndarray] | None = None,
        lr: float = 6e-4,
        betas: tuple[float, float] = (0.95, 0.98),
        weight_decay: float = 0.1,
        ns_steps: int = 5,
        *,
        rms: float | None = 0.2,
        orthogonalizer: str = "quintic",
        every: int = 1,
        projections: int = 1,
        split_fused: bool = False,
        state: str = "f32",
        aux: str | None = "adamw",
        groups: Sequence[str] = (),
        router_as_matrix: bool = False,
    ) -> None:
        if params is not None and not isinstance(params, Mapping):
            raise TypeError(
                f"params is {params!r}, where a dictionary of arrays is wanted; "
                "the learning rate is lr="
            )
        if aux is None and (groups or router_as_matrix):
            raise ValueError("groups and router_as_matrix divide parameters between OLion and aux")
        self.lr = float(lr)
        self._params = params
        self._arguments = {
            "betas": tuple(betas),
            "weight_decay": weight_decay,
            "ns_steps": ns_steps,
            "rms": rms,
            "orthogonalizer": orthogonalizer,
            "every": every,
            "projections": projections,
            "split_fused": split_fused,
            "state": state,
            "aux": aux,
            "groups": tuple(groups),
            "router_as_matrix": router_as_matrix,
        }
        beta1, beta2 = betas
        settings = {
            "beta1": beta1,
            "beta2": beta2,
            "weight_decay": weight_decay,
            "rms": rms,
            "orthogonalizer": json.loads(_metier.orthogonalizer(orthogonalizer, ns_steps)),
            "every": every,
            "projections": projections,
            "split_fused": split_fused,
            "state": state,
        }
        self._stepper = _metier.Stepper(
            "olion",
            settings=json.dumps(settings),
            aux=aux,
            aux_settings=json.dumps({"weight_decay": weight_decay}),
            groups=list(groups),
            router_as_matrix=router_as_matrix,
        )

    def step(self, *params_and_grads: Mapping[str, np.ndarray]) -> StepStats:
        """``step(grads)`` or ``step(params, grads)``: changes every parameter in place by one step.

        Both are dictionaries of float32 arrays that lie in memory row by row, with the same names
        and shapes. Nothing is copied. On an error nothing has changed.
        """
        match params_and_grads:
            case (params, grads):
                pass
            case (grads,) if self._params is not None:
                params = self._params
            case _:
                raise TypeError(
                    "step(grads) follows OLion(params), and step(params, grads) OLion()"
                )
        return StepStats(*self._stepper.step(dict(params), dict(grads), self.lr))

    def state_dict(self) -> dict[str, Any]:
        """A copy of all that the next step depends on."""
        state = self._stepper.state()
        if state is None:
            return {"optimizer": None, "step": 0, "hyper": {}, "tensors": {}}
        name, step, hyper, tensors = state
        return {"optimizer": name, "step": step, "hyper": json.loads(hyper), "tensors": tensors}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Goes on from what ``state_dict`` returned."""
        if state["optimizer"] is None:
            return
        self._stepper.load_state(
            state["optimizer"], state["step"], json.dumps(state["hyper"]), dict(state["tensors"])
        )

    def __getstate__(self) -> dict[str, Any]:
        return {
            "params": self._params,
            "lr": self.lr,
            "arguments": self._arguments,
            "state": self.state_dict(),
        }

    def __setstate__(self, saved: Mapping[str, Any]) -> None:
        self.__init__(saved["params"], saved["lr"], **saved["arguments"])
        self.load_state_dict(saved["state"])

    def __repr__(self) -> str:
        arguments = ", ".join(f"{name}={value!r}" for name, value in self._arguments.items())
        return f"OLion(lr={self.lr!r}, {arguments})"
