"""Data and work in the inspector, as people use them."""

from __future__ import annotations

import json
import re
import shutil
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

import httpx
import pytest
from playwright.sync_api import expect

from browser.axe import troubles_of
from inspector.conftest import SAID, W, chatgpt_export, choose
from inspector.vendored_assets import differing
from processes import until
from souvenance.domain.names import COMMON_NAMESPACE
from surfaces.door import serving, souvenance

OFF = {"java_script_enabled": False}
MOST_FIRST_VIEW = 60_000


class Receiver(BaseHTTPRequestHandler):
    """Takes webhooks, or refuses them for good."""

    status = 410
    taken = 0

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        type(self).taken += type(self).status == 200
        self.send_response(type(self).status)
        self.end_headers()

    def log_message(self, *told):
        """Nothing."""


@pytest.fixture(scope="module")
def receiver():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/hook"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """One of this file's own, since it is filled, and may call this machine."""
    home = tmp_path_factory.mktemp("data") / "home"
    with serving(home, SOUVENANCE_WEBHOOK_PRIVATE="1", SOUVENANCE_IMPORT_BYTES="3000000") as found:
        for who, about, day, text in SAID:
            told = [{"peer_id": who, "content": text, "created_at": f"{day}T10:00:00Z"}]
            found.owner.post(f"{W}/sessions/{who}-{about}/messages", json={"messages": told})
        found.owner.post("/v1/memory/put", json={"text": "allergic to nuts", "namespace": "personal"})
        yield found


@pytest.mark.parametrize("options", [{}, OFF], ids=["with scripts", "without scripts"])
def test_a_chatgpt_export_is_looked_at_then_imported_with_a_report(server, window, tmp_path, options):
    workspace = "scripted" if options else "home"
    path, count = chatgpt_export(tmp_path)
    page = window(**options)
    choose(page, server, path, workspace)
    expect(page.get_by_role("heading", name="What conversations.json holds")).to_be_visible()
    expect(page.locator(".facts")).to_contain_text(str(count))
    said_before = server.owner.post(f"/v3/workspaces/{workspace}/sessions/list", json={}).json()["items"]
    assert not [one for one in said_before if one["id"].startswith("chatgpt")]
    page.get_by_role("button", name="Import it").click()
    expect(page.get_by_role("heading", name="Imported")).to_be_visible()
    expect(page.locator(".facts")).to_contain_text(f"Messages{count}", use_inner_text=False)
    stored = server.owner.post(f"/v3/workspaces/{workspace}/sessions/list", json={}).json()["items"]
    assert len([one for one in stored if one["id"].startswith("chatgpt")]) == 3
    choose(page, server, path, workspace)
    expect(page.locator(".lead")).to_contain_text(f"All of it is in the workspace {workspace} already.")
    expect(page.locator(".facts")).to_contain_text(f"There already{count}", use_inner_text=False)
    expect(page.get_by_role("button", name="Import it")).to_have_count(0)
    longer, more = chatgpt_export(tmp_path, messages=61)
    choose(page, server, longer, workspace)
    expect(page.locator(".facts")).to_contain_text(f"Messages{more - count}", use_inner_text=False)
    expect(page.locator(".facts")).to_contain_text(f"There already{count}", use_inner_text=False)
    page.get_by_role("button", name="Import it").click()
    expect(page.locator(".facts")).to_contain_text(f"There already{count}", use_inner_text=False)


def test_an_archive_is_compared_with_what_is_there_before_it_is_imported(server, window, tmp_path):
    def said(workspace, text):
        path = f"/v3/workspaces/{workspace}/sessions/archived/messages"
        server.owner.post(path, json={"messages": [{"peer_id": "ola", "content": text}]}).raise_for_status()

    said("packed", "I like figs.")
    page, path = window(**OFF), tmp_path / "packed.souvenance"
    page.goto(f"{server.url}/inspect/data?w=packed")
    page.get_by_label("As", exact=True).select_option("archive")
    with page.expect_download() as began:
        page.get_by_role("button", name="Download", exact=True).click()
    began.value.save_as(path)
    facts = page.locator(".facts")
    choose(page, server, path, "packed", "")
    expect(facts).to_contain_text("New0", use_inner_text=False)
    expect(page.locator(".lead")).to_contain_text("All of it is in the workspace packed already.")
    choose(page, server, path, "unpacked", "")
    expect(facts).not_to_contain_text("There already")
    expect(facts).not_to_contain_text("New0", use_inner_text=False)
    page.get_by_role("button", name="Discard").click()
    named = [one["id"] for one in server.owner.post("/v3/workspaces/list", json={}).json()["items"]]
    assert "unpacked" not in named


def test_a_file_that_is_discarded_or_unreadable_stores_nothing(server, window, tmp_path):
    path, _ = chatgpt_export(tmp_path)
    page = window(**OFF)
    choose(page, server, path, "discarded")
    page.get_by_role("button", name="Discard").click()
    expect(page.get_by_role("heading", name="Data", exact=True)).to_be_visible()
    broken = tmp_path / "conversations.json"
    broken.write_text('[{"mapping": {}}]')
    choose(page, server, broken, "discarded")
    expect(page.get_by_role("heading", name="The import stopped")).to_be_visible()
    expect(page.locator(".trouble")).to_contain_text("conversation 1: it has no id")
    for size in (3_000_001, 3_500_000):
        large = tmp_path / "large.jsonl"
        large.write_bytes(b" " * size)
        choose(page, server, large, "discarded", "jsonl")
        expect(page.locator("main")).to_contain_text("file_too_large")
    named = [one["id"] for one in server.owner.post("/v3/workspaces/list", json={}).json()["items"]]
    assert "discarded" not in named


def test_a_person_is_exported_as_text_and_as_an_archive_that_reads_back(server, window, tmp_path):
    page = window(**OFF)
    saved = {}
    for kind in ("json", "markdown", "archive"):
        page.goto(f"{server.url}/inspect/data?w=home")
        page.get_by_label("Whose memory").fill("ann")
        page.get_by_label("As", exact=True).select_option(kind)
        with page.expect_download() as began:
            page.get_by_role("button", name="Download", exact=True).click()
        saved[kind] = tmp_path / began.value.suggested_filename
        began.value.save_as(saved[kind])
    told = json.loads(saved["json"].read_text())
    texts = [one["text"] for one in told if one.get("record") == "line"]
    assert "I'm allergic to penicillin." in texts
    assert not [text for text in texts if "vegetarian" in text]
    markdown = pages_of(saved["markdown"])
    assert "# What is remembered of ann" in markdown
    assert "I live in Porto now." in markdown
    for kind, path in saved.items():
        choose(page, server, path, f"moved-{kind}", "")
        expect(page.locator(".lead")).to_contain_text("It is an export of Souvenance")
        page.get_by_role("button", name="Import it").click()
        expect(page.get_by_role("heading", name="Imported")).to_be_visible()
        listed = f"/v3/workspaces/moved-{kind}/sessions/ann-health/messages/list"
        moved = server.owner.post(listed, json={}).json()
        assert [one["content"] for one in moved["items"]] == ["I'm allergic to penicillin."]


def pages_of(path):
    """All pages of a zip."""
    with zipfile.ZipFile(path) as archive:
        return "".join(archive.read(name).decode() for name in archive.namelist())


def test_a_vault_is_imported_as_a_zip(server, window, tmp_path):
    path = tmp_path / "vault.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(
            "vault/Coffee.md", "---\ntitle: Coffee\n---\n- Ann likes pour over\n\n> a quotation\n"
        )
        archive.writestr("vault/cup.png", "no words")
    page = window(**OFF)
    choose(page, server, path, "vaulted", "")
    expect(page.locator(".lead")).to_contain_text("It is a vault of Obsidian or basic-memory")
    expect(page.locator("main")).to_contain_text("vault/Coffee.md, line 6")
    expect(page.locator("main")).to_contain_text("vault/cup.png")
    page.get_by_role("button", name="Import it").click()
    expect(page.get_by_role("heading", name="Imported")).to_be_visible()
    stored = server.owner.post("/v3/workspaces/vaulted/conclusions/list", json={}).json()
    assert [one["content"] for one in stored["items"]] == ["Quoted: “Coffee: Ann likes pour over”"]


def test_a_backup_is_downloaded_and_restores(server, window, tmp_path):
    page = window(**OFF)
    page.goto(f"{server.url}/inspect/data")
    with page.expect_download() as began:
        page.get_by_role("button", name="Download a backup").click()
    began.value.save_as(tmp_path / "backup")
    souvenance("restore", str(tmp_path / "backup"), home=tmp_path / "again")
    assert not (tmp_path / "again" / "root.key").exists()
    for key in ("root.key", "signing.key", "owner.cap"):
        shutil.copy(server.home / key, tmp_path / "again")
    assert "nuts" in souvenance("get", "what am I allergic to?", home=tmp_path / "again").out
    assert not list(server.home.glob(".backup*"))
    rows = server.owner.get("/v1/audit", params={"limit": 1000}).json()["rows"]
    assert "keep.backup" in [row["operation"] for row in rows]


def test_a_failed_job_is_shown_with_its_reason_and_tried_again(server, window, receiver):
    made = server.owner.post(f"{W}/webhooks", json={"url": receiver})
    assert made.status_code in (200, 201), made.text
    told = [{"peer_id": "ann", "content": "I have a cat."}]
    server.owner.post(f"{W}/sessions/ann-talk/messages", json={"messages": told})
    page = window(**OFF)

    def failed():
        page.goto(f"{server.url}/inspect/work?w=home")
        return page.get_by_text("it was not delivered").count()

    until(failed)
    seen = window()
    seen.goto(page.url)
    expect(seen.get_by_text("it was not delivered").first).to_be_visible()
    assert troubles_of(seen) == []
    Receiver.status = 200
    row = page.locator("tr", has_text="it was not delivered").first
    expect(row).to_contain_text("Deliver a webhook")
    expect(row).to_contain_text("(the receiver answered 410), after 1 try")
    row.get_by_role("button", name="Try again").click()
    until(lambda: Receiver.taken)
    rows = server.owner.get("/v1/audit", params={"limit": 1}).json()
    assert rows["rows"]


def test_the_live_tail_tells_of_a_request_that_is_made_meanwhile(server, window):
    page = window()
    page.goto(f"{server.url}/inspect/work?w=home")
    expect(page.get_by_text("Live.")).to_be_visible()
    told = [{"peer_id": "carla", "content": "<b>My secret</b> is safe."}]
    carla = server.client(server.mint("carla", ["put", "get", "list"], [COMMON_NAMESPACE], wid="home"))
    carla.post(f"{W}/sessions/x-carla/messages", json={"messages": told})
    row = page.locator("#tail li", has_text="carla").first
    expect(row).to_be_visible()
    expect(page.locator("#tail")).not_to_contain_text("secret")
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_text("Paused.")).to_be_visible()
    carla.get("/v1/caps/whoami")
    page.get_by_role("button", name="Go on").click()
    expect(page.get_by_text("Live.")).to_be_visible()


def test_without_scripts_the_page_shows_what_happened_last(server, window):
    page = window(**OFF)
    server.owner.post(f"{W}/sessions/list", json={})
    page.goto(f"{server.url}/inspect/work?w=home")
    expect(page.locator("#tail li").first).to_be_visible()
    expect(page.get_by_role("link", name="Look again").last).to_be_visible()


def test_figures_are_drawn_and_stay_in_the_page_as_a_table(server, window):
    page = window()
    page.goto(f"{server.url}/inspect/data?w=home")
    expect(page.locator(".plot canvas").first).to_be_visible()
    expect(page.get_by_role("table", name="Lines by person and agent")).to_contain_text("ann")


def test_a_persons_token_sees_and_exports_that_person_alone(server, window, visitor):
    tokens = {
        name: server.mint(name, ["get", "list", "put", "audit"], [COMMON_NAMESPACE], wid="home")
        for name in ("ann", "ben")
    }
    ann, ben = window(tokens["ann"], **OFF), window(tokens["ben"], **OFF)
    for page, name, other in ((ann, "ann", "ben"), (ben, "ben", "ann")):
        page.goto(f"{server.url}/inspect/data")
        main = page.locator("main")
        expect(main).to_contain_text(f"What is stored of {name}")
        page.get_by_role("link", name="Count the lines", exact=True).click()
        expect(page.get_by_role("table", name="Lines by namespace")).to_contain_text(COMMON_NAMESPACE)
        page.get_by_role("link", name="Count the lines by kind").click()
        expect(page.get_by_role("table", name="Lines by kind")).to_contain_text("message")
        expect(main).not_to_contain_text("Download a backup")
        expect(page.get_by_label("File", exact=True)).to_have_count(0)
        with page.expect_download() as began:
            page.get_by_role("button", name="Download", exact=True).click()
        told = pages_of(began.value.path())
        assert SAID[0][3] in told if name == "ann" else SAID[4][3] in told
        assert f"people/{other}" not in told
        page.goto(f"{server.url}/inspect/work")
        expect(page.locator("main")).to_contain_text("does not show the jobs")
        assert not page.locator("#tail bdi", has_text="owner").count()
        expect(main).not_to_contain_text("Models")


def _csrf(client, path="/inspect/data"):
    return re.search(r'name="csrf" value="([^"]+)"', client.get(path).text)[1]


def test_a_narrow_token_is_refused_what_only_others_may(server, visitor):
    ben = visitor(server.mint("ben", ["get", "list", "put"], [COMMON_NAMESPACE], wid="home"))
    csrf = _csrf(ben)
    asked = {"csrf": csrf, "format": "json", "w": "home"}
    assert ben.post("/inspect/data/export", data={**asked, "person": "ann"}).status_code == 403
    assert ben.post("/inspect/data/backup", data={"csrf": csrf}).status_code == 403
    file = {"file": ("x.jsonl", b'{"role": "user", "content": "planted"}\n')}
    assert ben.post("/inspect/data/import?w=home", data={"csrf": csrf}, files=file).status_code == 403
    assert ben.post("/inspect/work/jobs/1/retry", data={"csrf": csrf, "w": "home"}).status_code == 403
    assert ben.get("/inspect/work/tail?w=home").status_code == 403


def test_an_import_is_seen_by_the_token_alone_that_began_it(server, visitor):
    owner = visitor()
    file = {"file": ("x.jsonl", b'{"role": "user", "content": "only mine"}\n')}
    csrf = _csrf(owner)
    begun = owner.post("/inspect/data/import?w=alone", data={"csrf": csrf}, files=file)
    assert begun.status_code == 200
    other = visitor(server.mint("admin", None, ["*"], wid="alone", peers=["*"]))
    path = begun.url.path
    assert other.get(path).status_code == 404
    sent = {"csrf": _csrf(other)}
    assert other.post(f"{path}/start", data=sent).status_code == 404
    assert other.post(f"{path}/discard", data=sent).status_code == 404
    assert owner.get(path).status_code == 200


@pytest.mark.parametrize("csrf", [None, "", "wrong"])
@pytest.mark.parametrize(
    "path", ["export", "import?w=home", "backup", "imports/x/start", "imports/x/discard"]
)
def test_a_form_about_data_needs_its_own_token(server, visitor, path, csrf):
    client = visitor()
    sent = {"format": "json", **({} if csrf is None else {"csrf": csrf})}
    files = {"file": ("x.jsonl", b"{}\n")} if path.startswith("import?") else None
    assert client.post(f"/inspect/data/{path}", data=sent, files=files).status_code == 403


def test_an_upload_of_another_site_is_refused_before_it_is_read(server, visitor):
    client = visitor()
    file = {"file": ("x.jsonl", b"{}\n")}
    sent = {"csrf": _csrf(client)}
    for headers in ({"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}):
        answer = client.post("/inspect/data/import?w=home", data=sent, files=file, headers=headers)
        assert answer.status_code == 403


def test_no_request_of_a_page_leaves_the_server(server, window):
    page = window()
    asked, complaints = [], []
    page.on("request", lambda one: asked.append(one.url))
    page.on("console", lambda one: complaints.append(one.text) if one.type == "error" else None)
    for path, there in (
        ("/", "h1"),
        ("/inspect/data?w=home", ".plot canvas"),
        ("/inspect/work?w=home", ".watch"),
    ):
        page.goto(server.url + path)
        expect(page.locator(there).first).to_be_visible()
    assert len(asked) > 8
    assert {urlsplit(one).netloc for one in asked} == {urlsplit(server.url).netloc}
    assert complaints == []


@pytest.mark.parametrize(
    ("path", "most"),
    [
        ("/?w=home", MOST_FIRST_VIEW),
        ("/inspect/work?w=home", MOST_FIRST_VIEW),
        ("/inspect/data", 2 * MOST_FIRST_VIEW),
    ],
)
def test_the_first_view_is_small_and_has_charts_only_where_they_are(server, window, browser, path, most):
    context = browser.new_context(storage_state=window().context.storage_state())
    try:
        page, sizes = context.new_page(), {}
        page.on(
            "requestfinished",
            lambda one: sizes.setdefault(urlsplit(one.url).path, one.sizes()["responseBodySize"]),
        )
        page.goto(server.url + path)
        expect(page.locator("h1").first).to_be_visible()
        last = "uplot.min.js" if path == "/inspect/data" else "htmx.min.js"
        until(lambda: page.wait_for_timeout(20) or any(last in one for one in sizes))
    finally:
        context.close()
    assert sum(sizes.values()) <= most, sizes
    assert any("uplot" in one for one in sizes) == (path == "/inspect/data")


def test_what_is_vendored_is_what_was_pinned_and_has_its_licence_beside_it(server):
    assert differing() == []
    packed = httpx.get(f"{server.url}/inspect/static/vendor/htmx.min.js", trust_env=False)
    assert packed.headers["content-encoding"] == "gzip"
    assert packed.headers["content-type"].startswith("text/javascript")
    plain = httpx.get(
        f"{server.url}/inspect/static/vendor/htmx.min.js",
        headers={"accept-encoding": "identity"},
        trust_env=False,
    )
    assert "content-encoding" not in plain.headers
    assert plain.content == packed.content


def test_everybody_who_stored_something_is_listed_with_how_much(server, visitor):
    people = [f"person-{number:02}" for number in range(11)]
    for name in people:
        said = [{"peer_id": name, "content": "Good morning."}]
        server.owner.post("/v3/workspaces/crowd/sessions/s/messages", json={"messages": said})
    page = visitor().get("/inspect/data/stored?w=crowd").text
    assert [name for name in people if f"<bdi>{name}</bdi>" not in page] == []
    assert "3 more with 3 lines" in page
