"""Builds the npm packages and the wheels that carry the program: one of each per platform.

    python3 conformance/wrappers/build.py --out DIRECTORY linux-x64=target/x86_64-unknown-linux-musl/release/mcp-conformance …

Needs Python 3.11 and nothing else. The same programs give the same bytes.
"""

import argparse
import base64
import gzip
import hashlib
import io
import json
import pathlib
import re
import sys
import tarfile
import tomllib
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
CRATE = HERE.parent
NAME = "mcp-conformance"
# Where a program runs: the tags of its wheel. Those of Linux are for a static program, as the musl targets make.
PLATFORMS = {
    "linux-x64": "manylinux_2_17_x86_64.musllinux_1_2_x86_64",
    "linux-arm64": "manylinux_2_17_aarch64.musllinux_1_2_aarch64",
    "darwin-x64": "macosx_10_12_x86_64",
    "darwin-arm64": "macosx_11_0_arm64",
    "win32-x64": "win_amd64",
}
PROGRAM, TEXT = 0o755, 0o644


def about():
    """What the manifests say of the crate."""
    workspace = tomllib.loads((CRATE.parent / "Cargo.toml").read_text("utf-8"))["workspace"]["package"]
    package = tomllib.loads((CRATE / "Cargo.toml").read_text("utf-8"))["package"]
    return {
        "version": workspace["version"],
        "license": workspace["license"],
        "description": package["description"],
        "keywords": package["keywords"],
        "readme": (CRATE / "README.md").read_text("utf-8"),
    }


def licences():
    """The texts of both licences, by file name."""
    return {path.name: path.read_bytes() for path in sorted(CRATE.glob("LICENSE-*"))}


def executable(platform):
    """What the program is called there."""
    return NAME + (".exe" if platform.startswith("win32") else "")


def tarball(path, files):
    """Writes an npm package: a tar archive whose files are in the folder `package`."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, (content, mode) in files.items():
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size, entry.mode = len(content), mode
            archive.addfile(entry, io.BytesIO(content))
    with open(path, "wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
        packed.write(raw.getvalue())


def npm(out, this, programs):
    """A package for each platform, and one that starts the right one of them."""
    common = {key: this[key] for key in ("version", "description", "license", "keywords")}
    texts = {name: (content, TEXT) for name, content in licences().items()}

    def write(name, manifest, files):
        manifest = json.dumps({"name": name, **common, **manifest}, indent=2).encode() + b"\n"
        path = out / f"{name}-{this['version']}.tgz"
        tarball(path, {"package.json": (manifest, TEXT), **files, **texts})
        yield path

    for platform, program in programs.items():
        system, processor = platform.split("-")
        manifest = {"os": [system], "cpu": [processor], "files": ["bin"]}
        yield from write(f"{NAME}-{platform}", manifest, {f"bin/{executable(platform)}": (program, PROGRAM)})
    carriers = {f"{NAME}-{platform}": this["version"] for platform in programs}
    manifest = {
        "bin": {NAME: "launcher.cjs"},
        "files": ["launcher.cjs"],
        "engines": {"node": ">=18"},
        "optionalDependencies": carriers,
    }
    launcher = (HERE / "launcher.cjs").read_bytes()
    files = {"launcher.cjs": (launcher, PROGRAM), "README.md": (this["readme"].encode(), TEXT)}
    yield from write(NAME, manifest, files)


def wheel(out, this, platform, program):
    """A wheel that puts the program among the scripts. There is no Python in it."""
    stem = f"{NAME.replace('-', '_')}-{this['version']}"
    tags = PLATFORMS[platform]
    metadata = [
        "Metadata-Version: 2.4",
        f"Name: {NAME}",
        f"Version: {this['version']}",
        f"Summary: {this['description']}",
        f"License-Expression: {this['license']}",
        *(f"License-File: {name}" for name in licences()),
        f"Keywords: {','.join(this['keywords'])}",
        "Requires-Python: >=3.8",
        "Description-Content-Type: text/markdown",
    ]
    described = "\n".join(metadata) + "\n\n" + this["readme"]
    kind = ["Wheel-Version: 1.0", f"Generator: {NAME} {this['version']}", "Root-Is-Purelib: false"]
    kind += [f"Tag: py3-none-{tag}" for tag in tags.split(".")]
    files = {
        f"{stem}.data/scripts/{executable(platform)}": (program, PROGRAM),
        f"{stem}.dist-info/METADATA": (described.encode(), TEXT),
        f"{stem}.dist-info/WHEEL": (("\n".join(kind) + "\n").encode(), TEXT),
    }
    for name, content in licences().items():
        files[f"{stem}.dist-info/licenses/{name}"] = (content, TEXT)
    record = ""
    for name, (content, _) in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(content)}\n"
    list_name = f"{stem}.dist-info/RECORD"
    files[list_name] = (f"{record}{list_name},,\n".encode(), TEXT)
    path = out / f"{stem}-py3-none-{tags}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, (content, mode) in files.items():
            entry = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3
            entry.external_attr = (0o100000 | mode) << 16
            archive.writestr(entry, content)
    yield path


def given(text):
    """A platform and its program."""
    platform, _, path = text.partition("=")
    if platform not in PLATFORMS or not path:
        known = ", ".join(PLATFORMS)
        raise argparse.ArgumentTypeError(f"{text!r} is not PLATFORM=PROGRAM with one of {known}")
    return platform, pathlib.Path(path)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--out", type=pathlib.Path, required=True, help="the folder for the packages")
    arguments.add_argument("programs", nargs="+", type=given, metavar="PLATFORM=PROGRAM")
    chosen = arguments.parse_args()
    chosen.out.mkdir(parents=True, exist_ok=True)
    this = about()
    if not re.fullmatch(r"\d+\.\d+\.\d+", this["version"]):
        sys.exit(f"the version {this['version']} is written otherwise by npm and by PyPI; only X.Y.Z is taken")
    programs = {platform: path.read_bytes() for platform, path in chosen.programs}
    for path in npm(chosen.out, this, programs):
        print(path)
    for platform, program in programs.items():
        for path in wheel(chosen.out, this, platform, program):
            print(path)


if __name__ == "__main__":
    main()
