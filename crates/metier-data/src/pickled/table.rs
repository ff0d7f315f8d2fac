//! A pickled pandas table as a [`Frame`].

use super::array::{View, damaged, is_allowed};
use super::pickle::{Id, Pickle};
use crate::{Column, Frame, Values};
use metier_core::Result;

/// Reads a pickled pandas `DataFrame` without running anything that the pickle names.
///
/// Numbers, truth values (0 and 1) and categories of numbers become numbers; text and categories
/// of text become text. The row labels are dropped.
///
/// # Errors
/// Input errors for a pickle that names anything but the parts of a table, or that is damaged.
pub fn frame(bytes: &[u8]) -> Result<Frame> {
    let pickle = Pickle::read(bytes, is_allowed)?;
    let view = View(&pickle);
    let frame = view.call(pickle.result())?;
    if frame.name != "DataFrame" {
        return Err(damaged(format!("it holds a `{}`, not a table", frame.name)));
    }
    let state = frame.state.ok_or_else(|| damaged("the table has no content"))?;
    let manager = view.call(view.field(state, "_mgr")?)?;
    let ("BlockManager", &[blocks, axes]) = (manager.name, manager.arguments) else {
        return Err(damaged("the columns are kept in an unusual way"));
    };
    let &[columns, rows] = view.items(axes)? else {
        return Err(damaged("it has not two axes"));
    };
    let (_, names) = view.array(columns)?;
    let (rows, _) = view.array(rows)?;
    let &[height] = &rows[..] else {
        return Err(damaged("the rows are numbered in an unusual way"));
    };
    let names = Column { name: String::new(), values: names }.labels();
    let mut placed: Vec<Option<Values>> = names.iter().map(|_| None).collect();
    for &block in view.items(blocks)? {
        place(&view, block, height, &mut placed)?;
    }
    let columns = names.into_iter().zip(placed).enumerate().map(|(index, (name, values))| {
        let name = name.unwrap_or_else(|| format!("column {}", index + 1));
        match values {
            Some(values) => Ok(Column { name, values }),
            None => Err(damaged("a column has no values").in_field(name)),
        }
    });
    Frame::new(columns.collect::<Result<_>>()?)
}

// A block holds some columns of one type, one after the other, and says where they belong.
pub(super) fn place(
    view: &View<'_, '_>,
    block: Id,
    height: usize,
    placed: &mut [Option<Values>],
) -> Result<()> {
    let call = view.call(block)?;
    let ("_unpickle_block", &[values, placement, _]) = (call.name, call.arguments) else {
        return Err(damaged("the columns are kept in an unusual way"));
    };
    let places = places(view, placement, placed.len())?;
    let (shape, values) = view.array(values)?;
    if shape != [places.len(), height] && (shape != [height] || places.len() != 1) {
        return Err(damaged(format!(
            "columns of shape {shape:?} where [{}, {height}] is right",
            places.len()
        )));
    }
    // A range of row numbers has a length and no values.
    if values.len() != places.len() * height {
        return Err(damaged(format!("{} values for columns of shape {shape:?}", values.len())));
    }
    for (index, place) in places.into_iter().enumerate() {
        let part = index * height..(index + 1) * height;
        let slot = placed.get_mut(place).ok_or_else(|| damaged(format!("no column {place}")))?;
        *slot = Some(match &values {
            Values::Number(values) => Values::Number(values[part].to_vec()),
            Values::Text(values) => Values::Text(values[part].to_vec()),
        });
    }
    Ok(())
}

fn places(view: &View<'_, '_>, placement: Id, width: usize) -> Result<Vec<usize>> {
    let call = view.call(placement)?;
    if let ("slice", &[start, stop, step]) = (call.name, call.arguments) {
        let (start, stop, step) = (view.size(start)?, view.size(stop)?, view.size(step)?);
        // Bounded by the width, so that a short pickle cannot ask for endless columns.
        return Ok((start..stop.min(width)).step_by(step.max(1)).collect());
    }
    match view.array(placement)? {
        (_, Values::Number(places)) => Ok(places.into_iter().map(|place| place as usize).collect()),
        _ => Err(damaged("the places of columns are not numbers")),
    }
}
