use super::*;
use crate::evidence::{Axes, Line, Options, exit_code, run};
use crate::{Bar, Cell, Claim, Finding, Lab, Method, Plot, Samples, Scale, Silent};

struct Fake(&'static str, fn() -> Result<Finding>);

impl Method for Fake {
    fn card(&self) -> &'static Card {
        let card = |id| {
            Box::leak(Box::new(Card {
                id,
                name: "A <fake> method",
                paper: "none",
                job: "test",
                command: "metier test",
                data: "nothing",
                data_licence: "none",
            }))
        };
        card(self.0)
    }

    fn evidence(&self, _lab: &mut Lab) -> Result<Finding> {
        self.1()
    }
}

fn claim(id: &str, ours: f64, gate: bool) -> Claim {
    Claim {
        id: id.into(),
        statement: "ours is at least one".into(),
        metric: "number".into(),
        ours: Samples::from([ours, 2.0]),
        baseline: Samples::none(),
        bar: Bar::AtLeast(1.0),
        gate,
    }
}

fn good() -> Result<Finding> {
    let mut table = Table::new("Table", ["name", "value"]);
    table.row(["a".into(), Cell::number(1.5, 2)]);
    let axes = Axes::new("x", "y");
    let lines = vec![Line::new("a", vec![0.0, 1.0], vec![1.0, 2.0])];
    Ok(Finding {
        claims: vec![claim("holds", 1.0, true), claim("doubt", 0.5, false)],
        tables: vec![table],
        figures: vec![Figure::new("a curve", "Curve", Plot::Lines { axes, lines })],
        notes: vec!["a note".into()],
    })
}

fn short() -> Result<Finding> {
    Ok(Finding { claims: vec![claim("short", f64::NAN, true)], ..Finding::default() })
}

fn missing() -> Result<Finding> {
    Err(Error::missing("the data set `sotu` is not here").help("run `metier data pull sotu`"))
}

fn stopped() -> Result<Finding> {
    Err(Error::interrupted())
}

fn crashes() -> Result<Finding> {
    let empty: Vec<f64> = Vec::new();
    // A panic whose words are made at run time.
    Ok(Finding { notes: vec![empty[std::hint::black_box(3)].to_string()], ..Finding::default() })
}

fn outcomes(methods: &[&dyn Method]) -> Vec<Outcome> {
    let options = Options { scale: Scale::Quick, seed: 7, data: Vec::new(), progress: &Silent };
    let mut shown = 0;
    let show = |_: &Outcome| {
        shown += 1;
        Ok(())
    };
    let mut outcomes = run(methods, &options, show).unwrap();
    assert_eq!(shown, outcomes.len());
    for outcome in &mut outcomes {
        outcome.seconds = 1.25;
    }
    outcomes
}

#[test]
fn the_json_contract_to_the_letter() {
    let outcomes = outcomes(&[&Fake("good", good), &Fake("short", short), &Fake("lost", missing)]);
    let lines: Vec<String> = outcomes.iter().map(|o| json(&Record::from(o)).unwrap()).collect();
    assert_eq!(
        lines[0],
        r#"{"method":"good","scale":"quick","seed":7,"seconds":1.25,"claims":[{"id":"holds","statement":"ours is at least one","metric":"number","ours":[1.0,2.0],"baseline":[],"bar":"at least 1","holds":true,"gate":true},{"id":"doubt","statement":"ours is at least one","metric":"number","ours":[0.5,2.0],"baseline":[],"bar":"at least 1","holds":false,"gate":false}],"notes":["a note"]}"#
    );
    // What is no number is null.
    assert!(
        lines[1].contains(r#""ours":[null,2.0],"baseline":[],"bar":"at least 1","holds":false"#)
    );
    assert_eq!(
        lines[2],
        r#"{"method":"lost","scale":"quick","seed":7,"seconds":1.25,"claims":[],"notes":["failed: the data set `sotu` is not here"]}"#
    );
}

#[test]
fn outcomes_in_text() {
    let outcomes = outcomes(&[&Fake("good", good), &Fake("lost", missing)]);
    let text: String = outcomes.iter().map(crate::evidence::text::outcome).collect();
    insta::assert_snapshot!(text, @r"
    good: A <fake> method (quick, seed 7, 1.2 s)
      claim  metric  ours        baseline  bar         verdict                   seconds
      holds  number  1.5 ± 0.71  –         at least 1  holds                         1.2
      doubt  number  1.25 ± 1.1  –         at least 1  falls short (not a gate)      1.2
    lost: A <fake> method (quick, seed 7, 1.2 s)
      failed: the data set `sotu` is not here
    ");
}

#[test]
fn one_that_fails_does_not_keep_the_others_from_running() {
    let outcomes =
        outcomes(&[&Fake("crash", crashes), &Fake("lost", missing), &Fake("good", good)]);
    assert_eq!(outcomes.len(), 3);
    let crash = outcomes[0].result.as_ref().unwrap_err();
    assert_eq!(crash.message(), "crashed: index out of bounds: the len is 0 but the index is 3");
    assert!(outcomes[2].gates_hold());
}

#[test]
fn a_request_to_stop_ends_the_run() {
    let outcomes = outcomes(&[&Fake("stopped", stopped), &Fake("good", good)]);
    assert_eq!(outcomes.len(), 1);
    assert_eq!(exit_code(&outcomes), 130);
}

#[test]
fn exit_codes() {
    let code = |methods: &[fn() -> Result<Finding>]| {
        let fakes: Vec<Fake> = methods.iter().map(|method| Fake("fake", *method)).collect();
        let methods: Vec<&dyn Method> = fakes.iter().map(|fake| fake as &dyn Method).collect();
        exit_code(&outcomes(&methods))
    };
    assert_eq!(code(&[]), 0);
    assert_eq!(code(&[good]), 0);
    assert_eq!(code(&[good, short]), 1);
    assert_eq!(code(&[good, crashes]), 1);
    assert_eq!(code(&[good, missing]), 3);
    assert_eq!(code(&[missing, short]), 1);
    assert_eq!(code(&[short, stopped]), 130);
}

#[test]
fn the_page_holds_everything_and_needs_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("deep/report");
    let outcomes = outcomes(&[&Fake("good", good), &Fake("short", short), &Fake("lost", missing)]);
    let page = Report::create(&out).unwrap().write(&outcomes).unwrap();
    let text = fs::read_to_string(&page).unwrap();
    for words in [
        "A &lt;fake&gt; method",
        "Not every gating claim holds.",
        "1 of 3 claims hold.",
        "falls short (not a gate)",
        "the data set `sotu` is not here",
        "run `metier data pull sotu`",
        "a note",
        "<td class=\"n\">1.50</td>",
        "figures/good-a-curve.svg",
    ] {
        assert!(text.contains(words), "{words}");
    }
    for outside in ["src=", "<link", "@import", "url("] {
        assert!(!text.contains(outside), "{outside}");
    }
    assert!(!text.replace("http://www.w3.org/2000/svg", "").contains("http"));
    let lines = fs::read_to_string(out.join("results.jsonl")).unwrap();
    assert_eq!(lines.lines().count(), 3);
    let numbers: serde_json::Value =
        serde_json::from_slice(&fs::read(out.join("good.json")).unwrap()).unwrap();
    assert_eq!(numbers["tables"][0]["rows"][0][1]["value"], 1.5);
    assert_eq!(numbers["figures"][0]["plot"]["kind"], "lines");
    assert!(out.join("figures/good-a-curve-dark.svg").is_file());
}

#[test]
fn no_figure_of_an_earlier_run_is_left() {
    fn bare() -> Result<Finding> {
        Ok(Finding { figures: Vec::new(), ..good()? })
    }
    let folder = tempfile::tempdir().unwrap();
    let report = Report::create(folder.path()).unwrap();
    let both = outcomes(&[&Fake("good", good), &Fake("goods", good)]);
    report.write(&both).unwrap();
    fs::write(folder.path().join("figures/good-notes.txt"), "mine").unwrap();
    report.write(&outcomes(&[&Fake("good", bare)])).unwrap();
    let left = |name: &str| folder.path().join("figures").join(name).exists();
    assert!(!left("good-a-curve.svg") && !left("good-a-curve-dark.svg"));
    assert!(left("goods-a-curve.svg") && left("good-notes.txt"));
}

#[test]
fn many_samples_are_folded_away() {
    fn long() -> Result<Finding> {
        let mut many = claim("many", 1.0, true);
        many.ours = (1..=50).map(f64::from).collect();
        Ok(Finding { claims: vec![many, claim("two", 1.0, true)], ..Finding::default() })
    }
    let text = super::page::html(&outcomes(&[&Fake("long", long)]));
    assert_eq!(text.matches("<details>").count(), 1, "{text}");
    assert!(text.contains(">50 samples</summary>") && text.contains("49  50"));
}

#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_written_to_is_named() {
    let error = Report::create(Path::new("/proc/report")).unwrap_err();
    assert!(error.to_string().starts_with("/proc/report: cannot write the report: "), "{error}");
    assert_eq!(error.exit_code(), 1);
    assert!(error.help_text().unwrap().contains("--out DIR"));
}
