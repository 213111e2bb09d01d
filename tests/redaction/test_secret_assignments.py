"""Secrets that only a name or a place gives away, and the many things that only look like one."""

from __future__ import annotations

import json
import string
from random import Random

import pytest

from hansei.redaction.assignments import secret_name
from hansei.redaction.engine import Redactor
from hansei.redaction.redactor import PLACEHOLDER

REDACTOR = Redactor(b"a key for tests")


def shown(text: str) -> list[str]:
    return [match.decode() for match in PLACEHOLDER.findall(text.encode())]


def made_key(seed: int) -> str:
    """A key with no shape of its own."""
    return "".join(Random(seed).choices(string.ascii_letters, k=20)) + f"{seed % 10}zQ7w"


def made_password(seed: int) -> str:
    """A password as people choose them: words, a number, a sign."""
    words = Random(seed).sample(["blue", "river", "stone", "cloud", "winter", "maple"], k=2)
    return "".join(word.title() for word in words) + f"{seed % 90 + 10}!"


WRITTEN = [
    "export GITHUB_TOKEN={}",
    "GITHUB_TOKEN={} gh api /user",
    "GITHUB_TOKEN='{}'",
    'DB_PASSWORD="{}"',
    "DB_PASSWORD={}\nNEXT=1",
    "docker run -e API_KEY={} image",
    "set AWS_SESSION_TOKEN={}",
    "client_secret: {}",
    "  apiKey: '{}'",
    "password: {}\nuser: me",
    '{{"password": "{}"}}',
    '{{"access_token":"{}","expires_in":3600}}',
    "{{'api_key': '{}'}}",
    'password = "{}"',
    'secret_key = "{}"',
    "const apiKey = '{}';",
    "let authToken: string = `{}`;",
    'password: str = "{}"',
    'String password = "{}";',
    'apiKey := "{}"',
    "'password' => '{}',",
    ':client_secret => "{}"',
    'os.environ["API_KEY"] = "{}"',
    "process.env.API_KEY = '{}'",
    'config["private_key"] = "{}"',
    "connect(password='{}', timeout=3)",
    "if (token === '{}') return",
    "https://a.example/cb?access_token={}&state=1",
    "https://a.example/cb?page=1&api_key={}",
    "Server=a;User Id=b;Password={};Port=1",
    'curl -H "X-Api-Key: {}" https://a.example',
    "x-auth-token: {}",
    "--token {} --verbose",
    "--token={} --verbose",
    "mytool --db-password '{}' run",
    "//registry.example/:_authToken={}",
    "[default]\naws_session_token = {}\n",
    "Credential: {}",
    "PGPASSWORD={} psql -h a",
    "MYSQL_PWD={} mysql",
    "SMTP_PASS={}",
    "   12→API_TOKEN={}",
    "+API_TOKEN={}",
    "-    apiToken: '{}',",
    "encryption_key: '{}'",
    "passphrase = '{}'",
    "new_password: '{}'",
    "passwordConfirmation: '{}'",
]


@pytest.mark.parametrize("line", WRITTEN)
@pytest.mark.parametrize("seed", range(5))
def test_what_is_assigned_to_a_secret_name_is_replaced(line: str, seed: int) -> None:
    for secret in (made_key(seed), made_password(seed)):
        (placeholder,) = shown(REDACTOR.scrub(line.format(secret)))
        assert placeholder.startswith("[secret:value:")
        assert REDACTOR.scrub(line.format(secret)) == line.format(placeholder)


@pytest.mark.parametrize("line", WRITTEN)
@pytest.mark.parametrize("times", [1, 2, 3])
def test_the_same_is_replaced_inside_escaped_json(line: str, times: int) -> None:
    secret = made_key(1)
    text = "first\n" + line.format(secret) + "\nlast"
    for _ in range(times):
        text = json.dumps({"output": text})
    assert secret not in REDACTOR.scrub(text)


@pytest.mark.parametrize(
    "text",
    [
        "postgres://me:{}@db.example:5432/app",
        "mysql://root:{}@127.0.0.1/app",
        "mongodb+srv://me:{}@cluster.example/?retryWrites=true",
        "redis://:{}@cache.example:6379/0",
        "amqp://guest:{}@mq.example//",
        "https://me:{}@a.example/repo.git",
        'DATABASE_URL="postgresql+asyncpg://me:{}@db/app"',
        "smtp://me@a.example:{}@mail.example:25",
        "https://{}@a.example/repo.git",
        "git+https://{}@10.0.0.1:8443/x",
        r'{{"url": "postgres:\/\/me:{}@db\/app"}}',
        "Authorization: Bearer {}",
        "authorization: token {}",
        'curl -H "Authorization: Basic {}" https://a.example',
        '{{"Authorization": "Bearer {}"}}',
        r"{{\"Authorization\": \"Bearer {}\"}}",
        "headers['Authorization'] = 'Bearer {}'",
        'req.headers.set("Authorization", "Bearer {}")',
        "Proxy-Authorization: Basic {}",
        "AUTHORIZATION: Bearer {}",
        "then I sent bearer {} along",
        "curl -s -u me:{} https://a.example",
        "curl --user 'me:{}' https://a.example",
        "sshpass -p {} ssh me@a.example",
        "machine a.example login me password {}",
        "//registry.example/:_auth={}",
        '{{"auths": {{"a.example": {{"auth": "{}"}}}}}}',
    ],
)
def test_a_secret_is_replaced_by_its_place_and_nothing_around_it(text: str) -> None:
    secret = made_key(3)
    (placeholder,) = shown(REDACTOR.scrub(text.format(secret)))
    assert REDACTOR.scrub(text.format(secret)) == text.format(placeholder)


@pytest.mark.parametrize(
    "text",
    [
        "postgres://me:{}@host/db",
        "postgres://me:{}@10.0.0.1",
        "amqp://me:{}@mq.a.example",
        "redis://:{}@cache:6379/0 and more",
        "smtp://me@a.example:{}@mail.example:25",
    ],
)
def test_a_password_in_an_address_may_have_slashes(text: str) -> None:
    secret = f"{made_key(7)}/{made_key(8)}/x"
    clean = REDACTOR.scrub(text.format(secret))
    assert clean == text.format(*shown(clean))
    escaped = json.dumps(text.format(secret)).replace("/", r"\/")
    assert made_key(8) not in REDACTOR.scrub(escaped)


def test_one_secret_has_one_placeholder_in_every_place() -> None:
    secret = made_key(4)
    text = f"PASSWORD={secret}\npostgres://me:{secret}@db/x\n--token {secret}\nBearer {secret}"
    assert len(shown(REDACTOR.scrub(text))) == 4
    assert len(set(shown(REDACTOR.scrub(text)))) == 1


def test_a_secret_with_a_shape_keeps_its_kind_when_it_is_assigned() -> None:
    secret = "ghp_" + made_key(5) + made_key(6)[:12]
    alone = REDACTOR.scrub(secret)
    assert alone.startswith("[secret:github-token:")
    for line in ("GITHUB_TOKEN={}", "Authorization: token {}", "https://x:{}@github.com/a.git"):
        assert REDACTOR.scrub(line.format(secret)) == line.format(alone)


HASH = "0123456789abcdef0123456789abcdef01234567"
UUID = "3f2504e0-4f89-11d3-9a0c-0305e82c3301"

UNCHANGED = [
    # nothing, or no literal
    "PASSWORD=",
    'password = ""',
    "token: null",
    "token = None",
    "API_KEY=true",
    "password: false,",
    "PASSWORD=12345",
    "max_tokens: 4096",
    "tokens=1234",
    "token_count = 17",
    '"input_tokens": 12,',
    "total_tokens=123456789",
    "tokenLimit: 200000",
    "token_expiry: 2026-11-16T05:00:00Z",
    "api_key_version: v1.2.3",
    "password_timeout: 30s",
    # references
    "GITHUB_TOKEN=$TOKEN",
    "GITHUB_TOKEN=${GITHUB_TOKEN:-}",
    "GITHUB_TOKEN=$PREFIX$TOKEN2",
    "GITHUB_TOKEN=$PREFIX-$TOKEN2-$THIRD",
    'export API_KEY="$(cat key.txt)"',
    "API_KEY=%API_KEY%",
    "token: ${{ secrets.GITHUB_TOKEN }}",
    "apiKey: process.env.OPENAI_API_KEY",
    "apiKey: process.env.API_KEY2!,",
    "api_key=os.environ['API_KEY']",
    'api_key = os.getenv("API_KEY")',
    "token: import.meta.env.VITE_TOKEN",
    "secret: !Ref DbSecret",
    "password: {{ vault_password }}",
    "password: op://vault/item/field",
    "token: vault:secret/data/app",
    'password: "<%= ENV["X"] %>"',
    "secret_arn: arn:aws:secretsmanager:eu-west-1:1:secret:x",
    'f"Authorization: Bearer {token}"',
    "`Authorization: Bearer ${token}`",
    'token = f"{prefix}-{number:04d}"',
    "postgres://me:$PASSWORD@db/app",
    "postgres://me:${DB_PASSWORD}@db/app",
    "postgres://{user}:{password}@{host}/app",
    # stand-ins
    "API_KEY=<your-token>",
    "API_KEY=your_token_here",
    'apiKey: "your-api-key"',
    "API_KEY=xxx",
    "API_KEY=xxxxxxxx",
    "PASSWORD=changeme",
    "PASSWORD=CHANGE_ME",
    "password: '********'",
    "token: ***",
    "API_KEY=sk-...",
    "API_KEY=abc123...",
    'secret: "[REDACTED]"',
    "SECRET=replace-me",
    "SECRET_KEY=insert_secret_key_here",
    "TOKEN=example-token-123",
    "postgres://user:password@localhost/db",
    "postgres://user:***@localhost/db",
    "Authorization: Bearer YOUR_TOKEN_HERE",
    "Authorization: Bearer <token>",
    # types and code
    "password: string",
    "password: string;",
    "password?: string | null",
    "token: Optional[str] = None",
    "api_key: SecretStr",
    "privateKey: Uint8Array;",
    "token = get_token()",
    "token = await fetchToken(user2)",
    "next_token = tokens[i]",
    "token=token,",
    "password=args.password2",
    "secret = self.config.secret",
    "api_key=api_key)",
    "token: z.string().min(10)",
    "password: hash1(password)",
    "token := parser.next()",
    "password => setPassword(password)",
    "const token = useToken();",
    "token == other_token2",
    "Token::parse(input1)",
    "token: Token2,",
    "apiKey: config1.apiKey",
    # words, messages, names of things
    'password: "Password must have 8 characters"',
    '"token": "The token to use in version 2"',
    "Password: required",
    "token: 'auth_token'",
    'TOKEN_KEY = "auth_token"',
    '"api_key": "OPENAI_API_KEY"',
    "type: 'password'",
    'token_type: "Bearer"',
    "credentials: 'include'",
    "credentials: 'same-origin'",
    "secretName: my-app-config",
    "secret: db-credentials-v2",
    'secret: "my-app-2024"',
    "eos_token: '</s>'",
    "pad_token = '[PAD]'",
    "nextPageToken: 'CAUQAA12345678'",
    "tokenColor: '#a1b2c3'",
    "token_url = 'https://a.example/oauth2/token'",
    "token: https://a.example/v2/token1",
    "password_file: /run/secrets/db2",
    "secret: /run/secrets/db2",
    "PWD=/home/me/project2",
    "OLDPWD=/home/me/Project2",
    "pwd: '/home/me/project2'",
    "tokenizer = 'gpt2-medium-v1'",
    "secretary: 'room 1234'",
    "algorithm: HS256",
    "secret: HS256",
    "password_encoding: utf-8",
    "the password is hunter2",
    "a token of 12345 bytes",
    "use --token to pass it",
    "the --password flag is required",
    "git push -u origin main:main2",
    "docker run -u 1000:1000 image",
    "machine learning login page",
    # addresses without a password
    "http://localhost:3000/@vite/client",
    "https://a.example:8443/x@2",
    "http://127.0.0.1:8000,admin@a.example",
    "git@github.com:me/repo.git",
    "ssh://git@github.com:22/me/repo.git",
    "ssh://git@a.example/me/repo.git",
    "https://registry.example/@scope1/package-name",
    "https://registry.example:4873/@scope1/package-name@1.2.3",
    "https://a.example/@someone2024withalongname/post",
    "sftp://firstname.lastname2@a.example/files",
    "https://${GITHUB_TOKEN_2_OF_MANY}@github.com/me/repo.git",
    "https://<your-token-0123456789>@github.com/me/repo.git",
    "docker://registry-image-20240101A@sha256:0a1b2c3d",
    "http://[::1]:3000/a@b.example/",
    "a{grid-area:b@c} x:y@z user@host firstname.lastname1234567@a.example",
    "docker://alpine:3.19@sha256:0a1b2c3d",
    "mailto:me@a.example",
    # hashes and ids
    f"commit: {HASH}",
    f"sha: {HASH}{HASH[:24]}",
    f"key: {HASH}",
    f"cache_key={HASH}",
    f"primary_key: {UUID}",
    f"public_key: '{HASH}'",
    f"session_id={UUID}",
    f"tool_use_id: '{UUID}'",
    f"token_id: {UUID}",
    f"secret_sha={HASH}",
    f'"credential_id": "{UUID}"',
    f"Authorized by {UUID}",
]


@pytest.mark.parametrize("text", UNCHANGED)
def test_what_is_no_secret_stays(text: str) -> None:
    assert REDACTOR.scrub(text) is text
    longer = f"{text}\n" + "and more text to read " * 60
    assert REDACTOR.scrub(longer) is longer


@pytest.mark.parametrize("value", [HASH, HASH + HASH[:24], UUID])
def test_a_hash_or_uuid_under_a_secret_name_is_a_secret(value: str) -> None:
    assert value not in REDACTOR.scrub(f"API_TOKEN={value}")
    assert value not in REDACTOR.scrub(f'"client_secret": "{value}"')


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("password", "password"),
        ("DB_PASS", "password"),
        ("dbPasswd", "password"),
        ("PGPASSWORD", "password"),
        ("user-pwd", "password"),
        ("GITHUB_TOKEN", "key"),
        ("accessToken", "key"),
        ("authtoken", "key"),
        ("password_reset_token", "password"),
        ("X-Api-Key", "key"),
        ("APIKey", "key"),
        ("AWS_SECRET_ACCESS_KEY", "key"),
        ("clientSecret", "key"),
        ("credentials", "key"),
        ("TOKEN_PROD", "key"),
        ("secret2", "key"),
        ("key", None),
        ("cache_key", None),
        ("public_key", None),
        ("primaryKey", None),
        ("commit", None),
        ("tokens", None),
        ("tokenizer", None),
        ("secretary", None),
        ("max_tokens", None),
        ("token_count", None),
        ("secretName", None),
        ("passwordField", None),
        ("access_key_id", None),
        ("pass", None),
        ("compass", None),
        ("", None),
    ],
)
def test_the_last_word_of_a_name_says_what_it_is_about(name: str, kind: str | None) -> None:
    assert secret_name(name) == kind


def test_a_value_with_signs_of_its_own_is_taken_whole_in_a_shell() -> None:
    text = "DB_PASSWORD=p@ss,w0rd;x|y(z)\nNEXT=1"
    assert shown(REDACTOR.scrub(text)) == [REDACTOR.scrub(text)[12:-7]]


@pytest.mark.parametrize("scheme", ["2b$10", "argon2id$v=19$m=65536", "pbkdf2-sha256$29000"])
def test_the_hash_of_a_password_is_a_secret(scheme: str) -> None:
    text = f'password_hash = "${scheme}${made_key(9)}"'
    assert made_key(9) not in REDACTOR.scrub(text)


def test_a_quoted_value_with_an_escaped_quote_is_taken_whole() -> None:
    text = r'password = "abc\"def9"; x = "y"'
    assert "def9" not in REDACTOR.scrub(text)
    assert REDACTOR.scrub(text).endswith('"; x = "y"')


def test_a_value_whose_closing_quote_was_cut_off_is_replaced() -> None:
    text = f'password = "{made_password(8)}'
    assert made_password(8) not in REDACTOR.scrub(text)
