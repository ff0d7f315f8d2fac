//! An inert reader of Python pickles.
//!
//! A pickle is a program for a small stack machine, and loading one the usual way runs whatever it
//! names. This reader never runs anything. It builds plain values; a call such as
//! `numpy.dtype("i8")` becomes an [`Node::Object`] that only *says* which name was called with
//! which arguments, and a name that is not on the caller's list ends the reading. Values live in one
//! arena and refer to each other by number, so that neither cycles nor deep nesting can harm.

use metier_core::{Error, Result};
use std::collections::HashMap;

/// The number of a value in its [`Pickle`].
pub(crate) type Id = usize;

/// One value; text and bytes are borrowed from the file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Node<'a> {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(&'a str),
    Bytes(&'a [u8]),
    Tuple(Vec<Id>),
    List(Vec<Id>),
    Dict(Vec<(Id, Id)>),
    /// A name that the pickle refers to: `module`, `name`.
    Global(&'a str, &'a str),
    /// A call that was not made: of a global, with arguments, and the state to be set afterwards.
    Object {
        class: Id,
        arguments: Id,
        state: Option<Id>,
    },
}

/// The values of one pickle and which of them is the result.
#[derive(Debug)]
pub(crate) struct Pickle<'a> {
    nodes: Vec<Node<'a>>,
    result: Id,
}

impl<'a> Pickle<'a> {
    /// Reads a pickle of protocol 2 to 5. `allowed` says which names may occur.
    ///
    /// # Errors
    /// Input errors that give the byte at fault: an opcode or a name that is not allowed, or a
    /// damaged program.
    pub(crate) fn read(bytes: &'a [u8], allowed: impl Fn(&str, &str) -> bool) -> Result<Self> {
        Machine {
            input: bytes,
            at: 0,
            nodes: Vec::new(),
            stack: Vec::new(),
            marks: Vec::new(),
            memo: HashMap::new(),
        }
        .run(allowed)
    }

    /// The value that the pickle holds.
    pub(crate) fn result(&self) -> Id {
        self.result
    }

    /// A value by its number.
    pub(crate) fn node(&self, id: Id) -> &Node<'a> {
        &self.nodes[id]
    }
}

struct Machine<'a> {
    input: &'a [u8],
    at: usize,
    nodes: Vec<Node<'a>>,
    stack: Vec<Id>,
    marks: Vec<usize>,
    memo: HashMap<u64, Id>,
}

impl<'a> Machine<'a> {
    fn run(mut self, allowed: impl Fn(&str, &str) -> bool) -> Result<Pickle<'a>> {
        if self.input.first() != Some(&0x80) {
            return Err(self.fault("does not begin as a pickle of protocol 2 to 5"));
        }
        loop {
            let start = self.at;
            let opcode = self.byte()?;
            match opcode {
                0x80 => {
                    let protocol = self.byte()?;
                    if !(2..=5).contains(&protocol) {
                        return Err(self.fault(format!("pickle protocol {protocol} is not known")));
                    }
                }
                // Frames only group bytes for a faster reading.
                0x95 => drop(self.take(8)?),
                b'.' => {
                    let result = self.pop()?;
                    return Ok(Pickle { nodes: self.nodes, result });
                }
                b'(' => self.marks.push(self.stack.len()),
                b'0' => drop(self.pop()?),
                b'1' => drop(self.since_mark()?),
                b'2' => {
                    let top = self.top()?;
                    self.stack.push(top);
                }
                b'N' => self.push(Node::None),
                0x88 => self.push(Node::Bool(true)),
                0x89 => self.push(Node::Bool(false)),
                b'K' | b'M' | b'J' | 0x8a => {
                    let value = self.integer(opcode)?;
                    self.push(Node::Int(value));
                }
                b'G' => {
                    let value = f64::from_be_bytes(self.array()?);
                    self.push(Node::Float(value));
                }
                0x8c | b'X' | 0x8d => {
                    let text = self.text(opcode)?;
                    self.push(Node::Text(text));
                }
                b'C' | b'B' | 0x8e | 0x96 => {
                    let length = match opcode {
                        b'C' => u64::from(self.byte()?),
                        b'B' => u64::from(u32::from_le_bytes(self.array()?)),
                        _ => u64::from_le_bytes(self.array()?),
                    };
                    let bytes = self.take(length)?;
                    self.push(Node::Bytes(bytes));
                }
                b')' => self.push(Node::Tuple(Vec::new())),
                0x85..=0x87 => {
                    let first = self.below_top(usize::from(opcode - 0x84))?;
                    let items = self.stack.split_off(first);
                    self.push(Node::Tuple(items));
                }
                b't' => {
                    let items = self.since_mark()?;
                    self.push(Node::Tuple(items));
                }
                b']' => self.push(Node::List(Vec::new())),
                b'}' => self.push(Node::Dict(Vec::new())),
                b'a' => {
                    let item = self.pop()?;
                    self.extend_list(&[item])?;
                }
                b'e' => {
                    let items = self.since_mark()?;
                    self.extend_list(&items)?;
                }
                b's' => {
                    let first = self.below_top(2)?;
                    let pair = self.stack.split_off(first);
                    self.extend_dict(&pair)?;
                }
                b'u' => {
                    let pairs = self.since_mark()?;
                    self.extend_dict(&pairs)?;
                }
                b'c' => {
                    let (module, name) = (self.line()?, self.line()?);
                    self.global(module, name, start, &allowed)?;
                }
                0x93 => {
                    let (name, module) = (self.pop_text()?, self.pop_text()?);
                    self.global(module, name, start, &allowed)?;
                }
                b'R' | 0x81 => {
                    let (arguments, class) = (self.pop()?, self.pop()?);
                    if !matches!(self.nodes[class], Node::Global(..)) {
                        return Err(self.fault("calls something that is not a name"));
                    }
                    self.push(Node::Object { class, arguments, state: None });
                }
                b'b' => {
                    let (given, object) = (self.pop()?, self.top()?);
                    match &mut self.nodes[object] {
                        Node::Object { state, .. } => *state = Some(given),
                        _ => return Err(self.fault("sets the state of a plain value")),
                    }
                }
                b'q' | b'r' => {
                    let key = match opcode {
                        b'q' => u64::from(self.byte()?),
                        _ => u64::from(u32::from_le_bytes(self.array()?)),
                    };
                    let top = self.top()?;
                    self.memo.insert(key, top);
                }
                0x94 => {
                    let top = self.top()?;
                    self.memo.insert(self.memo.len() as u64, top);
                }
                b'h' | b'j' => {
                    let key = match opcode {
                        b'h' => u64::from(self.byte()?),
                        _ => u64::from(u32::from_le_bytes(self.array()?)),
                    };
                    let id = self.memo.get(&key).copied();
                    self.stack.push(id.ok_or_else(|| self.fault("recalls what was not kept"))?);
                }
                other => {
                    self.at = start;
                    return Err(
                        self.fault(format!("the pickle opcode 0x{other:02x} is not allowed"))
                    );
                }
            }
        }
    }

    fn fault(&self, message: impl Into<String>) -> Error {
        Error::input(format!("byte {}: {}", self.at, message.into()))
            .help("only pickled tables of numbers and text are read; nothing in them is ever run")
    }

    fn take(&mut self, length: u64) -> Result<&'a [u8]> {
        let rest = &self.input[self.at..];
        match usize::try_from(length).ok().and_then(|length| rest.get(..length)) {
            Some(bytes) => {
                self.at += bytes.len();
                Ok(bytes)
            }
            None => Err(self.fault("the pickle is cut short")),
        }
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N as u64)?);
        Ok(array)
    }

    fn byte(&mut self) -> Result<u8> {
        Ok(self.array::<1>()?[0])
    }

    fn line(&mut self) -> Result<&'a str> {
        let rest = &self.input[self.at..];
        let Some(length) = rest.iter().position(|&byte| byte == b'\n') else {
            return Err(self.fault("the pickle is cut short"));
        };
        self.at += length + 1;
        std::str::from_utf8(&rest[..length]).map_err(|_| self.fault("a name is not UTF-8"))
    }

    fn integer(&mut self, opcode: u8) -> Result<i64> {
        Ok(match opcode {
            b'K' => i64::from(self.byte()?),
            b'M' => i64::from(u16::from_le_bytes(self.array()?)),
            b'J' => i64::from(i32::from_le_bytes(self.array()?)),
            _ => {
                let length = self.byte()?;
                let bytes = self.take(u64::from(length))?;
                if bytes.len() > 8 {
                    return Err(self.fault("an integer has more than 64 bits"));
                }
                let negative = bytes.last().is_some_and(|byte| byte & 0x80 != 0);
                let mut wide = [if negative { 0xff } else { 0 }; 8];
                wide[..bytes.len()].copy_from_slice(bytes);
                i64::from_le_bytes(wide)
            }
        })
    }

    fn text(&mut self, opcode: u8) -> Result<&'a str> {
        let length = match opcode {
            0x8c => u64::from(self.byte()?),
            b'X' => u64::from(u32::from_le_bytes(self.array()?)),
            _ => u64::from_le_bytes(self.array()?),
        };
        let bytes = self.take(length)?;
        std::str::from_utf8(bytes).map_err(|_| self.fault("a text is not UTF-8"))
    }

    fn push(&mut self, node: Node<'a>) {
        self.stack.push(self.nodes.len());
        self.nodes.push(node);
    }

    // Nothing below the innermost mark may be touched before the mark is taken away.
    fn floor(&self) -> usize {
        self.marks.last().copied().unwrap_or(0)
    }

    fn below_top(&self, count: usize) -> Result<usize> {
        let first = self.stack.len().checked_sub(count).filter(|&first| first >= self.floor());
        first.ok_or_else(|| self.fault("the stack is empty"))
    }

    fn top(&self) -> Result<Id> {
        Ok(self.stack[self.below_top(1)?])
    }

    fn pop(&mut self) -> Result<Id> {
        let top = self.top()?;
        self.stack.pop();
        Ok(top)
    }

    fn pop_text(&mut self) -> Result<&'a str> {
        let id = self.pop()?;
        match self.nodes[id] {
            Node::Text(text) => Ok(text),
            _ => Err(self.fault("a name is not a text")),
        }
    }

    fn since_mark(&mut self) -> Result<Vec<Id>> {
        let mark = self.marks.pop().ok_or_else(|| self.fault("there is no mark"))?;
        Ok(self.stack.split_off(mark))
    }

    fn extend_list(&mut self, items: &[Id]) -> Result<()> {
        let list = self.top()?;
        match &mut self.nodes[list] {
            Node::List(held) => held.extend_from_slice(items),
            _ => return Err(self.fault("appends to what is not a list")),
        }
        Ok(())
    }

    fn extend_dict(&mut self, items: &[Id]) -> Result<()> {
        let dict = self.top()?;
        match &mut self.nodes[dict] {
            Node::Dict(held) if items.len().is_multiple_of(2) => {
                held.extend(items.chunks_exact(2).map(|pair| (pair[0], pair[1])));
            }
            _ => return Err(self.fault("sets items of what is not a dictionary")),
        }
        Ok(())
    }

    fn global(
        &mut self,
        module: &'a str,
        name: &'a str,
        start: usize,
        allowed: &impl Fn(&str, &str) -> bool,
    ) -> Result<()> {
        if !allowed(module, name) {
            self.at = start;
            return Err(
                self.fault(format!("the pickle refers to `{module}.{name}`, which is refused"))
            );
        }
        self.push(Node::Global(module, name));
        Ok(())
    }
}
