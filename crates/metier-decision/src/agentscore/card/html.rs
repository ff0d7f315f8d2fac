//! The card as a page that adds up.

use super::{escape, whole};
use crate::agentscore::Checklist;
use serde_json::json;

impl Checklist {
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
}

// The report of a validation wears the same clothes.
pub(in crate::agentscore) const STYLE: &str = "body{font:17px/1.45 system-ui,sans-serif;margin:0;background:#f3f4f6;color:#15181c}\
main{max-width:40rem;margin:1.5rem auto;padding:1.25rem 1.5rem;background:#fff;border:1px solid #ccd;border-radius:10px}\
h1{font-size:1.3rem;margin:.2rem 0 1rem}label{display:flex;gap:.7rem;padding:.45rem 0;border-bottom:1px solid #e5e7eb}\
input{width:1.2rem;height:1.2rem;flex:none}#sum{padding:.6rem .8rem;background:#e8edf2;border-radius:6px}\
#sum.act,tr.act td{background:#fbe3e3}table{border-collapse:collapse;width:100%}th,td{text-align:right;padding:.25rem .6rem}\
.foot{font-size:.82rem;color:#555}@media (prefers-color-scheme:dark){body{background:#0f1215;color:#e6e8ea}\
main{background:#181c20;border-color:#333}label{border-color:#2c3238}#sum{background:#232a31}#sum.act,tr.act td{background:#4a1f1f}.foot{color:#aaa}}\
@media print{body{background:#fff}main{border:0}}";
