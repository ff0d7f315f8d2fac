"""Places on the earth, and sequences as a few states that hold their past."""

from metier.geometry import hippo
from metier.geometry.hippo import HippoFeatures
from metier.geometry.places import SlepianEncoder, SphericalHarmonics

__all__ = ["HippoFeatures", "SlepianEncoder", "SphericalHarmonics", "hippo"]
