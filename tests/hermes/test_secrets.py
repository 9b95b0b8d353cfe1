"""Secrets in what was said: none is kept, and nothing else is taken for one."""

from __future__ import annotations

from random import Random
from string import ascii_letters, ascii_uppercase, digits

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from hypothesis import given
from hypothesis import strategies as st

from souvenance.agents.redaction import redact
from souvenance.domain import capability

LETTERS = ascii_letters + digits
HEX = "0123456789abcdef"
URLSAFE = LETTERS + "-_"


def made_up(size, alphabet=LETTERS, seed=7):
    """A secret of nobody's, the same each time: letters and digits are sure to be among it."""
    chance = Random(f"{seed} {size} {alphabet}")
    return "".join(chance.choice(alphabet) for _ in range(size - 2)) + "a7"


def private_key(key, form, password=None):
    sealed = serialization.BestAvailableEncryption(password) if password else serialization.NoEncryption()
    return key.private_bytes(serialization.Encoding.PEM, form, sealed).decode()


_ED25519 = ed25519.Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
_EC = ec.derive_private_key(12345678901234567890, ec.SECP256R1())
_RSA = rsa.generate_private_key(65537, 2048)
_PKCS8, _PKCS1 = serialization.PrivateFormat.PKCS8, serialization.PrivateFormat.TraditionalOpenSSL
_OPENSSH = serialization.PrivateFormat.OpenSSH
_JWT = f"eyJ{made_up(33, URLSAFE)}.eyJ{made_up(60, URLSAFE)}.{made_up(43, URLSAFE)}"

KNOWN_BAD = {
    "a private key, PKCS 8": private_key(_RSA, _PKCS8),
    "a private key, PKCS 1": private_key(_RSA, _PKCS1),
    "a private key, under a password": private_key(_RSA, _PKCS8, b"x"),
    "a private key with headers, under a password": private_key(_RSA, _PKCS1, b"x"),
    "a private key, EC": private_key(_EC, _PKCS1),
    "a private key, OpenSSH": private_key(_ED25519, _OPENSSH),
    "a private key, OpenSSH, RSA": private_key(_RSA, _OPENSSH),
    "a private key that was cut off": private_key(_RSA, _PKCS8)[:700],
    "a private key in JSON": private_key(_RSA, _PKCS8).replace("\n", "\\n"),
    "a private key that is indented": private_key(_RSA, _PKCS8).replace("\n", "\n    "),
    "a private key in a quotation": private_key(_RSA, _PKCS8).replace("\n", "\n> "),
    "a private key in a patch": private_key(_RSA, _PKCS8).replace("\n", "\n+"),
    "a private key on one line": private_key(_EC, _PKCS8).replace("\n", " "),
    "a private key, PGP": (
        "-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: GnuPG v2\n\n"
        f"{made_up(64)}\n{made_up(64, seed=8)}\n=aB3d\n-----END PGP PRIVATE KEY BLOCK-----"
    ),
    "a private key of age": f"AGE-SECRET-KEY-1{made_up(58, ascii_uppercase + digits).upper()}",
    "AWS, access key": f"AKIA{made_up(16, ascii_uppercase + '234567').upper()}",
    "AWS, access key for a while": f"ASIA{made_up(16, ascii_uppercase + '234567').upper()}",
    "GitHub, personal": f"ghp_{made_up(36)}",
    "GitHub, OAuth": f"gho_{made_up(36)}",
    "GitHub, app": f"ghs_{made_up(36)}",
    "GitHub, refresh": f"ghr_{made_up(76)}",
    "GitHub, fine-grained": f"github_pat_{made_up(22)}_{made_up(59)}",
    "GitLab, personal": f"glpat-{made_up(20, URLSAFE)}",
    "GitLab, runner": f"glrt-{made_up(20, URLSAFE)}",
    "GitLab, pipeline": f"glptt-{made_up(40, HEX)}",
    "Slack, bot": f"xoxb-{made_up(12, digits)}-{made_up(12, digits)}-{made_up(24)}",
    "Slack, user": f"xoxp-{made_up(12, digits)}-{made_up(12, digits)}-{made_up(32, HEX)}",
    "Slack, app": f"xapp-1-A{made_up(10).upper()}-{made_up(13, digits)}-{made_up(64, HEX)}",
    "Slack, webhook": f"hooks.slack.com/services/T{made_up(8).upper()}/B{made_up(8).upper()}/{made_up(24)}",
    "Stripe, live": f"sk_live_{made_up(24)}",
    "Stripe, test": f"sk_test_{made_up(99)}",
    "Stripe, restricted": f"rk_live_{made_up(24)}",
    "Stripe, webhook": f"whsec_{made_up(32)}",
    "OpenAI": f"sk-{made_up(20)}T3BlbkFJ{made_up(20)}",
    "OpenAI, project": f"sk-proj-{made_up(120, URLSAFE)}",
    "OpenAI, service": f"sk-svcacct-{made_up(60, URLSAFE)}",
    "Anthropic": f"sk-ant-api03-{made_up(93, URLSAFE)}AA",
    "Anthropic, OAuth": f"sk-ant-oat01-{made_up(93, URLSAFE)}AA",
    "OpenRouter": f"sk-or-v1-{made_up(64, HEX)}",
    "DeepSeek": f"sk-{made_up(32, HEX)}",
    "Groq": f"gsk_{made_up(52)}",
    "xAI": f"xai-{made_up(80)}",
    "Perplexity": f"pplx-{made_up(48)}",
    "Replicate": f"r8_{made_up(37)}",
    "Google, key": f"AIza{made_up(35, URLSAFE)}",
    "Google, OAuth": f"ya29.{made_up(120, URLSAFE)}",
    "Google, client secret": f"GOCSPX-{made_up(28, URLSAFE)}",
    "Google, refresh": f"1//0{made_up(60, URLSAFE)}",
    "Hugging Face": f"hf_{made_up(34)}",
    "npm": f"npm_{made_up(36)}",
    "PyPI": f"pypi-AgEIcHlwaS5vcmc{made_up(120, URLSAFE)}",
    "Telegram": f"{made_up(9, '123456789')[:7]}12:AA{made_up(33, URLSAFE)}",
    "Honcho": f"hch-v3-{made_up(40)}",
    "Honcho, OAuth": f"hch-at-{made_up(43, URLSAFE)}",
    "SendGrid": f"SG.{made_up(22, URLSAFE)}.{made_up(43, URLSAFE)}",
    "Twilio": f"SK{made_up(32, HEX)}",
    "DigitalOcean": f"dop_v1_{made_up(64, HEX)}",
    "Shopify": f"shpat_{made_up(32, HEX)}",
    "Linear": f"lin_api_{made_up(40)}",
    "Notion": f"ntn_{made_up(46)}",
    "Atlassian": f"ATATT3{made_up(180, URLSAFE)}",
    "Databricks": f"dapi{made_up(32, HEX)}",
    "Vault": f"hvs.{made_up(90)}",
    "Tailscale": f"tskey-auth-{made_up(17)}-{made_up(32)}",
    "Discord": f"MT{made_up(24)}.{made_up(6)}.{made_up(38, URLSAFE)}",
    "a JWT": _JWT,
    "a JWT without a signature": _JWT.rpartition(".")[0] + ".",
    "a JWT of five parts": f"{_JWT}.{made_up(40, URLSAFE)}.{made_up(22, URLSAFE)}",
}
"""Secrets that are known by their own shape."""

ASSIGNED = {
    "password={}": "hunter2",
    "password = {}": "swordfish",
    'password = "{}"': "swordfish",
    "PASSWORD: {}": "Tr0ub4dor&3",
    "  password: {}": "swordfish",
    '{{"password": "{}", "user": "ann"}}': "swordfish",
    "'passwd' => '{}'": "swordfish",
    "DB_PASSWORD={}": "p4ssw0rd!",
    "SMTP_PASS={}": "letmein",
    "(password={})": "hunter2",
    "password=={}": "$uper(secret",
    'password="{}"': "it's mine",
    '\\"password\\": \\"{}\\"': "swordfish",
    'password: "{}': "hunter2",
    "https://example.com/?api_key={}&page=2": "3fa9c1d2e4b5",
    "https://example.com/?page=2&token={}#top": made_up(40, HEX),
    "MESSAGE_API_KEY={}": "3fa9c1d2e4b5",
    "export PGPASSWORD={}": "letmein",
    "spring.datasource.password={}": "letmein",
    "mysql --password {} -u root": "letmein99",
    "mysql --password={} -u root": "letmein",
    "Passwort: {}": "Sommer2024!",
    "api_key: {}": "3fa9c1d2e4b5",
    "API-Key: {}": "3fa9c1d2e4b5",
    "X-Api-Key: {}": "3fa9c1d2e4b5",
    'apiKey: "{}"': "3fa9c1d2e4b5",
    "SECRET_KEY={}": "django-insecure-abc",
    "SECRET_KEY = '{}'": "dev",
    "client_secret={}": "abcdefgh",
    "clientSecret: '{}'": "abcdefgh",
    "AWS_SECRET_ACCESS_KEY={}": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzzzzzKEY",
    "aws_secret_access_key = {}": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzzzzzKEY",
    "AccountKey={}": made_up(86) + "==",
    "TOKEN={}": made_up(40),
    "token: {}": made_up(40, HEX),
    "GITEA_TOKEN={}": made_up(40, HEX),
    "access_token={}": "3fa9c1d2e4b5",
    "refreshToken: '{}'": "3fa9c1d2e4b5",
    "HEROKU_API_KEY={}": "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9",
    "密码：{}": "abc12345",
    "Authorization: Bearer {}": made_up(30),
    "authorization: basic {}": "dXNlcjpwYXNzd29yZA==",
    '"Authorization": "Bearer {}"': made_up(30),
    "curl -H 'Authorization: token {}' https://example.com": made_up(30, HEX),
    "send it as Bearer {} please": made_up(40),
    "postgres://ann:{}@db.example.com:5432/app": "s3cret",
    "redis://:{}@localhost:6379/0": "s3cret",
    "https://ann:{}@example.com/path": "p@ss:w0rd",
    "mongodb+srv://ann:{}@cluster0.example.net/db": "hunter2",
    "git clone https://{}@github.com/a/b.git": made_up(40, HEX),
    "https://api.telegram.org/bot{}/getMe": f"7123456789:AA{made_up(33, URLSAFE)}",
    "the token for the staging server is {}.": made_up(32),
    "here is my key: {}": made_up(44),
    "use the secret `{}` there": made_up(40, HEX),
    "my api key generated yesterday: {}": made_up(36, URLSAFE),
    "my wifi password is {}, don't forget": "Tr0ub4dor&3",
    "The password was changed to {}": "Sommer2024!",
    "mein Passwort lautet {}": "Sommer2024!",
    "private key 0x{}": made_up(64, HEX),
}
"""Secrets that are known by what stands before them."""


@pytest.mark.parametrize("secret", KNOWN_BAD.values(), ids=KNOWN_BAD)
@pytest.mark.parametrize(
    "around", ["{}", "it is {} , you know", "«{}»", 'x = "{}"', "TOKEN={}\nnext", "({})"]
)
def test_a_secret_is_known_by_its_shape(secret, around):
    told = redact(around.format(secret))
    assert "[redacted: " in told
    for piece in secret.replace("\\n", "\n").split("\n"):
        assert len(piece) < 20 or piece[2:] not in told
    assert redact(told) == told


@pytest.mark.parametrize(("sentence", "secret"), ASSIGNED.items(), ids=ASSIGNED)
def test_a_secret_is_known_by_what_stands_before_it_and_only_it_is_replaced(sentence, secret):
    before, _, after = sentence.partition("{}")
    before, after = before.format(), after.format()
    told = redact(before + secret + after)
    assert secret not in told
    assert "[redacted: " in told
    assert told.startswith(before.removesuffix("0x"))
    assert told.endswith(after)
    assert redact(told) == told
    assert redact(f"Well.\n{before}{secret}{after}\nSo it is.").count("[redacted: ") == 1


def test_there_are_many_known_bad_ones():
    assert len(KNOWN_BAD) + len(ASSIGNED) > 100


INNOCENT = [
    "commit 1f3870be274f6c49b3e31a0c6728957f12345678 fixed it",
    "see 1f3870b for the reason",
    "the key commit is 1f3870be274f6c49b3e31a0c6728957f12345678",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "md5 d41d8cd98f00b204e9800998ecf8427e",
    "the token's hash is d41d8cd98f00b204e9800998ecf8427e",
    "id 0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9",
    "idempotency_key: 0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9",
    "key: 0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9",
    "01ARZ3NDEKTSV4RRFFQ69G5FAV",
    "key=01ARZ3NDEKTSV4RRFFQ69G5FAV",
    "call me at +49 30 1234567 or 030/12345678",
    "my number is 1234567890, extension 12",
    "/usr/local/lib/python3.11/site-packages/souvenance/adapters/write_queue/queue.py",
    "C:\\Users\\ann\\Documents\\passwords.txt",
    "password_file=/run/secrets/db_password",
    "the key is under /home/ann/.ssh/id_ed25519",
    "ssh_key: ~/.ssh/id_ed25519",
    "my ssh key: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGJhc2U2NGVuY29kZWRwdWJsaWNrZXk3 ann@home",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
    "a key image: data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
    "My password manager is 1Password.",
    "I forgot my password: can you help?",
    "Password: required",
    "The password must be at least 8 characters long.",
    "password: must contain 1 digit",
    "The key to success is practice, practice, practice.",
    "The key is B flat major, opus 27 no. 2.",
    "What does max_tokens=4096 do?",
    "tokens: 1234 in, 567 out",
    "token_type=bearer",
    "usage: total_tokens=128000",
    "the secret: butter, and a lot of it",
    "secret_name=prod/database",
    "Her secretary: Ann Smith",
    "author: Jane Doe 2024",
    "password=None",
    "password: str | None = None",
    "password=os.environ['DB_PASSWORD']",
    "password=self.password",
    "api_key=settings.OPENAI_API_KEY",
    "api_key=OPENAI_API_KEY",
    "token = get_token()",
    "secret=$(cat secret.txt)",
    "password=${DB_PASSWORD}",
    "password=$DB_PASSWORD",
    "api_key: <your key>",
    "api_key=your_api_key_here",
    "OPENAI_API_KEY=...",
    "password=********",
    "api_key: xxxxxxxxxxxxxxxx",
    "Authorization: Bearer <token>",
    "Authorization: Bearer $TOKEN",
    "Authorization: required",
    "bearer authentication is the usual way",
    "We use bearer tokens.",
    "sk-fading-circle and sk-folding-cube-container are spinners",
    "pk_live_51H8xyzABCDEFGHIJKLMNOP is the publishable key",
    "sklearn-0.24.2-cp39-cp39-manylinux2010_x86_64.whl",
    "https://example.com:8080/path?user=ann#top",
    "git@github.com:ann/project.git",
    "ssh://git@github.com:22/ann/project.git",
    "mailto:ann@example.com",
    "ann@example.com wrote to bob@example.com",
    "https://medium.com/@ann/why-i-left-2023",
    "http://localhost:3000/@vite/client",
    "postgres://ann:${PASSWORD}@localhost/db",
    "primary_key=user_id",
    "public_key: MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=",
    "cache key: da39a3ee5e6b4b0d3255bfef95601890afd80709",
    "the model is claude-3-5-sonnet-20241022, key features: speed",
    "eyJust kidding.",
    "meet at 10:30:45 on 2024-01-15T10:30:00Z",
    "A PEM file begins with -----BEGIN PRIVATE KEY----- and ends likewise.",
    "-----BEGIN CERTIFICATE-----\nMIIBszCCAVmgAwIBAgIUQ2VydGlmaWNhdGVE\n-----END CERTIFICATE-----",
    "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQ\n-----END PUBLIC KEY-----",
    "IBAN DE89 3704 0044 0532 0130 00",
    "ISBN 978-3-16-148410-0",
    "AKIA is how AWS key ids begin",
    "the ghp_ prefix means a personal token",
    "Passwords are hashed with argon2id$v=19$m=65536",
    "keyboard: QWERTZ, hotkey: ctrl+shift+p",
    "Key: C# minor; tempo: 120",
    "the pin is on the map: 52.5200,13.4050",
    "My flight is LH1234, booking reference QX7ABC",
    "version=1.2.3-beta.4+build.20240115",
    "color: #a1b2c3d4",
    "die Schlüssel liegen unter der Matte",
    "session_id=api-1f3870be274f6c49",
    "echo 'OPENAI_API_KEY=sk-...' >> .env",
    "secret = carried or holder_secret",
    "holder_secret: Ed25519PrivateKey | None = None",
    "run --client-secret first.",
    "gateway_session_key: agent:main:webui:dm:user-42",
    "password={{ vault_password }}",
    "password=%(password)s",
    "user=%USER%&password=%PASSWORD%",
    "boarding-pass: QX7ABC12",
    "api_key = (env.get(name) or '').strip()",
    "f'?password={quote(password)}'",
]


@pytest.mark.parametrize("text", INNOCENT)
def test_what_is_no_secret_stays(text):
    assert redact(text) == text
    assert redact(f"Well.\n{text}\nSo it is.") == f"Well.\n{text}\nSo it is."


def test_there_are_many_innocent_ones():
    assert len(INNOCENT) >= 80


def test_a_cap_is_redacted_whole_with_its_secret():
    holder = ed25519.Ed25519PrivateKey.generate()
    claims = capability.Claims(
        iss="urn:souvenance:1",
        aud="urn:souvenance:1",
        sub="ann",
        jti="01ARZ3NDEKTSV4RRFFQ69G5FAV",
        iat=1,
        nbf=1,
        exp=2_000_000_000,
        wid="default",
        cnf=capability.Confirmation(capability.HolderKey.of(holder.public_key())),
        ops=("get", "put"),
        namespaces_allowed=("travel",),
    )
    block = capability.sign(claims, key=_ED25519, kid="k1")
    bearer = capability.bearer(block, holder)
    child = capability.attenuate(bearer, lambda parent: parent, child_secret=holder)
    for token in (block, bearer, child):
        told = redact(f"use this: {token} and go on")
        assert told in (
            "use this: [redacted: cap] and go on",
            "use this: [redacted: token] and go on",
        )


def test_what_is_around_a_secret_stays_as_it_was():
    text = f"Deploy with:\n  export API_KEY={made_up(30)}  # mine\nand then run it."
    assert redact(text) == "Deploy with:\n  export API_KEY=[redacted: secret]  # mine\nand then run it."


def test_the_secret_beside_an_access_key_of_aws_goes_with_it():
    pair = f"AKIA{'ABCDEFGH23456723'},{made_up(40)}"
    assert redact(f"Access key ID,Secret access key\n{pair}\n") == (
        "Access key ID,Secret access key\n[redacted: aws key],[redacted: aws key]\n"
    )


AWS_ID, AWS_SECRET = "AKIA" + "ABCDEFGH23456723", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzzzzzKEYx"[:40]
AWS_PAIRS = [
    "{id} / {secret}",
    "{id}/{secret}",
    "{id}:{secret}",
    "{id} {secret}",
    "{id}\n{secret}",
    "{id} -> {secret}",
    "{id} — {secret}",
    "{id} | {secret} | eu-central-1",
    "`{id}` and `{secret}`",
    "my AWS pair is {id} with {secret}, both for the old account",
    "{id} (and the other half: {secret})",
    "{secret} / {id}",
    "{secret}/{id}",
    "{secret}, which goes with {id}",
    "AWS Access Key ID [None]: {id}\nAWS Secret Access Key [None]: {secret}\nDefault region name [None]:",
    "[default]\naws_access_key_id={id}\naws_secret_access_key={secret}",
    '{{"AccessKeyId": "{id}", "SecretAccessKey": "{secret}"}}',
    "s3://{id}:{secret}@bucket",
    "export AWS_ACCESS_KEY_ID={id} AWS_SECRET_ACCESS_KEY={secret}",
]


@pytest.mark.parametrize("written", AWS_PAIRS)
def test_both_halves_of_an_aws_pair_go_however_it_is_written(written):
    told = redact(written.format(id=AWS_ID, secret=AWS_SECRET))
    assert AWS_ID not in told
    assert AWS_SECRET[:12] not in told and AWS_SECRET[-12:] not in told
    words = [word for word in ("region", "old account", "bucket", "eu-central-1") if word in written]
    assert all(word in told for word in words)


def test_what_is_no_secret_stays_beside_an_access_key_of_aws():
    sha, name = made_up(40, HEX), "AbstractSingletonProxyFactoryBeanBuilders"[:40]
    told = redact(f"{AWS_ID} was in commit {sha}, in the class {name}")
    assert told == f"[redacted: aws key] was in commit {sha}, in the class {name}"


def test_several_secrets_are_each_redacted_by_their_kind():
    text = f"AWS AKIA{'ABCDEFGH23456723'} and GitHub ghp_{made_up(36)} and postgres://ann:pw1@host/db"
    assert redact(text) == (
        "AWS [redacted: aws key] and GitHub [redacted: github token]"
        " and postgres://ann:[redacted: password]@host/db"
    )


FRAGMENTS = st.sampled_from(
    [
        *list(KNOWN_BAD.values())[13:],
        *(sentence.format(secret) for sentence, secret in ASSIGNED.items()),
        *INNOCENT,
        "password",
        "token",
        "key",
        "secret: ",
        "=",
        ": ",
        " is ",
        "[redacted: token]",
        "[redacted: private key]",
        "-----BEGIN PRIVATE KEY-----\n",
        "-----END PRIVATE KEY-----",
        "\n",
        " ",
        '"',
        "'",
        "~",
        "://",
        "@",
        made_up(40),
        made_up(40, HEX),
        "hunter2",
    ]
)


@given(st.lists(FRAGMENTS | st.text(max_size=8), max_size=12).map("".join))
def test_what_was_redacted_stays_as_it_is(text):
    once = redact(text)
    assert redact(once) == once


@given(st.text())
def test_anything_may_be_said(text):
    assert isinstance(redact(text), str)
