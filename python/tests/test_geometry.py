"""The encoders of places, against the values of their specification and pyshtools."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.validation import check_is_fitted

from metier.geometry import SlepianEncoder, SphericalHarmonics

CALIFORNIA = (-119.5, 37, 7.5)
PLACES = np.array([[-119.5, 37], [-118, 34], [-122.4, 37.77]])


def raw(**arguments):
    return SlepianEncoder(region=CALIFORNIA, global_l=0, scale=False, **arguments)


# These three draw normal numbers of deviation 100: most rows lie beyond a pole, and the encoders
# must refuse them. The next test holds the encoders to the same on places of the earth.
BEYOND_THE_POLES = {
    name: "its latitudes lie outside [-90, 90]"
    for name in ["check_fit_idempotent", "check_fit_check_is_fitted", "check_n_features_in"]
}
# Some checks fit to a handful of places within a degree, where no function of degree 20 has a
# twentieth of its energy: without a threshold such a region is warned of, not refused.
ESTIMATORS = [SlepianEncoder(L=20, thresh=0.0), SphericalHarmonics(L=4)]


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_scikit_learn_agrees(estimator):
    check_estimator(estimator, expected_failed_checks=BEYOND_THE_POLES)


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_what_the_exempt_checks_ask_holds_on_the_earth(estimator):
    encoder = clone(estimator)
    assert not hasattr(encoder, "n_features_in_")
    with pytest.raises(NotFittedError):
        check_is_fitted(encoder)
    first = encoder.fit(PLACES).transform(PLACES)
    check_is_fitted(encoder)
    assert encoder.n_features_in_ == 2
    assert np.array_equal(encoder.fit(PLACES).transform(PLACES), first)


def test_modes_have_their_known_size():
    modes = np.abs(raw(L=120).fit_transform(PLACES))
    assert modes.shape == (3, 86) and modes.dtype == np.float32
    assert np.allclose(modes[:, 0], [16.87030528, 3.95756081, 7.59370996], rtol=1e-6)
    pair = np.hypot(modes[:, 1], modes[:, 2])
    assert np.allclose(pair, [0, 9.78195102, 13.75159806], rtol=1e-6, atol=1e-6)


def test_concentrations_are_the_known_ones():
    encoder = raw(L=40).fit(PLACES)
    assert len(encoder.concentrations_) == 12
    known = [0.9975607457, 0.9622522975, 0.9622522975, 0.7889292880]
    assert np.allclose(encoder.concentrations_[:4], known, atol=1e-9)
    assert encoder.shannon_number_ == pytest.approx(7.190594, abs=1e-6)
    assert encoder.resolution_km_ == pytest.approx(500.4, abs=0.1)


def test_harmonics_of_a_place():
    known = [0.28209479, 0.17274707, 0.34549415, 0.29920671, 0.23654367]
    known += [0.27313711, 0.15769578, 0.47308735, 0.13656855]
    features = SphericalHarmonics(L=3).fit_transform([[30, 45]])
    assert np.allclose(features, [known], atol=1e-7)
    assert SphericalHarmonics(L=2).fit([[0, 0]]).get_feature_names_out().tolist() == [
        "sh_l0_m0",
        "sh_l1_m-1",
        "sh_l1_m0",
        "sh_l1_m1",
    ]


def test_features_are_named_scaled_and_pickled():
    rng = np.random.default_rng(0)
    places = np.column_stack([rng.uniform(-124, -115, 500), rng.uniform(33, 41, 500)])
    encoder = SlepianEncoder(L=40, global_l=2).fit(places)
    features = encoder.transform(places)
    assert np.allclose(features.mean(axis=0), 0, atol=1e-4)
    names = encoder.get_feature_names_out()
    assert len(names) == features.shape[1]
    assert names[4] == "slep_m0_k0" and names[5] == "slep_m1c_k0"
    again = pickle.loads(pickle.dumps(encoder))
    assert np.array_equal(again.transform(places), features)


def test_a_raster_is_near_and_a_coarse_one_is_warned_of():
    rng = np.random.default_rng(0)
    places = np.column_stack([rng.uniform(-124, -115, 500), rng.uniform(33, 41, 500)])
    exact = SlepianEncoder(L=40, global_l=0).fit_transform(places)
    fine = SlepianEncoder(L=40, global_l=0, raster=0.1).fit(places)
    again = pickle.loads(pickle.dumps(fine))
    assert np.array_equal(again.transform(places), fine.transform(places))
    worst = np.abs(fine.transform(places) - exact).max()
    assert 0 < worst < 0.02
    with pytest.warns(UserWarning, match="too coarse for L = 40"):
        SlepianEncoder(L=40, global_l=0, raster=5).fit(places)
    with pytest.raises(ValueError, match="the step of the grid is 0.7 degrees"):
        SlepianEncoder(raster=0.7).fit(places)


def test_frames_tell_their_columns_by_name():
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    columns = {
        "price": [1.0, 2.0, 3.0],
        "latitude": PLACES[:, 1],
        "name": ["a", "b", "c"],
        "longitude": PLACES[:, 0],
    }
    expected = raw(L=40).fit_transform(PLACES)
    for frame in (pandas.DataFrame(columns), polars.DataFrame(columns)):
        assert np.array_equal(raw(L=40).fit_transform(frame), expected)
    swapped = np.ascontiguousarray(PLACES[:, ::-1])
    assert np.array_equal(raw(L=40, lon=1, lat=0).fit_transform(swapped), expected)
    with pytest.raises(ValueError, match="no column 'lo'"):
        raw(lon="lo").fit(pandas.DataFrame(columns))


def test_regions_are_given_in_many_forms():
    square = {
        "type": "Polygon",
        "coordinates": [[[-124, 33], [-115, 33], [-115, 41], [-124, 41], [-124, 33]]],
    }
    box = SlepianEncoder(region="box:-124,33,-115,41", L=40, global_l=0).fit(PLACES)
    outline = SlepianEncoder(region=square, L=40, global_l=0).fit(PLACES)
    assert outline.shannon_number_ == pytest.approx(box.shannon_number_, rel=1e-3)
    japan = SlepianEncoder(region="country:JP", L=60, global_l=0, scale=False)
    assert japan.fit([[138.0, 36.0]]).shannon_number_ == pytest.approx(2.75, abs=0.15)


@pytest.mark.parametrize(
    ("arguments", "places", "message"),
    [
        ({}, [[37.0, -122.4], [34.0, -118.2]], "swapped"),
        ({}, [[-122.4, np.nan], [0, 0]], "NaN"),
        ({"region": (0, 0, 200)}, PLACES, "radius is 200"),
        ({"L": 5000}, PLACES, "L is 5000"),
        ({"region": "cup:1,2,3"}, PLACES, "no kind of region"),
        ({"region": 7}, PLACES, "a text, a tuple"),
        ({"thresh": 0.9999999}, PLACES, "lambda|largest"),
    ],
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_what_is_wrong_is_said(arguments, places, message):
    with pytest.raises(ValueError, match=message):
        SlepianEncoder(**{"region": CALIFORNIA, "L": 20, **arguments}).fit(places)


def test_a_missing_outline_is_a_missing_file():
    with pytest.raises(FileNotFoundError, match="none.geojson"):
        SlepianEncoder(region="file:none.geojson").fit(PLACES)


def test_points_outside_are_warned_of():
    with pytest.warns(UserWarning, match="outside the region"):
        raw(L=40).fit([[10.0, 50.0], [11.0, 51.0], [-119.0, 37.0]])


def test_pyshtools_has_the_same_functions():
    """pyshtools normalizes to 4 pi: its modes are ours times the root of it, up to sign."""
    pyshtools = pytest.importorskip("pyshtools")
    slepian = pyshtools.Slepian.from_cap(7.5, 40, clat=37, clon=-119.5)
    ours = raw(L=40).fit(PLACES)
    assert np.allclose(slepian.eigenvalues[:12], ours.concentrations_, atol=1e-9)
    coefficients = slepian.to_shcoeffs(0)
    theirs = np.array([coefficients.expand(lat=lat, lon=lon) for lon, lat in PLACES])
    ratio = theirs.ravel() / ours.transform(PLACES)[:, 0]
    assert np.allclose(np.abs(ratio), np.sqrt(4 * np.pi), rtol=1e-5)
    assert np.all(ratio > 0) or np.all(ratio < 0)


def test_the_docstrings_are_true(doctest_of):
    doctest_of("metier.geometry.places")


def test_an_open_ring_is_closed_with_a_warning():
    corners = [[-124.5, 32.5], [-114, 32.5], [-114, 42], [-124.5, 42]]
    open_ring = {"type": "Polygon", "coordinates": [corners]}
    closed = {"type": "Polygon", "coordinates": [[*corners, corners[0]]]}
    with pytest.warns(UserWarning, match="is not closed; its ends are joined"):
        encoder = SlepianEncoder(open_ring, L=20, global_l=0).fit(PLACES)
    same = SlepianEncoder(closed, L=20, global_l=0).fit(PLACES)
    assert np.array_equal(encoder.transform(PLACES), same.transform(PLACES))
