from processes import run_souvenance


def test_a_line_put_today_is_recalled_by_a_fresh_process_with_a_narrower_cap(home):
    run_souvenance("put", "Trip to Chengdu, May 25-29", "-n", "travel", home=home)
    run_souvenance("put", "Allergic to peanuts", "-n", "personal", home=home)
    travel_only = run_souvenance(
        "cap", "mint", "--sub", "owner", "--ops", "get", "--namespaces", "travel", home=home
    ).stdout.strip()
    found = run_souvenance("--cap", travel_only, "get", "where am I going this weekend?", home=home)
    refused = run_souvenance(
        "--cap", travel_only, "get", "-n", "personal", "allergic", home=home, exit_code=5
    )
    assert "Chengdu" in found.stdout
    assert "peanuts" not in found.stdout
    assert "namespace_denied" in refused.stderr
