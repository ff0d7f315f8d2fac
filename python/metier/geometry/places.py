"""Encoders of places on the earth."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from metier import _metier

__all__ = ["SlepianEncoder", "SphericalHarmonics"]

_LON = ("lon", "longitude", "lng", "long")
_LAT = ("lat", "latitude")


class _PlaceEncoder(TransformerMixin, BaseEstimator):
    """What encoders of places share: finding longitude and latitude, and naming the features."""

    def _places(self, X: Any, *, reset: bool) -> tuple[np.ndarray, np.ndarray]:
        columns = getattr(X, "columns", None)
        if columns is not None:
            X = self._numeric(X, list(columns), reset=reset)
        least = 2 if reset else 1
        X = validate_data(self, X, dtype=np.float64, ensure_min_features=least, reset=reset)
        if reset:
            names = getattr(self, "feature_names_in_", None)
            self._lon_ = _column(self.lon, names, _LON, 0, X.shape[1], "lon")
            self._lat_ = _column(self.lat, names, _LAT, 1, X.shape[1], "lat")
        return np.ascontiguousarray(X[:, self._lon_]), np.ascontiguousarray(X[:, self._lat_])

    def _numeric(self, X: Any, columns: list[Any], *, reset: bool) -> Any:
        # Other columns of a frame may hold text, which is nobody's concern here.
        if not all(isinstance(name, str) for name in columns):
            return X
        if reset:
            lon = _column(self.lon, columns, _LON, 0, len(columns), "lon")
            lat = _column(self.lat, columns, _LAT, 1, len(columns), "lat")
            self._chosen_ = [columns[lon], columns[lat]] if len(columns) > 2 else None
        chosen = getattr(self, "_chosen_", None)
        if chosen is None or not set(chosen) <= set(columns):
            return X
        return X if _all_numbers(X) else X[chosen]

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The names of the features: ``sh_l2_m-1`` and ``slep_m3c_k0``."""
        check_is_fitted(self)
        return np.asarray(self._names(), dtype=object)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        # The features are float32 whatever the degrees are.
        tags.transformer_tags.preserves_dtype = []
        return tags


class SlepianEncoder(_PlaceEncoder):
    """Features of places that resolve a region at kilometre scale.

    The columns are the spherical harmonics of the first ``global_l`` degrees, for where on the
    earth a place lies, and the Slepian functions of the region: combinations of harmonics up to
    degree ``L`` that keep their energy inside. Details of 20,015 km / L are told apart.

    Parameters
    ----------
    region : str, tuple or mapping
        ``"fit"`` (the smallest cap around the points of the fit, a tenth wider),
        ``"cap:lon,lat,radius"``, ``"caps:lon,lat,radius;..."``, ``"box:w,s,e,n"``,
        ``"country:JP"``, ``"file:outline.geojson"``; a tuple ``(lon, lat, radius)``; GeoJSON as a
        mapping, or any object with ``__geo_interface__``.
    L : int
        The largest degree.
    global_l : int
        Degrees of global harmonics (``global_l ** 2`` columns); 0 for none.
    thresh : float
        The least share of a function's energy inside the region.
    max_modes : int
        The most functions of the region that are accepted.
    scale : bool
        Bring every feature to mean 0 and deviation 1 on the points of the fit.
    raster : float, optional
        Interpolate between the corners of a grid of this step in degrees, which blurs what is finer
        than its cells; for very many points.
    lon, lat : str or int, optional
        The columns of longitude and latitude in degrees. By default the columns called so, or else
        the first and the second. Other columns are dropped, as in a ``ColumnTransformer``.
    verbose : bool, optional
        Whether to show progress; by default when standard error is a terminal.

    Attributes
    ----------
    concentrations_ : ndarray
        The share of each local function's energy that lies inside the region.
    shannon_number_ : float
        About how many functions the region has room for.
    resolution_km_ : float
        Half the wavelength of degree ``L``.

    Examples
    --------
    >>> from metier.geometry import SlepianEncoder
    >>> places = [[-122.4, 37.8], [-118.2, 34.1], [-121.5, 38.6]]
    >>> encoder = SlepianEncoder(region=(-119.5, 37, 7.5), L=40, global_l=0)
    >>> encoder.fit_transform(places).shape
    (3, 12)
    """

    def __init__(
        self,
        region: Any = "fit",
        L: int = 80,
        global_l: int = 10,
        thresh: float = 0.05,
        *,
        max_modes: int = 800,
        scale: bool = True,
        raster: float | None = None,
        lon: str | int | None = None,
        lat: str | int | None = None,
        verbose: bool | None = None,
    ) -> None:
        self.region = region
        self.L = L
        self.global_l = global_l
        self.thresh = thresh
        self.max_modes = max_modes
        self.scale = scale
        self.raster = raster
        self.lon = lon
        self.lat = lat
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> SlepianEncoder:
        """Makes the functions of the region and learns the scale of each feature."""
        lon, lat = self._places(X, reset=True)
        region, outline = _region(self.region)
        self.encoder_ = _metier.Encoder.fit(
            lon,
            lat,
            region=region,
            outline=outline,
            l=self.L,
            thresh=self.thresh,
            max_modes=self.max_modes,
            global_l=self.global_l,
            scale=bool(self.scale),
            raster=self.raster,
            verbose=self.verbose,
        )
        self.concentrations_ = np.asarray(self.encoder_.concentrations())
        self.shannon_number_ = self.encoder_.shannon_number()
        self.resolution_km_ = self.encoder_.resolution_km()
        for message in self.encoder_.warnings():
            warnings.warn(message, UserWarning, stacklevel=2)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """The features of each place, float32."""
        check_is_fitted(self)
        lon, lat = self._places(X, reset=False)
        return self.encoder_.transform(lon, lat, self.verbose)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the fitted encoder as a safetensors file that ``metier slepian`` reads too."""
        check_is_fitted(self)
        self.encoder_.save(os.fspath(path))

    def _names(self) -> list[str]:
        return self.encoder_.names()


class SphericalHarmonics(_PlaceEncoder):
    """The real spherical harmonics of the degrees 0 to L - 1: ``L ** 2`` features of a place.

    Parameters
    ----------
    L : int
        The number of degrees.
    lon, lat : str or int, optional
        The columns of longitude and latitude in degrees, as for ``SlepianEncoder``.
    verbose : bool, optional
        Whether to show progress; by default when standard error is a terminal.

    Examples
    --------
    >>> from metier.geometry import SphericalHarmonics
    >>> harmonics = SphericalHarmonics(L=2).fit([[30, 45]])
    >>> harmonics.transform([[30, 45], [-118, 34]]).shape
    (2, 4)
    >>> harmonics.get_feature_names_out().tolist()
    ['sh_l0_m0', 'sh_l1_m-1', 'sh_l1_m0', 'sh_l1_m1']
    """

    def __init__(
        self,
        L: int = 10,
        *,
        lon: str | int | None = None,
        lat: str | int | None = None,
        verbose: bool | None = None,
    ) -> None:
        self.L = L
        self.lon = lon
        self.lat = lat
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> SphericalHarmonics:
        """Checks the places; there is nothing to learn."""
        lon, lat = self._places(X, reset=True)
        _metier.spherical_harmonics(self.L, lon[:1], lat[:1], False)
        self.n_features_out_ = self.L**2
        return self

    def transform(self, X: Any) -> np.ndarray:
        """The features of each place, float32."""
        check_is_fitted(self)
        lon, lat = self._places(X, reset=False)
        return _metier.spherical_harmonics(self.L, lon, lat, self.verbose)

    def _names(self) -> list[str]:
        return _metier.spherical_harmonics_names(self.L)


def _region(region: Any) -> tuple[str, str | None]:
    """The region as text, and as GeoJSON text where it is an outline."""
    outline = getattr(region, "__geo_interface__", None)
    if outline is None and isinstance(region, Mapping):
        outline = region
    if outline is not None:
        return "", json.dumps(outline)
    if isinstance(region, (tuple, list)) and len(region) == 3:
        return "cap:" + ",".join(repr(float(value)) for value in region), None
    if isinstance(region, str):
        return region, None
    raise ValueError(
        f"region is {region!r}, where a text, a tuple (lon, lat, radius) or GeoJSON is wanted"
    )


def _column(
    wanted: str | int | None,
    names: Any,
    usual: tuple[str, ...],
    position: int,
    width: int,
    what: str,
) -> int:
    """Which column is meant: by name, by position, by a usual name, or else by default."""
    names = [] if names is None else [str(name) for name in names]
    if isinstance(wanted, str):
        if wanted not in names:
            raise ValueError(f"{what}: no column {wanted!r}; the columns are {names}")
        return names.index(wanted)
    if wanted is not None:
        if not 0 <= wanted < width:
            raise ValueError(f"{what}: no column {wanted} of {width}")
        return int(wanted)
    found = [index for index, name in enumerate(names) if name.lower() in usual]
    return found[0] if found else position


def _all_numbers(X: Any) -> bool:
    """Whether every column of a frame is one of numbers."""
    kinds = getattr(X, "dtypes", [])
    kinds = getattr(kinds, "tolist", lambda: list(kinds))()
    return all(
        kind.is_numeric() if hasattr(kind, "is_numeric") else getattr(kind, "kind", "O") in "biuf"
        for kind in kinds
    )
