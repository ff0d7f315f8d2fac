"""OLion on NumPy arrays, against the values of its specification."""

import pickle

import numpy as np
import pytest

from metier.train import OLion

Z = np.array([[3, 1, 0.5], [3, 0.9, -0.5], [3, 1.1, 0.6]], np.float32)
X0 = np.array([[0.1, -0.2, 0.3], [0.4, 0.5, -0.6], [0.7, 0.8, 0.9]], np.float32)
AFTER_3 = [
    [0.0977062979, -0.2014025978, 0.2971068977],
    [0.3968071976, 0.4965074975, -0.5962077974],
    [0.6959080973, 0.7996043972, 0.8953086971],
]


def run(optimizer, steps=(Z, np.ascontiguousarray(Z.T), -Z)):
    params = {"w": X0.copy()}
    array = params["w"]
    for grad in steps:
        optimizer.step(params, {"w": grad})
    assert params["w"] is array
    return array


def test_three_steps_by_hand():
    assert np.allclose(run(OLion(lr=0.01), [Z])[0], [0.0979, -0.1978, 0.2977], atol=1e-7)
    assert np.allclose(run(OLion(lr=0.01)), AFTER_3, atol=1e-6)
    assert np.allclose(run(OLion(lr=0.01, aux=None)), AFTER_3, atol=1e-6)


def test_a_state_goes_on_where_it_stopped():
    first = OLion(lr=0.01)
    params = {"w": X0.copy()}
    first.step(params, {"w": Z})
    state = first.state_dict()
    assert state["optimizer"] == "olion+adamw" and state["step"] == 1
    assert state["tensors"]["optim.w.momentum"].shape == (3, 3)
    second = OLion(lr=0.01)
    second.load_state_dict(state)
    third = pickle.loads(pickle.dumps(first))
    for optimizer in (second, third):
        resumed = {"w": params["w"].copy()}
        optimizer.step(resumed, {"w": np.ascontiguousarray(Z.T)})
        optimizer.step(resumed, {"w": -Z})
        assert np.allclose(resumed["w"], AFTER_3, atol=1e-6)
    other = dict(state, optimizer="muon+adamw")
    with pytest.raises(ValueError, match=r"this is the state of muon\+adamw"):
        OLion().load_state_dict(other)


def test_vectors_and_embeddings_go_to_the_other_optimizer():
    params = {
        "transformer.wte.weight": np.ones((4, 2), np.float32),
        "transformer.h.0.attn.c_proj.weight": np.zeros((2, 2), np.float32),
        "transformer.ln_f.weight": np.ones(2, np.float32),
    }
    grads = {name: np.full_like(value, 2.0) for name, value in params.items()}
    grads["transformer.h.0.attn.c_proj.weight"] = np.array([[1, 2], [-3, 4]], np.float32)
    stats = OLion(lr=0.01, weight_decay=0.0).step(params, grads)
    assert stats.tensors == 3 and stats.zero_gradients == 0
    # AdamW's first step has the size of the learning rate, OLion's a fifth of it.
    assert np.allclose(params["transformer.wte.weight"], 0.99, atol=1e-6)
    assert np.allclose(params["transformer.ln_f.weight"], 0.99, atol=1e-6)
    assert np.allclose(np.abs(params["transformer.h.0.attn.c_proj.weight"]), 0.002)
    with pytest.raises(ValueError, match=r"transformer.ln_f.weight has shape \[2\]"):
        OLion(aux=None).step(params, grads)


def test_an_all_zero_gradient_only_decays():
    params = {"w": np.ones((2, 2), np.float32)}
    stats = OLion(lr=0.1, weight_decay=0.5).step(params, {"w": np.zeros((2, 2), np.float32)})
    assert stats.zero_gradients == 1
    assert np.allclose(params["w"], 0.95)


def test_on_an_error_nothing_has_changed():
    optimizer = OLion(lr=0.01)
    bad = Z.copy()
    bad[0, 0] = np.nan
    params = {"w": X0.copy()}
    with pytest.raises(ArithmeticError, match="gradient of w has 1 non-finite value at step 1"):
        optimizer.step(params, {"w": bad})
    assert np.array_equal(params["w"], X0)
    assert optimizer.state_dict()["step"] == 0


def test_a_bf16_state_and_several_projections_step_too():
    params = {"w": X0.copy()}
    OLion(lr=0.01, state="bf16", projections=2, weight_decay=0.0).step(params, {"w": Z})
    assert np.allclose(np.abs(params["w"] - X0), 0.002, atol=1e-6)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"betas": (1.0, 0.98)}, "beta1"),
        ({"ns_steps": 0}, "ns_steps = 0"),
        ({"projections": 0}, "projections = 0"),
        ({"state": "f16"}, "f16"),
        ({"orthogonalizer": "qr"}, "none of quintic, polar-express, svd"),
        ({"aux": "muon"}, "embeddings, norms and biases"),
        ({"weight_decay": -1.0}, "weight_decay"),
    ],
)
def test_settings_out_of_range_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        OLion(**arguments)


def test_arrays_that_cannot_be_stepped_in_place_are_named():
    grads = {"w": Z}
    with pytest.raises(TypeError, match="w is an array of float64"):
        OLion().step({"w": X0.astype(np.float64)}, grads)
    with pytest.raises(ValueError, match="row by row"):
        OLion().step({"w": np.asfortranarray(X0)}, grads)
    frozen = X0.copy()
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="cannot be changed in place"):
        OLion().step({"w": frozen}, grads)
    with pytest.raises(ValueError, match="no gradient of w"):
        OLion().step({"w": X0.copy()}, {})
    with pytest.raises(ValueError, match=r"shape \[2, 3\]"):
        OLion().step({"w": X0.copy()}, {"w": np.ascontiguousarray(Z[:2])})
    with pytest.raises(ValueError, match="no parameter v"):
        OLion().step({"w": X0.copy()}, {"w": Z, "v": Z})
    with pytest.raises(ValueError, match="lr"):
        OLion(lr=0.0).step({"w": X0.copy()}, grads)


def test_parameters_can_be_given_once():
    params = {"w": X0.copy()}
    optimizer = OLion(params, lr=0.01)
    for grad in (Z, np.ascontiguousarray(Z.T), -Z):
        optimizer.step({"w": grad})
    assert np.allclose(params["w"], AFTER_3, atol=1e-6)
    assert np.allclose(pickle.loads(pickle.dumps(optimizer))._params["w"], AFTER_3, atol=1e-6)
    with pytest.raises(TypeError, match="the learning rate is lr="):
        OLion(1e-3)
    with pytest.raises(TypeError, match=r"step\(params, grads\)"):
        OLion().step({"w": Z})


def test_groups_are_the_users_choice():
    params = {"w": np.ones((2, 2), np.float32)}
    optimizer = OLion(params, lr=0.01, weight_decay=0.0, groups=["w=aux:0.5"])
    optimizer.step({"w": np.full((2, 2), 3.0, np.float32)})
    # AdamW's first step has the size of its rate.
    assert np.allclose(params["w"], 1.0 - 0.005, atol=1e-6)
    assert "optim.w.variance" in optimizer.state_dict()["tensors"]
    with pytest.raises(ValueError, match="`w` names no group"):
        OLion(groups=["w"])
    with pytest.raises(ValueError, match="between OLion and aux"):
        OLion(aux=None, groups=["w=matrix"])


def walk(ours, theirs, lr):
    """Steps a matrix ten times with ours, and a copy with an optimizer of PyTorch's kind."""
    torch = pytest.importorskip("torch", reason="needs PyTorch, which `make bench` installs")
    random = np.random.default_rng(0)
    x = random.standard_normal((5, 7)).astype(np.float32)
    peer = torch.nn.Parameter(torch.tensor(x.copy()))
    params, peer_optimizer = {"w": x}, theirs(torch, [peer])
    for _ in range(10):
        gradient = random.standard_normal((5, 7)).astype(np.float32)
        ours.lr = lr
        ours.step(params, {"w": gradient})
        peer.grad = torch.tensor(gradient)
        peer_optimizer.step()
    return x, peer.detach().numpy()


def test_adamw_steps_as_pytorch_does():
    ours = OLion(groups=["w=aux"], aux="adamw", weight_decay=0.1)
    adamw = lambda torch, params: torch.optim.AdamW(
        params, lr=0.01, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.1
    )
    x, peer = walk(ours, adamw, 0.01)
    assert np.allclose(x, peer, atol=1e-6)


def test_lion_steps_as_lion_pytorch_does():
    lion_pytorch = pytest.importorskip("lion_pytorch", reason="needs lion-pytorch")
    ours = OLion(groups=["w=aux"], aux="lion", weight_decay=0.1)
    lion = lambda torch, params: lion_pytorch.Lion(
        params, lr=0.001, betas=(0.9, 0.99), weight_decay=0.1
    )
    x, peer = walk(ours, lion, 0.001)
    assert np.allclose(x, peer, atol=1e-6)


def test_a_tied_parameter_is_given_once():
    tied = X0.copy()
    with pytest.raises(ValueError, match="b and a are one array"):
        OLion().step({"a": tied, "b": tied}, {"a": Z, "b": Z})
    assert np.array_equal(tied, X0)


def test_a_state_that_lacks_a_buffer_is_refused():
    params = {"wte": np.ones((2, 2), np.float32)}
    first = OLion()
    first.step(params, {"wte": np.ones((2, 2), np.float32)})
    state = first.state_dict()
    del state["tensors"]["optim.wte.variance"]
    second = OLion()
    second.load_state_dict(state)
    with pytest.raises(ValueError, match="lacks optim.wte.variance"):
        second.step(params, {"wte": np.ones((2, 2), np.float32)})


def test_the_docstrings_are_true(doctest_of):
    doctest_of("metier.train")
