"""A private certificate authority, which no machine trusts, and a certificate for the loopback."""

import subprocess


class Certificates:
    def __init__(self, directory):
        self.directory = directory
        directory.mkdir()
        self.authority = directory / "authority.pem"
        self.key = directory / "key.pem"
        self.certificate = directory / "certificate.pem"
        curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
        self.openssl(
            "req", "-x509", *curve, "-subj", "/CN=refreshd tests",
            "-keyout", "authority-key.pem", "-out", "authority.pem",
        )  # fmt: skip
        self.openssl(
            "req", "-x509", *curve, "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost",
            "-addext", "basicConstraints=critical,CA:FALSE", "-CA", "authority.pem", "-CAkey", "authority-key.pem",
            "-keyout", "key.pem", "-out", "certificate.pem",
        )  # fmt: skip

    def openssl(self, *words):
        subprocess.run(["openssl", *words], cwd=self.directory, check=True, capture_output=True, timeout=30)
