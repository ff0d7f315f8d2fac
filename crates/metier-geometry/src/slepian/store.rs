//! A fitted encoder as one safetensors file, and a basis as safetensors or npz for other programs.

use super::basis::{Part, SlepianBasis};
use super::cap::{Cap, CapBasis, Radial};
use super::dual::DualBasis;
use super::encoder::{MAX_GLOBAL, Scaler, SlepianEncoder};
use super::raster::Raster;
use super::region::Region;
use crate::sphere::dot;
use metier_core::{Error, Progress, Result, Silent, files};
use ndarray::{Array1, Array2, ArrayView2};
use ndarray_npy::NpzWriter;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::io::Cursor;
use std::path::Path;

const FORMAT: &str = "metier-slepian-1";

// What does not fit into tensors.
#[derive(Serialize, Deserialize)]
struct Header {
    global_l: usize,
    l: usize,
    shannon: f64,
    region: Region,
    parts: Vec<PartHeader>,
    warnings: Vec<String>,
    names: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    raster: Option<Raster>,
}

#[derive(Serialize, Deserialize)]
enum PartHeader {
    // The number of radial functions of each order.
    Cap { cap: Cap, counts: Vec<usize> },
    Dual,
}

struct Tensor {
    name: String,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

impl Tensor {
    fn new(
        name: impl Into<String>,
        shape: &[usize],
        values: impl IntoIterator<Item = f64>,
    ) -> Self {
        let bytes = values.into_iter().flat_map(f64::to_le_bytes).collect();
        Self { name: name.into(), shape: shape.to_vec(), bytes }
    }
}

impl SlepianEncoder {
    /// Writes the encoder as one safetensors file, from which [`load`](Self::load) makes the same
    /// encoder to the last digit.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn save(&self, path: &Path) -> Result<()> {
        files::write_bytes(path, &self.to_bytes()?)
    }

    /// Reads an encoder that [`save`](Self::save) wrote.
    ///
    /// # Errors
    /// A missing file, or one that holds no encoder of this version.
    pub fn load(path: &Path) -> Result<Self> {
        let bytes = std::fs::read(path).map_err(|source| Error::io(path, source))?;
        Self::from_bytes(&bytes).map_err(|error| error.in_file(path))
    }

    /// The safetensors file itself, for a place that is no file.
    ///
    /// ```
    /// use metier_geometry::slepian::{Region, SlepianConfig, SlepianEncoder};
    /// let config = SlepianConfig { region: Region::cap(10.0, 50.0, 9.0).into(), ..Default::default() };
    /// let encoder = SlepianEncoder::fit(&config, &[9.0, 11.0], &[50.0, 51.0])?;
    /// let again = SlepianEncoder::from_bytes(&encoder.to_bytes()?)?;
    /// assert_eq!(again.transform(&[9.5], &[50.5])?, encoder.transform(&[9.5], &[50.5])?);
    /// # Ok::<(), metier_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// Only internal ones.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut tensors = Vec::new();
        let mut parts = Vec::new();
        for (number, part) in self.basis.parts.iter().enumerate() {
            parts.push(part_tensors(number, part, &mut tensors));
        }
        if let Some(scaler) = &self.scaler {
            let n = scaler.mean.len();
            tensors.push(Tensor::new("scaler.mean", &[n], scaler.mean.iter().copied()));
            tensors.push(Tensor::new("scaler.deviation", &[n], scaler.deviation.iter().copied()));
        }
        let header = Header {
            global_l: self.global_l,
            l: self.basis.bandwidth(),
            shannon: self.basis.shannon(),
            region: self.region.clone(),
            parts,
            warnings: self.warnings.clone(),
            names: self.feature_names(),
            raster: self.raster,
        };
        serialized(&tensors, Some(&header))
    }

    /// The encoder that [`to_bytes`](Self::to_bytes) wrote down.
    ///
    /// # Errors
    /// Bytes that hold no encoder of this version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        read_encoder(bytes)
    }
}

impl SlepianBasis {
    /// Writes lambda, names and the coefficients over the harmonics of the geographic frame (see
    /// [`coefficients`](Self::coefficients)) as `.safetensors` or `.npz`, for other programs.
    ///
    /// # Errors
    /// Another ending, too many coefficients, or a file that cannot be written.
    pub fn export(&self, path: &Path) -> Result<()> {
        self.export_with_progress(path, &Silent)
    }

    /// [`export`](Self::export), which takes long at high degrees.
    ///
    /// # Errors
    /// As there, or a request to stop, after which no file is written.
    pub fn export_with_progress(&self, path: &Path, progress: &dyn Progress) -> Result<()> {
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        if !["npz", "safetensors"].contains(&ending) {
            return Err(Error::usage(format!("cannot write a basis as `.{ending}`"))
                .in_file(path)
                .help("a basis is written as .npz or .safetensors"));
        }
        let coefficients = self.coefficients_with_progress(progress)?;
        if ending == "npz" {
            return files::write_bytes(path, &npz(self.lambda(), &coefficients)?);
        }
        let (rows, columns) = coefficients.dim();
        let tensors = [
            Tensor::new("lambda", &[self.len()], self.lambda().iter().copied()),
            Tensor::new("coefficients", &[rows, columns], coefficients.iter().copied()),
        ];
        files::write_bytes(path, &serialized(&tensors, None)?)
    }
}

fn npz(lambda: &[f64], coefficients: &Array2<f64>) -> Result<Vec<u8>> {
    let fault = |error: ndarray_npy::WriteNpzError| Error::internal(error.to_string());
    let mut bytes = Cursor::new(Vec::new());
    let mut archive = NpzWriter::new(&mut bytes);
    archive.add_array("lambda", &Array1::from(lambda.to_vec())).map_err(fault)?;
    archive.add_array("coefficients", coefficients).map_err(fault)?;
    archive.finish().map_err(fault)?;
    Ok(bytes.into_inner())
}

fn part_tensors(number: usize, part: &Part, tensors: &mut Vec<Tensor>) -> PartHeader {
    let name = |what: &str| format!("part{number}.{what}");
    match part {
        Part::Cap(basis) => {
            let all: Vec<&Radial> = basis.radials.iter().flatten().collect();
            let lambdas = all.iter().map(|function| function.lambda);
            tensors.push(Tensor::new(name("lambda"), &[all.len()], lambdas));
            // Order after order, the degrees m..=L of each function.
            let coefficients = || all.iter().flat_map(|function| &function.coefficients).copied();
            let count = coefficients().count();
            tensors.push(Tensor::new(name("coefficients"), &[count], coefficients()));
            let counts = basis.radials.iter().map(Vec::len).collect();
            PartHeader::Cap { cap: basis.cap, counts }
        }
        Part::Dual(basis) => {
            let (nodes, modes) = (basis.nodes.len(), basis.lambda.len());
            tensors.push(Tensor::new(name("lambda"), &[modes], basis.lambda.iter().copied()));
            let places = basis.nodes.iter().flatten().copied();
            tensors.push(Tensor::new(name("nodes"), &[nodes, 3], places));
            let rows = (0..nodes).flat_map(|i| (0..modes).map(move |k| basis.coefficients[(i, k)]));
            tensors.push(Tensor::new(name("coefficients"), &[nodes, modes], rows));
            PartHeader::Dual
        }
    }
}

fn serialized(tensors: &[Tensor], header: Option<&Header>) -> Result<Vec<u8>> {
    let mut views = Vec::with_capacity(tensors.len());
    for tensor in tensors {
        let view = TensorView::new(Dtype::F64, tensor.shape.clone(), &tensor.bytes)
            .map_err(|error| Error::internal(error.to_string()))?;
        views.push((tensor.name.clone(), view));
    }
    let mut metadata = HashMap::from([("format".to_owned(), FORMAT.to_owned())]);
    if let Some(header) = header {
        let text =
            serde_json::to_string(header).map_err(|error| Error::internal(error.to_string()))?;
        metadata.insert("encoder".into(), text);
    }
    safetensors::serialize(views, Some(metadata))
        .map_err(|error| Error::internal(error.to_string()))
}

fn damaged(what: impl std::fmt::Display) -> Error {
    Error::input(format!("this is no saved encoder: {what}"))
        .help("`metier slepian encode --save` writes one")
}

fn misfit() -> Error {
    damaged("its tensors do not fit each other")
}

fn read_encoder(bytes: &[u8]) -> Result<SlepianEncoder> {
    let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(damaged)?;
    let entries = metadata.metadata().clone().unwrap_or_default();
    if entries.get("format").map(String::as_str) != Some(FORMAT) {
        return Err(damaged(format!("its format is not {FORMAT}")));
    }
    let text = entries.get("encoder").ok_or_else(|| damaged("it holds a basis alone"))?;
    let header: Header = serde_json::from_str(text).map_err(damaged)?;
    let tensors = Tensors(SafeTensors::deserialize(bytes).map_err(damaged)?);
    if !(1..=super::MAX_DEGREE).contains(&header.l) {
        return Err(damaged(format!("its L is {}", header.l)));
    }
    if header.global_l > MAX_GLOBAL {
        return Err(damaged(format!("it has {} degrees of global harmonics", header.global_l)));
    }
    if !(header.shannon > 0.0 && header.shannon.is_finite()) {
        return Err(damaged(format!("its Shannon number is {}", header.shannon)));
    }
    if header.parts.is_empty() {
        return Err(damaged("it has no functions"));
    }
    let mut parts = Vec::new();
    for (number, part) in header.parts.into_iter().enumerate() {
        parts.push(read_part(&tensors, number, part, header.l, header.shannon)?);
    }
    let basis = SlepianBasis::of_parts(header.l, header.shannon, parts);
    let scaler = match tensors.0.tensor("scaler.mean") {
        Ok(_) => Some(Scaler {
            mean: tensors.values("scaler.mean")?,
            deviation: tensors.values("scaler.deviation")?,
        }),
        Err(_) => None,
    };
    header.region.validate().map_err(|error| damaged(error.message()))?;
    let encoder = SlepianEncoder {
        global_l: header.global_l,
        region: header.region,
        basis,
        scaler,
        warnings: header.warnings,
        raster: header.raster,
    };
    if let Some(raster) = encoder.raster {
        raster.validate().map_err(|error| damaged(error.message()))?;
    }
    let columns = encoder.features();
    let fits = |scaler: &Scaler| scaler.mean.len() == columns && scaler.deviation.len() == columns;
    if header.names.len() != columns || !encoder.scaler.as_ref().is_none_or(fits) {
        return Err(misfit());
    }
    if encoder.scaler.as_ref().is_some_and(|scaler| scaler.deviation.contains(&0.0)) {
        return Err(damaged("a deviation in `scaler.deviation` is 0"));
    }
    Ok(encoder)
}

fn read_part(
    tensors: &Tensors<'_>,
    number: usize,
    part: PartHeader,
    l: usize,
    shannon: f64,
) -> Result<Part> {
    let name = |what: &str| format!("part{number}.{what}");
    let lambda = tensors.values(&name("lambda"))?;
    if lambda.is_empty() {
        return Err(damaged(format!("part {number} has no functions")));
    }
    // As far above 1 as a rule of quadrature is let through.
    if let Some(bad) = lambda.iter().find(|lambda| !(0.0..=1.0 + 1e-6).contains(*lambda)) {
        return Err(damaged(format!("a lambda of part {number} is {bad}")));
    }
    let coefficients = tensors.values(&name("coefficients"))?;
    match part {
        PartHeader::Cap { cap, counts } => {
            Region::Cap(cap).validate().map_err(|error| damaged(error.message()))?;
            // No order has more functions than degrees, so that the sums stay small.
            if counts.len() > l + 1 || counts.iter().enumerate().any(|(m, n)| *n > l + 1 - m) {
                return Err(damaged(format!(
                    "part {number} has more functions than L has room for"
                )));
            }
            let needed: usize = counts.iter().enumerate().map(|(m, n)| n * (l + 1 - m)).sum();
            if counts.iter().sum::<usize>() != lambda.len() || needed != coefficients.len() {
                return Err(misfit());
            }
            let (mut lambda, mut rest) = (lambda.into_iter(), coefficients.as_slice());
            let mut radials = Vec::with_capacity(counts.len());
            for (m, count) in counts.into_iter().enumerate() {
                let mut functions = Vec::with_capacity(count);
                for lambda in lambda.by_ref().take(count) {
                    let (head, tail) = rest.split_at(l + 1 - m);
                    functions.push(Radial { lambda, coefficients: head.to_vec() });
                    rest = tail;
                }
                radials.push(functions);
            }
            Ok(Part::Cap(CapBasis::assemble(cap, l, radials)))
        }
        PartHeader::Dual => {
            let places = tensors.values(&name("nodes"))?;
            let (nodes, []) = places.as_chunks::<3>() else { return Err(misfit()) };
            let nodes = nodes.to_vec();
            if nodes.iter().any(|node| (dot(*node, *node) - 1.0).abs() > 1e-9) {
                return Err(damaged(format!("a node of part {number} is off the unit sphere")));
            }
            if nodes.len().checked_mul(lambda.len()) != Some(coefficients.len()) {
                return Err(misfit());
            }
            let view = ArrayView2::from_shape((nodes.len(), lambda.len()), &coefficients)
                .map_err(|_| misfit())?;
            let basis = DualBasis::assemble(lambda.clone(), nodes, view, shannon, l);
            Ok(Part::Dual(Box::new(basis)))
        }
    }
}

struct Tensors<'a>(SafeTensors<'a>);

impl Tensors<'_> {
    fn values(&self, name: &str) -> Result<Vec<f64>> {
        let tensor = self.0.tensor(name).map_err(damaged)?;
        if tensor.dtype() != Dtype::F64 {
            return Err(damaged(format!("`{name}` does not hold 64-bit floats")));
        }
        let number = |bytes: &[u8]| bytes.try_into().map_or(f64::NAN, f64::from_le_bytes);
        let values: Vec<f64> = tensor.data().chunks_exact(8).map(number).collect();
        match values.iter().find(|value| !value.is_finite()) {
            Some(bad) => Err(damaged(format!("`{name}` holds {bad}"))),
            None => Ok(values),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::encoder::SlepianConfig;
    use super::*;
    use serde_json::{Value, json};

    fn encoder(region: Region) -> SlepianEncoder {
        let config = SlepianConfig { region: region.into(), l: 20, ..SlepianConfig::default() };
        SlepianEncoder::fit(&config, &[-121.0, -118.0, -117.0], &[38.0, 35.0, 36.0]).unwrap()
    }

    // What is said of the encoder's file after a change to its header and its tensors.
    fn refusal(
        encoder: &SlepianEncoder,
        change: impl FnOnce(&mut Value, &mut Vec<Tensor>),
    ) -> String {
        let bytes = encoder.to_bytes().unwrap();
        let (_, metadata) = SafeTensors::read_metadata(&bytes).unwrap();
        let mut entries = metadata.metadata().clone().unwrap();
        let mut header: Value = serde_json::from_str(&entries["encoder"]).unwrap();
        let mut tensors: Vec<Tensor> = SafeTensors::deserialize(&bytes)
            .unwrap()
            .tensors()
            .into_iter()
            .map(|(name, view)| Tensor {
                name,
                shape: view.shape().to_vec(),
                bytes: view.data().to_vec(),
            })
            .collect();
        change(&mut header, &mut tensors);
        entries.insert("encoder".into(), header.to_string());
        let views = tensors.iter().map(|tensor| {
            let view = TensorView::new(Dtype::F64, tensor.shape.clone(), &tensor.bytes).unwrap();
            (tensor.name.clone(), view)
        });
        let bytes = safetensors::serialize(views, Some(entries)).unwrap();
        let error = SlepianEncoder::from_bytes(&bytes).unwrap_err();
        assert_eq!(error.exit_code(), 2);
        let told = error.message().strip_prefix("this is no saved encoder: ").unwrap();
        told.to_owned()
    }

    fn set(tensors: &mut [Tensor], name: &str, index: usize, value: f64) {
        let tensor = tensors.iter_mut().find(|tensor| tensor.name == name).unwrap();
        tensor.bytes[8 * index..8 * (index + 1)].copy_from_slice(&value.to_le_bytes());
    }

    // Fewer values than the shapes of the others promise.
    fn cut(tensors: &mut [Tensor], name: &str, values: usize) {
        let tensor = tensors.iter_mut().find(|tensor| tensor.name == name).unwrap();
        tensor.bytes.truncate(8 * values);
        tensor.shape = vec![values];
    }

    #[test]
    fn files_that_were_changed_are_refused() {
        let cap = encoder(Region::cap(-119.5, 37.0, 12.0));
        let misfit = "its tensors do not fit each other";
        let header = |change: fn(&mut Value)| refusal(&cap, |header, _| change(header));
        assert_eq!(header(|h| h["l"] = json!(2001)), "its L is 2001");
        assert_eq!(
            header(|h| h["global_l"] = json!(u64::MAX)),
            format!("it has {} degrees of global harmonics", u64::MAX)
        );
        assert_eq!(header(|h| h["global_l"] = json!(9)), misfit);
        assert_eq!(header(|h| h["shannon"] = json!(-1.0)), "its Shannon number is -1");
        assert_eq!(header(|h| h["parts"] = json!([])), "it has no functions");
        assert_eq!(header(|h| h["names"] = json!([])), misfit);
        let radius = "the cap's radius is 0 degrees";
        assert_eq!(header(|h| h["region"]["Caps"][0]["radius_deg"] = json!(0.0)), radius);
        assert_eq!(header(|h| h["parts"][0]["Cap"]["cap"]["radius_deg"] = json!(0.0)), radius);
        let latitude = header(|h| h["parts"][0]["Cap"]["cap"]["lat"] = json!(100.0));
        assert_eq!(latitude, "latitude 100 is outside [-90, 90]");
        let room = "part 0 has more functions than L has room for";
        assert_eq!(header(|h| h["parts"][0]["Cap"]["counts"][0] = json!(u64::MAX)), room);
        assert_eq!(header(|h| h["parts"][0]["Cap"]["counts"] = json!(vec![0; 22])), room);
        assert_eq!(header(|h| h["parts"][0]["Cap"]["counts"] = json!([1])), misfit);
        let told = refusal(&cap, |_, tensors| set(tensors, "part0.lambda", 0, f64::NAN));
        assert_eq!(told, "`part0.lambda` holds NaN");
        let told = refusal(&cap, |_, tensors| set(tensors, "part0.lambda", 0, 1.5));
        assert_eq!(told, "a lambda of part 0 is 1.5");
        let told = refusal(&cap, |_, tensors| cut(tensors, "part0.lambda", 0));
        assert_eq!(told, "part 0 has no functions");
        let told = refusal(&cap, |_, tensors| cut(tensors, "part0.coefficients", 5));
        assert_eq!(told, misfit);
        let told = refusal(&cap, |_, tensors| set(tensors, "scaler.deviation", 3, 0.0));
        assert_eq!(told, "a deviation in `scaler.deviation` is 0");
    }

    #[test]
    fn nodes_that_were_changed_are_refused() {
        let dual = encoder(Region::Box { w: -125.0, s: 32.0, e: -114.0, n: 42.0 });
        let misfit = "its tensors do not fit each other";
        let told = refusal(&dual, |_, tensors| set(tensors, "part0.nodes", 4, 7.0));
        assert_eq!(told, "a node of part 0 is off the unit sphere");
        assert_eq!(refusal(&dual, |_, tensors| cut(tensors, "part0.nodes", 4)), misfit);
        assert_eq!(refusal(&dual, |_, tensors| cut(tensors, "part0.nodes", 3)), misfit);
        let told = refusal(&dual, |_, t| set(t, "part0.coefficients", 0, f64::INFINITY));
        assert_eq!(told, "`part0.coefficients` holds inf");
    }
}
