//! The card on the screen and on paper.

use super::fitted;
use crate::agentscore::*;

#[test]
fn the_card_says_what_it_has_to() {
    let mut checklist = fitted(&Config { outcome: "death <1 year".into(), ..Config::default() });
    let act = format!("{} or more of {} points", checklist.theta, checklist.items.len());
    let text = checklist.to_text();
    assert!(text.contains(&act) && text.contains("not cross-validated"), "{text}");
    for item in &checklist.items {
        assert!(text.contains(&item.text));
    }
    let html = checklist.to_html();
    assert!(html.contains("death &lt;1 year") && !html.contains("http"), "{html}");
    assert!(checklist.to_svg().contains(&act));
    assert!(checklist.to_markdown().contains(&format!("**Act at {act}.**")));
    let fhir: serde_json::Value = serde_json::from_str(&checklist.to_fhir_questionnaire()).unwrap();
    assert_eq!(fhir["item"].as_array().unwrap().len(), checklist.items.len());
    checklist.honest = Some(Honest {
        folds: vec![0.8],
        auroc: 0.8,
        interval: [0.75, 0.85],
        sensitivity: 0.7,
        specificity: 0.7,
        chosen: Vec::new(),
        by_items: Vec::new(),
    });
    assert!(checklist.to_text().contains("0.800 cross-validated (0.750 to 0.850)"));
}

// The objects of a PDF, by the offsets in its cross-reference table, and the texts that its page
// shows: what a reader of the file has to find.
fn read_pdf(pdf: &[u8]) -> (Vec<String>, Vec<String>) {
    // One byte is one letter here.
    let letters = |bytes: &[u8]| bytes.iter().map(|&byte| char::from(byte)).collect::<String>();
    let file = letters(pdf);
    assert!(file.starts_with("%PDF-1.") && file.trim_end().ends_with("%%EOF"), "{file}");
    let (_, table) = file.rsplit_once("startxref").unwrap();
    let table = letters(&pdf[table.split_whitespace().next().unwrap().parse::<usize>().unwrap()..]);
    let mut lines = table.lines();
    assert_eq!(lines.next(), Some("xref"));
    let count: usize = lines.next().unwrap().strip_prefix("0 ").unwrap().parse().unwrap();
    let object = |(number, line): (usize, &str)| {
        assert_eq!(line.trim_end().len(), 18, "{line}");
        let object = letters(&pdf[line[..10].parse::<usize>().unwrap()..]);
        assert!(object.starts_with(&format!("{number} 0 obj")), "{number}: {object}");
        object[..object.find("endobj").unwrap()].to_owned()
    };
    let objects = lines.take(count).enumerate().skip(1).map(object).collect();
    let mut shown = vec![String::new()];
    let mut symbol = false;
    for line in file.lines() {
        match line.rsplit_once(' ') {
            Some((font, "Tf")) => symbol = font.starts_with("/Symbol"),
            Some((text, "Tj")) => {
                let text: Vec<char> = if let Some(hex) = text.strip_prefix('<') {
                    let digits: Vec<u32> = hex.chars().filter_map(|d| d.to_digit(16)).collect();
                    digits.chunks(2).map(|two| char::from((16 * two[0] + two[1]) as u8)).collect()
                } else {
                    text[1..text.len() - 1].chars().collect()
                };
                let sign = |byte| if symbol && byte == '\u{b3}' { '≥' } else { byte };
                shown.last_mut().unwrap().extend(text.into_iter().map(sign));
            }
            None if line == "ET" => shown.push(String::new()),
            _ => {}
        }
    }
    (objects, shown)
}

#[test]
fn the_card_on_paper_is_one_page_of_text() {
    let mut checklist = fitted(&Config { outcome: "death (1 year)".into(), ..Config::default() });
    checklist.items[0].text = "CRP ≥ 5 µg/l".into();
    let (objects, shown) = read_pdf(&checklist.to_pdf().unwrap());
    let holds = |key: &str| objects.iter().filter(|object| object.contains(key)).count();
    assert_eq!(holds("/Type /Catalog"), 1);
    assert_eq!(holds("/Count 1"), 1);
    assert_eq!((holds("/BaseFont /Helvetica"), holds("/BaseFont /Symbol")), (2, 1));
    assert_eq!(holds("/Title (Checklist for death (1 year))"), 1, "{objects:?}");
    let text = shown.join(" ");
    assert!(text.contains("Checklist for death (1 year)"), "{text}");
    for item in &checklist.items {
        assert!(text.contains(&item.text), "{text}");
    }
    let act = format!("Act at {} or more of {} points", checklist.theta, checklist.items.len());
    assert!(shown.contains(&act), "{text}");
    for row in &checklist.risk.rows {
        assert!(shown.contains(&format!("{:.0} %", 100.0 * row.risk)) || row.risk < 0.01, "{text}");
    }
    assert!(text.contains("Not validated for clinical use."), "{text}");

    // However long, it stays inside the page.
    let item = checklist.items[0].clone();
    checklist.items = vec![item; 20];
    checklist.items[7].text = "a word ".repeat(80);
    let (objects, _) = read_pdf(&checklist.to_pdf().unwrap());
    let content = objects.iter().find(|object| object.contains("stream")).unwrap();
    let places: Vec<f64> = content
        .lines()
        .filter_map(|line| line.strip_suffix(" Td"))
        .flat_map(|place| place.split(' ').map(|number| number.parse::<f64>().unwrap()))
        .collect();
    assert!(places.len() > 40 && places.iter().all(|&place| (30.0..812.0).contains(&place)));

    checklist.items[3].text = "年齢 ≥ 65".into();
    let error = checklist.to_pdf().unwrap_err();
    assert!(error.message().starts_with("`年` cannot be printed"), "{error}");
}
