//! The experiment: the closed forms against dense solves, the limit against what it is the limit of,
//! and handwritten digits read pixel by pixel through a fixed memory.

mod arms;
mod digits;
mod identities;
mod recall;

use metier_core::{Card, Finding, Lab, Method, Result};

/// The method, for the list of methods.
pub struct Hippo;

static CARD: Card = Card {
    id: "hippo",
    name: "Continuized HiPPO",
    paper: "\"Continuized-HiPPO\", ICML 2026, known to us by its abstract alone; derivations are our \
            own. HiPPO: Gu, Dao, Ermon, Rudra & Ré, arXiv 2008.07669",
    job: "turn sequences into a few states that hold their past",
    command: "metier hippo features --in series.csv --column load --states 32 -o states.npy",
    data: "1,797 handwritten digits of 8 x 8 pixels (embedded)",
    data_licence: "CC BY 4.0",
};

impl Method for Hippo {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn evidence(&self, lab: &mut Lab) -> Result<Finding> {
        let mut finding = Finding::default();
        identities::identities(lab, &mut finding)?;
        recall::recall(lab, &mut finding)?;
        digits::digits(lab, &mut finding)?;
        finding.notes.push(
            "Of the paper only the abstract could be found. The identities hold whatever its own \
             normalisation is."
                .into(),
        );
        Ok(finding)
    }
}
