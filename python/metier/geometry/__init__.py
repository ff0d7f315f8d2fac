"""Places on the earth, sequences as a few states, generated data judged without hubs."""

from metier.geometry import hippo
from metier.geometry.gicdm import GICDM, compute_prdc, hubness_report
from metier.geometry.hippo import HippoFeatures
from metier.geometry.places import SlepianEncoder, SphericalHarmonics

__all__ = [
    "GICDM",
    "HippoFeatures",
    "SlepianEncoder",
    "SphericalHarmonics",
    "compute_prdc",
    "hippo",
    "hubness_report",
]
