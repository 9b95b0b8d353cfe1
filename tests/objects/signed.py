"""Requests to an S3 server that are about a whole bucket, signed by hand: no client has such calls."""

from __future__ import annotations

import hmac
from datetime import UTC, datetime
from hashlib import sha256
from http.client import HTTPConnection
from urllib.parse import quote

REGION = "us-east-1"


def ask(
    port: int, method: str, path: str, *, key: str, secret: str, query: str = "", body: bytes = b""
) -> tuple[int, bytes]:
    """The status and the body of the answer. The query is one name without a value, or none."""
    host, at = f"127.0.0.1:{port}", datetime.now(UTC)
    stamp, day = at.strftime("%Y%m%dT%H%M%SZ"), at.strftime("%Y%m%d")
    digest = sha256(body).hexdigest()
    headers = {"host": host, "x-amz-content-sha256": digest, "x-amz-date": stamp}
    names = ";".join(headers)
    told = "".join(f"{name}:{value}\n" for name, value in headers.items())
    canonical = "\n".join([method, quote(path), f"{query}=" if query else "", told, names, digest])
    scope = f"{day}/{REGION}/s3/aws4_request"
    text = "\n".join(["AWS4-HMAC-SHA256", stamp, scope, sha256(canonical.encode()).hexdigest()])
    signing = f"AWS4{secret}".encode()
    for part in (day, REGION, "s3", "aws4_request"):
        signing = hmac.digest(signing, part.encode(), "sha256")
    signature = hmac.new(signing, text.encode(), sha256).hexdigest()
    headers["authorization"] = (
        f"AWS4-HMAC-SHA256 Credential={key}/{scope}, SignedHeaders={names}, Signature={signature}"
    )
    connection = HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request(method, f"{path}?{query}" if query else path, body or None, headers)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()
