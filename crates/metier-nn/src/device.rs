//! Devices by the names that the shell and Python use.

use burn::tensor::Device;
use metier_core::{Error, Result};

/// The processor.
pub fn cpu() -> Device {
    Device::flex()
}

/// The device called `name`: `cpu`; `cuda:0` and `wgpu` where the build has them.
///
/// # Errors
/// A name that is not known, or a device that this build leaves out.
///
/// ```
/// assert!(metier_nn::device::parse("cpu").is_ok());
/// let error = metier_nn::device::parse("abacus").unwrap_err();
/// assert_eq!(error.to_string(), "device: abacus is not a device");
/// ```
pub fn parse(name: &str) -> Result<Device> {
    let left_out = |feature: &str| {
        Err(Error::usage(format!("this build has no {feature} devices"))
            .in_field("device")
            .help(format!("build with `--features {feature}`, or use cpu")))
    };
    match name.split_once(':').unwrap_or((name, "0")) {
        ("cpu", "0") => Ok(cpu()),
        #[cfg(feature = "cuda")]
        ("cuda", index) => match index.parse::<usize>() {
            Ok(index) => Ok(Device::cuda(index)),
            Err(_) => {
                Err(Error::usage(format!("{index} is not a device number")).in_field("device"))
            }
        },
        #[cfg(not(feature = "cuda"))]
        ("cuda", _) => left_out("cuda"),
        #[cfg(feature = "wgpu")]
        ("wgpu", "0") => Ok(Device::wgpu(burn::tensor::DeviceKind::DefaultDevice)),
        #[cfg(not(feature = "wgpu"))]
        ("wgpu", _) => left_out("wgpu"),
        _ => Err(Error::usage(format!("{name} is not a device"))
            .in_field("device")
            .help("devices: cpu, cuda:0, wgpu")),
    }
}
