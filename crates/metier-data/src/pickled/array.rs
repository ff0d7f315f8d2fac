//! NumPy arrays and pandas columns inside a pickle, as plain values.

use super::pickle::{Id, Node, Pickle};
use crate::Values;
use crate::frame::format_number;
use metier_core::{Error, Result};

/// The names that a pickled table may refer to, as module and name.
const ALLOWED: &[(&str, &str)] = &[
    ("builtins", "slice"),
    ("numpy", "dtype"),
    ("numpy", "ndarray"),
    ("numpy.core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "_reconstruct"),
    ("numpy.core.numeric", "_frombuffer"),
    ("numpy._core.numeric", "_frombuffer"),
    ("pandas._libs.arrays", "__pyx_unpickle_NDArrayBacked"),
    ("pandas._libs.internals", "_unpickle_block"),
    ("pandas.core.arrays.boolean", "BooleanArray"),
    ("pandas.core.arrays.boolean", "BooleanDtype"),
    ("pandas.core.arrays.categorical", "Categorical"),
    ("pandas.core.arrays.floating", "FloatingArray"),
    ("pandas.core.arrays.floating", "Float64Dtype"),
    ("pandas.core.arrays.integer", "IntegerArray"),
    ("pandas.core.arrays.integer", "Int32Dtype"),
    ("pandas.core.arrays.integer", "Int64Dtype"),
    ("pandas.core.arrays.string_", "StringArray"),
    ("pandas.core.arrays.string_", "StringDtype"),
    ("pandas.core.dtypes.dtypes", "CategoricalDtype"),
    ("pandas.core.frame", "DataFrame"),
    ("pandas.core.indexes.base", "Index"),
    ("pandas.core.indexes.base", "_new_Index"),
    ("pandas.core.indexes.range", "RangeIndex"),
    ("pandas.core.internals.managers", "BlockManager"),
];

// A column is an array of an index of an array at the deepest; more is a pickle that bites its tail.
const DEEPEST: usize = 8;

pub(super) fn is_allowed(module: &str, name: &str) -> bool {
    ALLOWED.contains(&(module, name))
}

/// A call in the pickle: the name that was called, its arguments and the state set afterwards.
pub(super) struct Call<'p> {
    pub(super) name: &'p str,
    pub(super) arguments: &'p [Id],
    pub(super) state: Option<Id>,
}

/// Access to the values of a pickle by what they should be.
pub(super) struct View<'p, 'a>(pub(super) &'p Pickle<'a>);

impl<'p, 'a> View<'p, 'a> {
    pub(super) fn call(&self, id: Id) -> Result<Call<'p>> {
        match self.0.node(id) {
            Node::Object { class, arguments, state } => {
                let name = self.global(*class)?;
                Ok(Call { name, arguments: self.items(*arguments)?, state: *state })
            }
            other => Err(unfit("a call", other)),
        }
    }

    pub(super) fn global(&self, id: Id) -> Result<&'p str> {
        match self.0.node(id) {
            Node::Global(_, name) => Ok(name),
            other => Err(unfit("a name", other)),
        }
    }

    pub(super) fn items(&self, id: Id) -> Result<&'p [Id]> {
        match self.0.node(id) {
            Node::Tuple(items) | Node::List(items) => Ok(items),
            other => Err(unfit("a list", other)),
        }
    }

    pub(super) fn integer(&self, id: Id) -> Result<i64> {
        match self.0.node(id) {
            Node::Int(value) => Ok(*value),
            other => Err(unfit("an integer", other)),
        }
    }

    pub(super) fn size(&self, id: Id) -> Result<usize> {
        let value = self.integer(id)?;
        usize::try_from(value).map_err(|_| damaged(format!("a size is {value}")))
    }

    pub(super) fn field(&self, dict: Id, key: &str) -> Result<Id> {
        let Node::Dict(pairs) = self.0.node(dict) else {
            return Err(unfit("a dictionary", self.0.node(dict)));
        };
        // As in Python, the last assignment counts.
        let found = pairs.iter().rev().find(|(name, _)| *self.0.node(*name) == Node::Text(key));
        found.map(|(_, value)| *value).ok_or_else(|| damaged(format!("`{key}` is missing")))
    }

    /// The shape and the values of an array or a pandas column.
    pub(super) fn array(&self, id: Id) -> Result<(Vec<usize>, Values)> {
        self.array_within(id, DEEPEST)
    }

    fn array_within(&self, id: Id, depth: usize) -> Result<(Vec<usize>, Values)> {
        let depth = depth.checked_sub(1).ok_or_else(|| damaged("arrays are nested too deeply"))?;
        let call = self.call(id)?;
        match (call.name, call.arguments) {
            ("_frombuffer", &[bytes, dtype, shape, order]) => {
                let fortran = matches!(self.0.node(order), Node::Text("F"));
                self.typed(bytes, dtype, shape, fortran)
            }
            ("_reconstruct", _) => match self.state(&call)? {
                &[_, shape, dtype, fortran, data] => {
                    let fortran = matches!(self.0.node(fortran), Node::Bool(true));
                    self.typed(data, dtype, shape, fortran)
                }
                _ => Err(damaged("an array has no content")),
            },
            ("__pyx_unpickle_NDArrayBacked", &[class, ..]) => {
                let &[first, second, ..] = self.state(&call)? else {
                    return Err(damaged("a column has no content"));
                };
                match self.global(class)? {
                    "Categorical" => self.categorical(first, second, depth),
                    // Text: the array stands beside its type, in either order.
                    _ => self
                        .array_within(first, depth)
                        .or_else(|_| self.array_within(second, depth)),
                }
            }
            ("IntegerArray" | "FloatingArray" | "BooleanArray", _) => {
                let state = call.state.ok_or_else(|| damaged("a column has no content"))?;
                self.masked(self.field(state, "_data")?, self.field(state, "_mask")?, depth)
            }
            ("_new_Index", &[class, fields]) => match self.global(class)? {
                "RangeIndex" => self.range(fields),
                _ => self.array_within(self.field(fields, "data")?, depth),
            },
            (name, _) => Err(damaged(format!("`{name}` is no array"))),
        }
    }

    fn state(&self, call: &Call<'p>) -> Result<&'p [Id]> {
        self.items(call.state.ok_or_else(|| damaged("an array has no content"))?)
    }

    fn range(&self, fields: Id) -> Result<(Vec<usize>, Values)> {
        let part = |name| self.integer(self.field(fields, name)?);
        let (start, stop, step) = (part("start")?, part("stop")?, part("step")?);
        // A range costs no bytes in the file, so its length must be bounded here.
        let length = stop.saturating_sub(start).max(0) as usize;
        if step != 1 || length > 1 << 32 {
            return Err(damaged("the rows are numbered in an unusual way"));
        }
        Ok((vec![length], Values::Number(Vec::new())))
    }

    fn typed(&self, data: Id, dtype: Id, shape: Id, fortran: bool) -> Result<(Vec<usize>, Values)> {
        let shape = self.items(shape)?.iter().map(|&d| self.size(d)).collect::<Result<Vec<_>>>()?;
        let count = shape.iter().try_fold(1usize, |count, &side| count.checked_mul(side));
        let count = count.ok_or_else(|| damaged("an array is too large"))?;
        let (kind, big_endian) = self.dtype(dtype)?;
        let values = match self.0.node(data) {
            Node::Bytes(bytes) => Values::Number(numbers(bytes, kind, big_endian)?),
            Node::List(items) if kind == "O8" => self.objects(items)?,
            other => return Err(unfit("the content of an array", other)),
        };
        if values.len() != count {
            return Err(damaged(format!(
                "an array of shape {shape:?} holds {} values",
                values.len()
            )));
        }
        let values = match (fortran, &shape[..]) {
            (true, &[rows, columns]) => transposed(values, rows, columns),
            _ => values,
        };
        Ok((shape, values))
    }

    fn dtype(&self, id: Id) -> Result<(&'p str, bool)> {
        let call = self.call(id)?;
        match (call.name, call.arguments) {
            ("dtype", &[kind, ..]) => {
                let Node::Text(kind) = self.0.node(kind) else {
                    return Err(unfit("a type", self.0.node(kind)));
                };
                let big_endian = match call.state {
                    Some(state) => self
                        .items(state)?
                        .get(1)
                        .is_some_and(|&order| *self.0.node(order) == Node::Text(">")),
                    None => false,
                };
                Ok((kind, big_endian))
            }
            (name, _) => Err(damaged(format!("`{name}` is no type of numbers"))),
        }
    }

    // Text and numbers may stand side by side in an array of objects; then all become text.
    fn objects(&self, items: &[Id]) -> Result<Values> {
        let is_text = items.iter().any(|&id| matches!(self.0.node(id), Node::Text(_)));
        let number = |id: Id| match self.0.node(id) {
            Node::None => Ok(f64::NAN),
            Node::Bool(value) => Ok(f64::from(u8::from(*value))),
            Node::Int(value) => Ok(*value as f64),
            Node::Float(value) => Ok(*value),
            other => Err(unfit("a number or a text", other)),
        };
        if !is_text {
            return Ok(Values::Number(items.iter().map(|&id| number(id)).collect::<Result<_>>()?));
        }
        let text = |id: Id| match self.0.node(id) {
            Node::Text(text) => Ok(Some((*text).to_owned())),
            _ => number(id).map(|value| (!value.is_nan()).then(|| format_number(value))),
        };
        Ok(Values::Text(items.iter().map(|&id| text(id)).collect::<Result<_>>()?))
    }

    fn masked(&self, data: Id, mask: Id, depth: usize) -> Result<(Vec<usize>, Values)> {
        let (shape, values) = self.array_within(data, depth)?;
        let (_, mask) = self.array_within(mask, depth)?;
        match (values, mask) {
            (Values::Number(mut values), Values::Number(mask)) if values.len() == mask.len() => {
                for (value, _) in values.iter_mut().zip(&mask).filter(|(_, hidden)| **hidden != 0.0)
                {
                    *value = f64::NAN;
                }
                Ok((shape, Values::Number(values)))
            }
            _ => Err(damaged("a column and its mask do not fit")),
        }
    }

    // The type and the codes come in either order, as pandas itself allows.
    fn categorical(&self, first: Id, second: Id, depth: usize) -> Result<(Vec<usize>, Values)> {
        let is_type = |id| self.call(id).is_ok_and(|call| call.name == "CategoricalDtype");
        let (dtype, codes) = if is_type(first) { (first, second) } else { (second, first) };
        let state = self.call(dtype)?.state.ok_or_else(|| damaged("categories are missing"))?;
        let (_, levels) = self.array_within(self.field(state, "categories")?, depth)?;
        let (shape, Values::Number(codes)) = self.array_within(codes, depth)? else {
            return Err(damaged("the codes of categories are not numbers"));
        };
        let level = |code: f64| match code {
            -1.0 => Ok(None),
            code if code >= 0.0 && (code as usize) < levels.len() => Ok(Some(code as usize)),
            code => Err(damaged(format!("code {code} of {} categories", levels.len()))),
        };
        let picked = codes.into_iter().map(level).collect::<Result<Vec<_>>>()?;
        let pick = picked.into_iter();
        Ok((
            shape,
            match levels {
                Values::Number(levels) => Values::Number(
                    pick.map(|code| code.map_or(f64::NAN, |code| levels[code])).collect(),
                ),
                Values::Text(levels) => Values::Text(
                    pick.map(|code| code.and_then(|code| levels[code].clone())).collect(),
                ),
            },
        ))
    }
}

fn numbers(bytes: &[u8], kind: &str, big_endian: bool) -> Result<Vec<f64>> {
    macro_rules! decode {
        ($number:ty) => {{
            let chunks = bytes.as_chunks::<{ size_of::<$number>() }>();
            if !chunks.1.is_empty() {
                return Err(damaged("an array ends within a number"));
            }
            let read = if big_endian { <$number>::from_be_bytes } else { <$number>::from_le_bytes };
            chunks.0.iter().map(|&chunk| read(chunk) as f64).collect()
        }};
    }
    Ok(match kind {
        "f8" => decode!(f64),
        "f4" => decode!(f32),
        "i8" => decode!(i64),
        "i4" => decode!(i32),
        "i2" => decode!(i16),
        "i1" => decode!(i8),
        "u8" => decode!(u64),
        "u4" => decode!(u32),
        "u2" => decode!(u16),
        "u1" | "b1" => decode!(u8),
        other => return Err(damaged(format!("arrays of type `{other}` are not read"))),
    })
}

fn transposed(values: Values, rows: usize, columns: usize) -> Values {
    let order = (0..rows).flat_map(|row| (0..columns).map(move |column| column * rows + row));
    match values {
        Values::Number(values) => Values::Number(order.map(|at| values[at]).collect()),
        Values::Text(values) => Values::Text(order.map(|at| values[at].clone()).collect()),
    }
}

pub(super) fn damaged(message: impl Into<String>) -> Error {
    Error::input(format!("the pickled table is damaged or unusual: {}", message.into()))
}

fn unfit(wanted: &str, found: &Node<'_>) -> Error {
    let kind = match found {
        Node::None => "nothing",
        Node::Bool(_) => "a truth value",
        Node::Int(_) | Node::Float(_) => "a number",
        Node::Text(_) => "a text",
        Node::Bytes(_) => "bytes",
        Node::Tuple(_) | Node::List(_) => "a list",
        Node::Dict(_) => "a dictionary",
        Node::Global(..) => "a name",
        Node::Object { .. } => "an object",
    };
    damaged(format!("{kind} stands where {wanted} should"))
}
