use super::*;
use metier_core::error::Kind;
use proptest::prelude::*;

fn step(optimizer: &mut dyn Optimizer, x: &mut [f32], g: &[f32], lr: f32) -> Result<StepStats> {
    // One column, so that the values count as a matrix and decay.
    let shape = [x.len(), 1];
    optimizer.step(
        &mut [ParamMut { name: "w", shape: &shape, data: x }],
        &[GradRef { name: "w", data: g }],
        lr,
    )
}

fn adamw() -> AdamW {
    AdamW::new(AdamWConfig::default()).unwrap()
}

fn lion() -> Lion {
    Lion::new(LionConfig::default()).unwrap()
}

#[test]
fn adamw_takes_the_right_steps() {
    let mut optimizer = adamw();
    let mut x = [1.0];
    for (g, expected) in [(2.0, 0.9890000), (-1.0, 0.9853273), (0.5, 0.9808752)] {
        step(&mut optimizer, &mut x, &[g], 0.01).unwrap();
        assert!((x[0] - expected).abs() < 2e-7, "{} is not {expected}", x[0]);
    }
}

#[test]
fn lion_takes_the_right_steps_and_mixes_the_old_momentum() {
    let mut optimizer = lion();
    let mut x = [1.0];
    for (g, expected, momentum) in
        [(2.0, 0.989, 0.02), (-1.0, 0.998011, 0.0098), (0.5, 0.987012989, 0.014702)]
    {
        step(&mut optimizer, &mut x, &[g], 0.01).unwrap();
        assert!((x[0] - expected).abs() < 2e-7, "{} is not {expected}", x[0]);
        let m = optimizer.state().tensors["optim.w.momentum"].data[0];
        assert!((m - momentum).abs() < 1e-7, "{m} is not {momentum}");
    }
}

#[test]
fn vectors_do_not_decay_and_zero_gradients_are_counted() {
    for optimizer in [&mut adamw() as &mut dyn Optimizer, &mut lion()] {
        let (mut matrix, mut vector) = ([1.0], [1.0]);
        let stats = optimizer
            .step(
                &mut [
                    ParamMut { name: "m", shape: &[1, 1], data: &mut matrix },
                    ParamMut { name: "v", shape: &[1], data: &mut vector },
                ],
                &[GradRef { name: "m", data: &[0.0] }, GradRef { name: "v", data: &[0.0] }],
                0.01,
            )
            .unwrap();
        assert_eq!(stats, StepStats { tensors: 2, zero_gradients: 2 });
        assert_eq!((matrix, vector), ([0.999], [1.0]));
    }
}

#[test]
fn a_gradient_that_is_not_finite_changes_nothing() {
    for optimizer in [&mut adamw() as &mut dyn Optimizer, &mut lion()] {
        let mut x = [1.0, 2.0, 3.0];
        step(optimizer, &mut x, &[0.1, 0.2, 0.3], 0.01).unwrap();
        let (before, state) = (x, optimizer.state());
        let error = step(optimizer, &mut x, &[1.0, f32::NAN, f32::INFINITY], 0.01).unwrap_err();
        assert_eq!(error.to_string(), "gradient of w has 2 non-finite values at step 2");
        assert_eq!(error.kind(), Kind::Numeric);
        assert_eq!(x, before);
        assert_eq!(optimizer.state(), state);
    }
}

#[test]
fn gradients_have_to_match_their_parameters() {
    let check = |grads: &[GradRef<'_>]| {
        let mut x = [1.0, 2.0];
        let params = [ParamMut { name: "a", shape: &[2], data: &mut x }];
        check_gradients(&params, grads, 1)
    };
    assert_eq!(check(&[]).unwrap_err().to_string(), "1 parameters came with 0 gradients");
    assert_eq!(
        check(&[GradRef { name: "b", data: &[0.0; 2] }]).unwrap_err().to_string(),
        "the gradient of b stands where that of a is due"
    );
    assert_eq!(
        check(&[GradRef { name: "a", data: &[0.0; 3] }]).unwrap_err().to_string(),
        "a of shape [2] came with 3 gradient values, not 2"
    );
    let found = check(&[GradRef { name: "a", data: &[3.0, 4.0] }]).unwrap();
    assert_eq!(found, Gradients { norm: 5.0, zeros: 0 });
}

#[test]
fn settings_out_of_range_are_named_with_their_value() {
    let message = |result: Result<()>| result.unwrap_err().message().to_owned();
    let adamw = AdamWConfig::default();
    for (config, expected) in [
        (AdamWConfig { beta1: 1.0, ..adamw }, "beta1 = 1 is outside [0, 1)"),
        (AdamWConfig { beta2: -0.1, ..adamw }, "beta2 = -0.1 is outside [0, 1)"),
        (AdamWConfig { epsilon: f32::NAN, ..adamw }, "epsilon = NaN is not zero or above"),
        (AdamWConfig { weight_decay: -1.0, ..adamw }, "weight_decay = -1 is not zero or above"),
    ] {
        assert_eq!(message(config.validate()), expected);
    }
    let lion = LionConfig { beta2: f32::NAN, ..LionConfig::default() };
    assert_eq!(message(lion.validate()), "beta2 = NaN is outside [0, 1)");
    for lr in [0.0, -0.1, f32::NAN] {
        let error = step(&mut self::adamw(), &mut [1.0], &[1.0], lr).unwrap_err();
        assert_eq!(error.message(), format!("lr = {lr} is not above zero"));
    }
}

#[test]
fn the_result_does_not_depend_on_the_number_of_threads() {
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let n = 100_003;
            let g: Vec<f32> = (0..n).map(|i| ((i * 7919) % 1000) as f32 / 500.0 - 1.0).collect();
            let mut x = vec![0.5; n];
            let mut optimizer = adamw();
            for _ in 0..2 {
                step(&mut optimizer, &mut x, &g, 0.01).unwrap();
            }
            (x, check::sum_of_squares(&g).to_bits())
        })
    };
    assert_eq!(run(1), run(3));
}

#[test]
fn a_state_goes_through_a_file_to_the_last_bit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("optimizer.safetensors");
    let mut first = adamw();
    let mut x = [0.1, 0.2, 0.3];
    step(&mut first, &mut x, &[0.5, -0.25, 1e-20], 0.01).unwrap();
    first.state().write(&path).unwrap();

    let state = StateDict::read(&path).unwrap();
    assert_eq!(state, first.state());
    assert_eq!((state.optimizer.as_str(), state.step), ("adamw", 1));
    assert_eq!(state.hyper["beta2"], serde_json::json!(0.95f32));
    let mut second = adamw();
    second.load_state(&state).unwrap();
    let mut y = x;
    step(&mut first, &mut x, &[1.0, 2.0, 3.0], 0.01).unwrap();
    step(&mut second, &mut y, &[1.0, 2.0, 3.0], 0.01).unwrap();
    assert_eq!(x.map(f32::to_bits), y.map(f32::to_bits));
    assert_eq!(first.state().to_bytes().unwrap(), second.state().to_bytes().unwrap());
}

#[test]
fn a_state_of_another_optimizer_or_shape_names_both() {
    let mut x = [0.1, 0.2, 0.3];
    let mut optimizer = lion();
    step(&mut optimizer, &mut x, &[0.5, -0.25, 1.0], 0.01).unwrap();
    let state = optimizer.state();

    let error = adamw().load_state(&state).unwrap_err();
    assert_eq!(error.to_string(), "this is the state of lion, and the optimizer is adamw");
    assert!(error.help_text().unwrap().contains("--reset-optimizer"));

    state.expect_shapes(&[("w".into(), vec![3, 1])]).unwrap();
    let error = state.expect_shapes(&[("w".into(), vec![4, 1])]).unwrap_err();
    let expected = "optim.w.momentum has shape [3, 1], and the parameter w has [4, 1]";
    assert_eq!(error.to_string(), expected);
    assert!(error.help_text().unwrap().contains("--reset-optimizer"));
    let error = state.expect_shapes(&[("v".into(), vec![3, 1])]).unwrap_err();
    assert!(error.to_string().contains("no parameter w"), "{error}");

    let error = step(&mut optimizer, &mut [0.0; 4], &[0.0; 4], 0.01).unwrap_err();
    assert_eq!(error.to_string(), expected);
}

#[test]
fn other_files_are_no_state() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.safetensors");
    std::fs::write(&path, b"not a state").unwrap();
    let error = StateDict::read(&path).unwrap_err();
    assert!(error.to_string().ends_with("state.safetensors: this is no safetensors file"));
    let bytes =
        safetensors::serialize(Vec::<(&str, safetensors::tensor::TensorView<'_>)>::new(), None);
    std::fs::write(&path, bytes.unwrap()).unwrap();
    let error = StateDict::read(&path).unwrap_err();
    assert!(error.to_string().ends_with("this file holds no optimizer state"));
}

#[test]
fn roles_follow_the_names_of_the_model_families() {
    for (name, shape, role) in [
        ("transformer.wte.weight", &[256, 64][..], Role::Embedding),
        ("transformer.wpe.weight", &[64, 64], Role::Embedding),
        ("transformer.h.0.ln_1.weight", &[64], Role::Norm),
        ("transformer.h.0.ln_1.bias", &[64], Role::Bias),
        ("transformer.h.11.attn.c_attn.weight", &[64, 192], Role::Matrix),
        ("transformer.h.11.attn.c_attn.bias", &[192], Role::Bias),
        ("transformer.h.11.attn.c_proj.weight", &[64, 64], Role::Matrix),
        ("transformer.h.11.mlp.c_fc.weight", &[64, 256], Role::Matrix),
        ("transformer.h.11.mlp.c_proj.weight", &[256, 64], Role::Matrix),
        ("transformer.ln_f.weight", &[64], Role::Norm),
        ("lm_head.weight", &[256, 64], Role::Head),
        ("model.embed_tokens.weight", &[256, 64], Role::Embedding),
        ("model.layers.3.self_attn.q_proj.weight", &[64, 64], Role::Matrix),
        ("model.layers.3.self_attn.q_proj.bias", &[64], Role::Bias),
        ("model.layers.3.self_attn.q_norm.weight", &[16], Role::Norm),
        ("model.layers.3.self_attn.k_proj.weight", &[32, 64], Role::Matrix),
        ("model.layers.3.self_attn.o_proj.weight", &[64, 64], Role::Matrix),
        ("model.layers.3.mlp.gate_proj.weight", &[128, 64], Role::Matrix),
        ("model.layers.3.mlp.down_proj.weight", &[64, 128], Role::Matrix),
        ("model.layers.3.input_layernorm.weight", &[64], Role::Norm),
        ("model.layers.3.post_attention_layernorm.weight", &[64], Role::Norm),
        ("model.norm.weight", &[64], Role::Norm),
        ("model.layers.3.block_sparse_moe.gate.weight", &[8, 64], Role::Router),
        ("model.layers.3.block_sparse_moe.experts.7.w1.weight", &[128, 64], Role::Matrix),
        ("model.layers.3.mlp.gate.weight", &[8, 64], Role::Router),
        ("model.layers.3.mlp.router.weight", &[8, 64], Role::Router),
        ("model.layers.3.mlp.shared_expert_gate.weight", &[1, 64], Role::Router),
        ("model.layers.3.mlp.experts.gate_up_proj", &[8, 64, 256], Role::Matrix),
        ("tok_embeddings.weight", &[256, 64], Role::Embedding),
        ("output.weight", &[256, 64], Role::Head),
        ("token_embd.weight", &[256, 64], Role::Embedding),
        ("shared.weight", &[256, 64], Role::Embedding),
        ("pos_embed", &[1, 16, 64], Role::Embedding),
        ("x_embedder.patch_embed.proj.weight", &[64, 3, 2, 2], Role::Embedding),
        ("final_layer.linear.weight", &[8, 64], Role::Head),
        // Names that a rule by substring gets wrong.
        ("encoder.layer.0.attention.self_attention.output.dense.weight", &[64, 64], Role::Matrix),
        ("encoder.layer.0.attention.output.weight", &[64, 64], Role::Matrix),
        ("blocks.0.kaln.weight", &[64, 64], Role::Matrix),
        ("temperature", &[1], Role::Vector),
    ] {
        assert_eq!(Role::of(name, shape), role, "{name}");
    }
}

fn mixtral() -> Vec<(String, Vec<usize>)> {
    [
        ("model.embed_tokens.weight", vec![256, 64]),
        ("model.layers.0.self_attn.q_proj.weight", vec![64, 64]),
        ("model.layers.0.block_sparse_moe.gate.weight", vec![8, 64]),
        ("model.layers.0.block_sparse_moe.experts.0.w1.weight", vec![128, 64]),
        ("model.norm.weight", vec![64]),
        ("model.embed_tokens.weight", vec![256, 64]),
    ]
    .map(|(name, shape)| (name.to_owned(), shape))
    .to_vec()
}

#[test]
fn groups_split_by_role_and_count_tied_embeddings_once() {
    let groups = group_by_role(&mixtral(), &GroupPolicy::default()).unwrap();
    let matrices = &groups.groups[0];
    assert_eq!(
        (matrices.role, matrices.side, matrices.params.len()),
        (Role::Matrix, Side::Matrix, 2)
    );
    assert_eq!(groups.side("model.layers.0.block_sparse_moe.gate.weight"), Some(Side::Aux));
    assert_eq!(groups.group("model.embed_tokens.weight").unwrap().params.len(), 1);
    assert_eq!(groups.side("model.embed_tokens.weight"), Some(Side::Aux));
    assert_eq!(
        groups.table("olion", "adamw"),
        "\
role       optimizer  tensors  parameters  first
matrix     olion            2       12288  model.layers.0.self_attn.q_proj.weight [64, 64]
router     adamw            1         512  model.layers.0.block_sparse_moe.gate.weight [8, 64]
embedding  adamw            1       16384  model.embed_tokens.weight [256, 64]
norm       adamw            1          64  model.norm.weight [64]
"
    );
    let policy = GroupPolicy { router_as_matrix: true, overrides: vec![] };
    let groups = group_by_role(&mixtral(), &policy).unwrap();
    assert_eq!(groups.side("model.layers.0.block_sparse_moe.gate.weight"), Some(Side::Matrix));
}

#[test]
fn the_user_can_choose_by_pattern() {
    let policy = |text: &[&str]| GroupPolicy {
        router_as_matrix: false,
        overrides: text.iter().map(|text| text.parse().unwrap()).collect(),
    };
    let chosen = policy(&[r"self_attn\.=aux:0.5", "embed_tokens=matrix"]);
    let groups = group_by_role(&mixtral(), &chosen).unwrap();
    let q = groups.group("model.layers.0.self_attn.q_proj.weight").unwrap();
    assert_eq!((q.side, q.lr_factor), (Side::Aux, 0.5));
    assert_eq!(groups.side("model.embed_tokens.weight"), Some(Side::Matrix));

    let error = group_by_role(&mixtral(), &policy(&["norm=matrix"])).unwrap_err();
    assert_eq!(
        error.to_string(),
        "model.norm.weight has shape [64] and cannot go to a matrix optimizer"
    );
    assert!(error.help_text().unwrap().contains("`--aux`"));
    let error = group_by_role(&mixtral(), &policy(&["c_attn=aux"])).unwrap_err();
    assert_eq!(error.to_string(), "group: `c_attn` matches no parameter");

    for wrong in ["q_proj", "q_proj=adamw", "q_proj=aux:zero", "q_proj=aux:0", "(=aux"] {
        let error = wrong.parse::<Override>().unwrap_err();
        assert_eq!(error.exit_code(), 2, "{wrong}");
        assert_eq!(error.location().field.as_deref(), Some("group"), "{wrong}");
    }
}

#[test]
fn tensors_are_seen_as_stacks_of_matrices() {
    let view = |shape: &[usize]| MatrixView::of("w", shape).map(|v| [v.count, v.rows, v.columns]);
    assert_eq!(view(&[3, 4]).unwrap(), [1, 3, 4]);
    assert_eq!(view(&[8, 3, 4]).unwrap(), [8, 3, 4]);
    assert_eq!(view(&[16, 3, 5, 5]).unwrap(), [1, 16, 75]);
    assert!(view(&[7]).is_err() && view(&[]).is_err());
}

proptest! {
    #[test]
    fn a_lion_step_moves_each_value_by_the_learning_rate(
        g in prop::collection::vec(-1e3f32..1e3, 1..40), lr in 1e-4f32..1e-1,
    ) {
        let mut optimizer = Lion::new(LionConfig { weight_decay: 0.0, ..LionConfig::default() }).unwrap();
        let mut x = vec![0.0; g.len()];
        step(&mut optimizer, &mut x, &g, lr).unwrap();
        for (x, g) in x.iter().zip(&g) {
            prop_assert_eq!(*x, if *g == 0.0 { 0.0 } else { -lr * g.signum() });
        }
    }

    #[test]
    fn the_sum_of_squares_is_finite_exactly_when_every_value_is(
        mut g in prop::collection::vec(-f32::MAX..f32::MAX, 1..50), at in 0usize..50,
    ) {
        prop_assert!(check::sum_of_squares(&g).is_finite());
        let at = at % g.len();
        g[at] = f32::NEG_INFINITY;
        prop_assert!(!check::sum_of_squares(&g).is_finite());
    }
}

#[test]
fn a_state_with_half_of_its_buffers_is_refused() {
    let mut optimizer = adamw();
    let mut x = [1.0f32, 2.0];
    let shape = [1, 2];
    optimizer
        .step(
            &mut [ParamMut { name: "w", shape: &shape, data: &mut x }],
            &[GradRef { name: "w", data: &[0.1, 0.2] }],
            0.01,
        )
        .unwrap();
    let whole = optimizer.state();
    let mut half = whole.clone();
    half.tensors.remove("optim.w.variance");
    let error = adamw().load_state(&half).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the state lacks optim.w.variance, without which adamw cannot go on"
    );
    let mut foreign = whole.clone();
    foreign.optimizer = "lion".to_owned();
    let error = Lion::new(LionConfig::default()).unwrap().load_state(&foreign).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the state holds optim.w.variance, and lion keeps no variance for w"
    );
    let error = whole
        .expect_shapes(&[("w".to_owned(), vec![1, 2]), ("v".to_owned(), vec![3])])
        .unwrap_err();
    assert_eq!(error.to_string(), "the state holds nothing of the parameter v");
}
