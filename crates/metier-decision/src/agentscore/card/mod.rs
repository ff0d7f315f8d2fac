//! The bedside card: what is printed and pinned to the wall.

use super::checklist::Checklist;
use super::checks::percent;
use serde_json::json;

impl Checklist {
    /// The card as plain text.
    pub fn to_text(&self) -> String {
        let mut text = format!("{}\n\n", self.heading());
        let width = self.items.iter().map(|item| item.text.chars().count()).max().unwrap_or(0);
        for item in &self.items {
            let gap = " ".repeat(width - item.text.chars().count());
            text += &format!("  [ ] {}{gap}   1 point\n", item.text);
        }
        text += &format!("\nAct at {} or more of {} points.\n\n", self.theta, self.items.len());
        text += "  points   risk    95 %            patients\n";
        for row in &self.risk.rows {
            let mark = if row.points == self.theta { ">" } else { " " };
            text += &format!(
                "{mark} {:>6} {:>6}    {:>4} to {:>4} {:>9}\n",
                row.points,
                whole(row.risk),
                whole(row.low),
                whole(row.high),
                row.rows
            );
        }
        text + "\n" + &self.footing() + "\n"
    }

    /// The card as Markdown.
    pub fn to_markdown(&self) -> String {
        let mut text = format!("## {}\n\n| item | points |\n| --- | --- |\n", self.heading());
        for item in &self.items {
            text += &format!("| {} | 1 |\n", item.text.replace('|', "\\|"));
        }
        text += &format!(
            "\n**Act at {} or more of {} points.**\n\n| points | risk | 95 % interval | patients |\n| --- | --- | --- | --- |\n",
            self.theta,
            self.items.len()
        );
        for row in &self.risk.rows {
            text += &format!(
                "| {} | {} | {} to {} | {} |\n",
                row.points,
                whole(row.risk),
                whole(row.low),
                whole(row.high),
                row.rows
            );
        }
        text + "\n" + &self.footing() + "\n"
    }

    /// The card as one page of HTML, with nothing to fetch. It adds the points up when ticked.
    pub fn to_html(&self) -> String {
        let items: String = self
            .items
            .iter()
            .map(|item| {
                format!(
                    "<label><input type=\"checkbox\"><span>{}</span></label>\n",
                    escape(&item.text)
                )
            })
            .collect();
        let rows: String = self
            .risk
            .rows
            .iter()
            .map(|row| {
                format!(
                    "<tr{}><td>{}</td><td>{}</td><td>{} to {}</td><td>{}</td></tr>\n",
                    if row.points >= self.theta { " class=\"act\"" } else { "" },
                    row.points,
                    whole(row.risk),
                    whole(row.low),
                    whole(row.high),
                    row.rows
                )
            })
            .collect();
        let risks: Vec<String> = self.risk.rows.iter().map(|row| whole(row.risk)).collect();
        format!(
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
             <title>{heading}</title>\n<style>{STYLE}</style></head>\n<body><main>\n\
             <h1>{heading}</h1>\n<form>{items}</form>\n\
             <p id=\"sum\" aria-live=\"polite\">Act at <b>{theta}</b> or more of {most} points.</p>\n\
             <table><thead><tr><th>points</th><th>risk</th><th>95 %</th><th>patients</th></tr></thead>\n\
             <tbody>{rows}</tbody></table>\n<p class=\"foot\">{foot}</p>\n</main>\n<script>\
             const risk={risks},theta={theta},sum=document.getElementById('sum');\
             document.querySelector('form').addEventListener('change',()=>{{\
             const n=document.querySelectorAll('input:checked').length;\
             sum.textContent=n+(n===1?' point':' points')+', risk '+risk[n]+': '+(n>=theta?'act':'do not act')+' (line at '+theta+')';\
             sum.className=n>=theta?'act':'';}});</script></body></html>\n",
            heading = escape(&self.heading()),
            theta = self.theta,
            most = self.items.len(),
            foot = escape(&self.footing()),
            risks = json!(risks),
        )
    }

    /// The card as an SVG picture.
    pub fn to_svg(&self) -> String {
        const WIDTH: usize = 640;
        const LINE: usize = 30;
        let wrapped: Vec<Vec<String>> =
            self.items.iter().map(|item| wrap(&item.text, 58)).collect();
        let mut y = 44;
        let mut body = format!(
            "<text x=\"24\" y=\"{y}\" font-size=\"20\" font-weight=\"bold\">{}</text>\n",
            escape(&self.heading())
        );
        y += LINE + 6;
        for lines in &wrapped {
            body += &format!(
                "<rect x=\"24\" y=\"{}\" width=\"16\" height=\"16\" rx=\"3\" fill=\"none\" stroke=\"#333\" stroke-width=\"1.5\"/>\n\
                 <text x=\"600\" y=\"{y}\" font-size=\"16\" text-anchor=\"end\">1</text>\n",
                y - 14
            );
            for (place, line) in lines.iter().enumerate() {
                body += &format!(
                    "<text x=\"52\" y=\"{}\" font-size=\"16\">{}</text>\n",
                    y + place * 20,
                    escape(line)
                );
            }
            y += LINE + (lines.len() - 1) * 20;
        }
        y += 4;
        body += &format!(
            "<rect x=\"24\" y=\"{}\" width=\"592\" height=\"34\" rx=\"4\" fill=\"#8a1c1c\"/>\n\
             <text x=\"320\" y=\"{}\" font-size=\"17\" fill=\"#fff\" text-anchor=\"middle\" font-weight=\"bold\">Act at {} or more of {} points</text>\n",
            y - 20,
            y + 3,
            self.theta,
            self.items.len()
        );
        y += 44;
        // One bar per number of points, with its interval.
        for row in &self.risk.rows {
            let at = |share: f64| 110.0 + 400.0 * share;
            let colour = if row.points >= self.theta { "#8a1c1c" } else { "#5b7083" };
            body += &format!(
                "<text x=\"88\" y=\"{y}\" font-size=\"15\" text-anchor=\"end\">{}</text>\n\
                 <rect x=\"110\" y=\"{}\" width=\"{:.1}\" height=\"14\" fill=\"{colour}\" opacity=\"0.75\"/>\n\
                 <line x1=\"{:.1}\" x2=\"{:.1}\" y1=\"{mid}\" y2=\"{mid}\" stroke=\"#222\" stroke-width=\"1.5\"/>\n\
                 <text x=\"600\" y=\"{y}\" font-size=\"15\" text-anchor=\"end\">{}</text>\n",
                row.points,
                y - 12,
                400.0 * row.risk,
                at(row.low),
                at(row.high),
                whole(row.risk),
                mid = y - 5
            );
            y += 24;
        }
        y += 8;
        for line in wrap(&self.footing(), 88) {
            body += &format!(
                "<text x=\"24\" y=\"{y}\" font-size=\"12\" fill=\"#555\">{}</text>\n",
                escape(&line)
            );
            y += 17;
        }
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {h}\" width=\"{WIDTH}\" height=\"{h}\" \
             font-family=\"Helvetica, Arial, sans-serif\" role=\"img\" aria-label=\"{}\">\n\
             <rect width=\"{WIDTH}\" height=\"{h}\" fill=\"#fff\" stroke=\"#bbb\"/>\n<g fill=\"#111\">\n{body}</g></svg>\n",
            escape(&self.heading()),
            h = y + 8
        )
    }

    /// The items as a FHIR R4 Questionnaire of yes/no questions.
    pub fn to_fhir_questionnaire(&self) -> String {
        let items: Vec<_> = self
            .items
            .iter()
            .enumerate()
            .map(|(place, item)| {
                json!({"linkId": format!("item-{}", place + 1), "text": item.text, "type": "boolean", "required": true})
            })
            .collect();
        let questionnaire = json!({
            "resourceType": "Questionnaire",
            "status": "draft",
            "title": self.heading(),
            "description": format!("Each yes is one point. Act at {} or more of {} points. {}",
                self.theta, self.items.len(), self.footing()),
            "item": items,
        });
        format!("{questionnaire:#}\n")
    }

    fn heading(&self) -> String {
        format!("Checklist for {}", self.outcome)
    }

    // Where the numbers come from belongs on the card itself.
    fn footing(&self) -> String {
        let training = &self.training;
        let mut text = format!(
            "Learnt from {} patients, {} with the outcome; AUROC {:.3} on them",
            training.rows, training.cases, training.auroc
        );
        text += &match &self.honest {
            Some(honest) => format!(
                ", {:.3} cross-validated ({:.3} to {:.3}).",
                honest.auroc, honest.interval[0], honest.interval[1]
            ),
            None => ", not cross-validated.".to_owned(),
        };
        text + " A missing value counts as no. Not validated for clinical use."
    }
}

fn whole(share: f64) -> String {
    if share > 0.0 && share < 0.01 {
        format!("{} %", percent(share))
    } else {
        format!("{:.0} %", 100.0 * share)
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

// Words in lines of at most `width` letters; a longer word has a line of its own.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.len() - 1;
        let line = &mut lines[last];
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
            lines.push(word.to_owned());
        } else {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}

const STYLE: &str = "body{font:17px/1.45 system-ui,sans-serif;margin:0;background:#f3f4f6;color:#15181c}\
main{max-width:40rem;margin:1.5rem auto;padding:1.25rem 1.5rem;background:#fff;border:1px solid #ccd;border-radius:10px}\
h1{font-size:1.3rem;margin:.2rem 0 1rem}label{display:flex;gap:.7rem;padding:.45rem 0;border-bottom:1px solid #e5e7eb}\
input{width:1.2rem;height:1.2rem;flex:none}#sum{padding:.6rem .8rem;background:#e8edf2;border-radius:6px}\
#sum.act,tr.act td{background:#fbe3e3}table{border-collapse:collapse;width:100%}th,td{text-align:right;padding:.25rem .6rem}\
.foot{font-size:.82rem;color:#555}@media (prefers-color-scheme:dark){body{background:#0f1215;color:#e6e8ea}\
main{background:#181c20;border-color:#333}label{border-color:#2c3238}#sum{background:#232a31}#sum.act,tr.act td{background:#4a1f1f}.foot{color:#aaa}}\
@media print{body{background:#fff}main{border:0}}";
