"""Certificates for tests, made with the command openssl: authorities, servers, expired ones, revoked ones."""

import functools
import shutil
import subprocess
import tempfile
from pathlib import Path


def openssl(*arguments, **options):
    done = subprocess.run(["openssl", *map(str, arguments)], capture_output=True, timeout=30, **options)
    if done.returncode != 0:
        raise AssertionError(f"openssl {arguments[0]}: {done.stderr.decode()}")
    return done.stdout


@functools.cache
def made_once(make):
    folder = tempfile.TemporaryDirectory()  # removed at the end of the script
    make(Path(folder.name))
    return folder


def copy_certificates(make, folder):
    """Copies the files that `make(folder)` creates. It runs once per script."""
    for each in Path(made_once(make).name).iterdir():
        shutil.copy(each, folder)


class Authority:
    """Signs certificates, with the certificate and the key in the folder, or with new ones. `chain` is what a server of
    it sends besides its own; empty for a root."""

    def __init__(self, folder, name="root", issuer=None, days=30, false=False):
        """`false`: the certificate does not allow to sign others."""
        self.folder, self.name, self.issuer = Path(folder), name, issuer
        self.certificate, self.key = self.folder / f"{name}.pem", self.folder / f"{name}.key"
        if self.certificate.exists():
            pass
        elif issuer is None:
            openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", 30,
                    "-keyout", self.key, "-out", self.certificate, "-subj", f"/CN={name}",
                    "-addext", "keyUsage=critical,keyCertSign,cRLSign")
        else:
            issuer.sign(name, "basicConstraints=CA:FALSE\n" if false else
                        "basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign,cRLSign\n", days)
        self.chain = self.certificate.read_text() + issuer.chain if issuer else ""

    def sign(self, name, extensions, days=30):
        """Makes NAME.pem and NAME.key in the folder."""
        key, request, text = (self.folder / f"{name}{end}" for end in (".key", ".csr", ".ext"))
        text.write_text(extensions)
        openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key, "-out",
                request, "-subj", f"/CN={name}")
        openssl("x509", "-req", "-in", request, "-CA", self.certificate, "-CAkey", self.key, "-days", days,
                "-set_serial", f"0x{abs(hash((name, days))):x}", "-extfile", text, "-out", self.folder / f"{name}.pem")

    def server(self, name, *hosts, days=30):
        """Returns the files of a chain and its key. The certificate is for the hosts, or for its name."""
        names = ",".join(("IP:" if each[0].isdigit() else "DNS:") + each for each in hosts or (name,))
        self.sign(name, f"subjectAltName={names}\nextendedKeyUsage=serverAuth,clientAuth\n", days)
        chain = self.folder / f"{name}.chain"
        chain.write_text((self.folder / f"{name}.pem").read_text() + self.chain)
        return chain, self.folder / f"{name}.key"

    def ocsp_response(self, name, into):
        """Says that the certificate NAME is good."""
        serial = openssl("x509", "-in", self.folder / f"{name}.pem", "-noout", "-serial").decode().strip()[7:]
        index = self.folder / "index.txt"
        index.write_text(f"V\t400101000000Z\t\t{serial}\tunknown\t/CN={name}\n")
        (self.folder / "index.txt.attr").write_text("")
        openssl("ocsp", "-index", index, "-CA", self.certificate, "-rsigner", self.certificate, "-rkey", self.key,
                "-issuer", self.certificate, "-cert", self.folder / f"{name}.pem", "-ndays", 5, "-respout", into)
