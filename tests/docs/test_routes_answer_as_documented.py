from reference_pages import REFERENCE

from story import Stage


def test_a_refusal_of_too_much_metadata_is_one_that_the_reference_names(tmp_path):
    with Stage(tmp_path) as stage:
        stage.serve()
        owner = (stage.home / "owner.cap").read_text().strip()
        body = {"text": "a line", "metadata": {"note": "x" * 70_000}}
        answer = stage.ask("POST", "/v1/memory/put", body, cap=owner)
    page = (REFERENCE / "http.md").read_text("utf-8")
    refusals = page.split("## Refusals\n")[1].split("\n## ")[0]
    assert answer.status == 413
    assert b'"error":"limit_exceeded"' in answer.body
    assert "`limit_exceeded`" in refusals
