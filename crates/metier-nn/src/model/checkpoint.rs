//! Weights in safetensors files, whole or sharded.

use super::parameters::{HostParameter, with_prefix};
use half::{bf16, f16};
use memmap2::Mmap;
use metier_core::{Error, Result, files};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::{Path, PathBuf};

const INDEX: &str = "model.safetensors.index.json";

/// Reads every tensor of a safetensors file, or of those of a Hugging Face folder, as f32, in the order
/// of their names, `h.2` before `h.10`. F32, F16 and BF16 are understood.
///
/// # Errors
/// A file that cannot be read or is not safetensors; a tensor of another kind, by name.
pub fn read_tensors(path: &Path) -> Result<Vec<HostParameter>> {
    let files = if path.is_dir() { shards(path)? } else { vec![path.to_owned()] };
    let mut tensors = Vec::new();
    for path in &files {
        let map = map(path)?;
        for (name, view) in parse(&map, path)?.iter() {
            tensors.push(HostParameter {
                name: name.into(),
                shape: view.shape().to_vec(),
                data: to_f32(&view, name).map_err(|error| error.in_file(path))?,
            });
        }
    }
    tensors.sort_by(|a, b| by_parts(&a.name).cmp(by_parts(&b.name)));
    Ok(tensors)
}

/// The parts of a name, numbers as numbers.
fn by_parts(name: &str) -> impl Iterator<Item = (Option<u64>, &str)> {
    name.split('.').map(|part| (part.parse().ok(), part))
}

/// Writes tensors in f32 to `model.safetensors` in a folder; beyond 5 GB, as other programs expect it, to
/// several files with an index. Each file appears when it is complete, the index last.
///
/// # Errors
/// An I/O error that names the file.
pub fn write_weights(folder: &Path, tensors: &[HostParameter]) -> Result<()> {
    write_shards(folder, tensors, 5_000_000_000)
}

/// [`write_weights`] with at most `most` bytes in a file, unless a single tensor has more.
pub(super) fn write_shards(folder: &Path, tensors: &[HostParameter], most: usize) -> Result<()> {
    let size = |tensor: &HostParameter| 4 * tensor.data.len();
    let mut parts: Vec<&[HostParameter]> = Vec::new();
    let (mut first, mut held) = (0, 0);
    for (at, tensor) in tensors.iter().enumerate() {
        if at > first && held + size(tensor) > most {
            parts.push(&tensors[first..at]);
            (first, held) = (at, 0);
        }
        held += size(tensor);
    }
    parts.push(&tensors[first..]);
    if let [all] = parts[..] {
        return write_tensors(&folder.join("model.safetensors"), all);
    }
    let mut places = Map::new();
    for (number, part) in (1..).zip(&parts) {
        let name = format!("model-{number:05}-of-{:05}.safetensors", parts.len());
        write_tensors(&folder.join(&name), part)?;
        places.extend(part.iter().map(|tensor| (tensor.name.clone(), json!(name))));
    }
    let total: usize = tensors.iter().map(size).sum();
    let index = json!({"metadata": {"total_size": total}, "weight_map": places});
    files::write_bytes(&folder.join(INDEX), format!("{index:#}\n").as_bytes())
}

/// Writes tensors to a safetensors file in f32, atomically.
///
/// # Errors
/// An I/O error that names the file.
pub fn write_tensors(path: &Path, tensors: &[HostParameter]) -> Result<()> {
    let bytes: Vec<Vec<u8>> = tensors
        .iter()
        .map(|tensor| tensor.data.iter().flat_map(|value| value.to_le_bytes()).collect())
        .collect();
    let mut views = BTreeMap::new();
    for (tensor, bytes) in tensors.iter().zip(&bytes) {
        let view = TensorView::new(Dtype::F32, tensor.shape.clone(), bytes)
            .map_err(|error| Error::internal(format!("{}: {error}", tensor.name)).in_file(path))?;
        views.insert(tensor.name.as_str(), view);
    }
    let metadata = Some([("format".to_string(), "pt".to_string())].into());
    let content = safetensors::serialize(views, metadata)
        .map_err(|error| Error::internal(error.to_string()).in_file(path))?;
    files::write_bytes(path, &content)
}

/// The values of the expected parameters, in their order, from a Hugging Face folder. Tensors that
/// are not expected are left alone: files hold buffers and tied copies beside the weights.
pub(super) fn read_parameters(
    folder: &Path,
    expected: &[(String, Vec<usize>)],
    prefix: &str,
) -> Result<Vec<Vec<f32>>> {
    let mut found: BTreeMap<String, (PathBuf, Vec<usize>, Vec<f32>)> = BTreeMap::new();
    let wanted: BTreeSet<&str> = expected.iter().map(|(name, _)| name.as_str()).collect();
    for path in shards(folder)? {
        let map = map(&path)?;
        for (name, view) in parse(&map, &path)?.iter() {
            let full = if wanted.contains(name) { name.into() } else { with_prefix(name, prefix) };
            if wanted.contains(&*full) {
                let data = to_f32(&view, name).map_err(|error| error.in_file(&path))?;
                found.insert(full.into_owned(), (path.clone(), view.shape().to_vec(), data));
            }
        }
    }
    expected
        .iter()
        .map(|(name, shape)| match found.remove(name) {
            None => Err(Error::input(format!("the tensor {name} {shape:?} is missing"))
                .in_file(folder)
                .help("does config.json belong to these weights?")),
            Some((path, held, _)) if held != *shape => Err(Error::input(format!(
                "the tensor {name} has the shape {held:?}; config.json asks for {shape:?}"
            ))
            .in_file(path)),
            Some((_, _, data)) => Ok(data),
        })
        .collect()
}

/// The weight files of a folder.
fn shards(folder: &Path) -> Result<Vec<PathBuf>> {
    let whole = folder.join("model.safetensors");
    if whole.exists() {
        return Ok(vec![whole]);
    }
    let index = folder.join(INDEX);
    if !index.exists() {
        return Err(Error::missing("neither model.safetensors nor its index is there")
            .in_file(folder)
            .help("weights are read from safetensors files; pickled ones are never loaded"));
    }
    let text = std::fs::read_to_string(&index).map_err(|source| Error::io(&index, source))?;
    let wrong = |message: String| Error::input(message).in_file(&index);
    let value: Value = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    let files = value
        .get("weight_map")
        .and_then(Value::as_object)
        .ok_or_else(|| wrong("weight_map is missing".into()))?
        .values()
        .map(|file| file.as_str().ok_or_else(|| wrong(format!("{file} is not a file name"))))
        .collect::<Result<BTreeSet<_>>>()?;
    files
        .into_iter()
        .map(|file| match Path::new(file).file_name() {
            Some(name) if name == file => Ok(folder.join(file)),
            _ => Err(wrong(format!("{file} is not a plain file name"))),
        })
        .collect()
}

fn map(path: &Path) -> Result<Mmap> {
    let file = File::open(path).map_err(|source| Error::io(path, source))?;
    crate::mapped::read_only(&file).map_err(|source| Error::io(path, source))
}

fn parse<'a>(map: &'a Mmap, path: &Path) -> Result<SafeTensors<'a>> {
    SafeTensors::deserialize(map)
        .map_err(|error| Error::input(format!("not a safetensors file: {error}")).in_file(path))
}

fn to_f32(view: &TensorView<'_>, name: &str) -> Result<Vec<f32>> {
    let data = view.data();
    let pairs = || data.chunks_exact(2).map(|b| [b[0], b[1]]);
    match view.dtype() {
        Dtype::F32 => {
            Ok(data.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect())
        }
        Dtype::F16 => Ok(pairs().map(|b| f16::from_le_bytes(b).to_f32()).collect()),
        Dtype::BF16 => Ok(pairs().map(|b| bf16::from_le_bytes(b).to_f32()).collect()),
        other => Err(Error::input(format!("the tensor {name} is of the kind {other:?}"))
            .help("F32, F16 and BF16 are understood")),
    }
}
