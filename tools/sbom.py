"""The software bill of materials of a source archive, as SPDX 2.3 in JSON: each file with its checksums, and the
packages of THIRD_PARTY.md. The same archive gives the same text. tools/release uses it."""

import hashlib
import json
import re
import tarfile

ROW = re.compile(r"^\| ([^|]+) \| (>=[\d.]+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", re.M)
LICENCE = "MIT"
COPYRIGHT = "Copyright (c) 2026 The gyre authors"


def spdx_id(kind, name):
    return f"SPDXRef-{kind}-" + re.sub(r"[^A-Za-z0-9.-]", "-", name)


def files_of(archive):
    """The files of the archive, below its one directory."""
    found = []
    with tarfile.open(archive) as tar:
        for number, member in enumerate(each for each in tar if each.isfile()):
            content = tar.extractfile(member).read()
            found.append({
                "SPDXID": f"SPDXRef-File-{number}",
                "fileName": "./" + member.name.split("/", 1)[1],
                "checksums": [{"algorithm": "SHA1", "checksumValue": hashlib.sha1(content).hexdigest()},
                              {"algorithm": "SHA256", "checksumValue": hashlib.sha256(content).hexdigest()}],
                "licenseConcluded": LICENCE, "licenseInfoInFiles": ["NOASSERTION"], "copyrightText": COPYRIGHT})
    return found


def verification_code(files):
    sums = sorted(each["checksums"][0]["checksumValue"] for each in files)
    return hashlib.sha1("".join(sums).encode()).hexdigest()


def dependencies(table):
    """(package, relationship to gyre) of each row of THIRD_PARTY.md."""
    for name, versions, licence, used_by, required in ROW.findall(table):
        kind = ("TEST_DEPENDENCY_OF" if "tests" in required else
                "DEPENDENCY_OF" if required in ("yes", "unless `GYRE_TLS=OFF`") else "OPTIONAL_DEPENDENCY_OF")
        yield {"SPDXID": spdx_id("Package", name), "name": name, "versionInfo": versions,
               "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
               "licenseConcluded": licence, "licenseDeclared": licence,
               "copyrightText": "NOASSERTION", "comment": f"Used by {used_by}. Required: {required}."}, kind


def document(version, commit, created, archive, table):
    """`created` is the time of the commit, as 2026-11-29T21:00:00Z."""
    files = files_of(archive)
    others = list(dependencies(table))
    assert len(others) >= 10, "THIRD_PARTY.md: the table has lost rows, or its form"
    gyre = {"SPDXID": "SPDXRef-Package-gyre", "name": "gyre", "versionInfo": version, "downloadLocation": "NOASSERTION",
            "packageFileName": archive.name, "filesAnalyzed": True,
            "packageVerificationCode": {"packageVerificationCodeValue": verification_code(files)},
            "checksums": [{"algorithm": "SHA256", "checksumValue": hashlib.sha256(archive.read_bytes()).hexdigest()}],
            "licenseConcluded": LICENCE, "licenseDeclared": LICENCE, "licenseInfoFromFiles": ["NOASSERTION"],
            "copyrightText": COPYRIGHT, "primaryPackagePurpose": "LIBRARY",
            "hasFiles": [each["SPDXID"] for each in files]}
    relationships = [("SPDXRef-DOCUMENT", "DESCRIBES", gyre["SPDXID"])]
    relationships += [(package["SPDXID"], kind, gyre["SPDXID"]) for package, kind in others]
    return json.dumps({
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"gyre-{version}",
        "documentNamespace": f"https://spdx.org/spdxdocs/gyre-{version}-{commit}",
        "creationInfo": {"created": created,
                         "creators": ["Organization: The gyre authors", "Tool: gyre-tools-release"]},
        "packages": [gyre, *(package for package, _ in others)], "files": files,
        "relationships": [{"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}
                          for one, kind, other in relationships]}, indent=1) + "\n"
