"""The command `retention`: rules for how long lines are kept."""

from __future__ import annotations

import click
from msgspec.structs import replace

from souvenance.domain.retention import FADE, FORGET, SUMMARISE, Then
from souvenance.errors import InvalidInput
from souvenance.gate import messages as m
from souvenance.gate import retention as t
from souvenance.surfaces.cli.output import confirm, counted, table, yes_option
from souvenance.surfaces.cli.session import DATA, SPAN, Group, Shell, pass_shell

_DAY_SECONDS = 86_400
_DOES = {FORGET: "goes", SUMMARISE: "goes once it is summarised", FADE: "ranks half as well"}


@click.group(cls=Group, section=DATA)
def retention() -> None:
    """Show and set rules for how long lines are kept.

    A rule holds for a workspace, from the moment it is set. If several rules cover a line, the shortest wins.
    """


@retention.command()
@pass_shell
def show(shell: Shell) -> None:
    """Show the rules, and how many stored lines each one covers now."""
    answer = shell.call(t.SHOW, m.Nothing())

    def text() -> str:
        rows = [(one.name, _said(one), _count(one), one.waits_for) for one in answer.rules]
        return table(rows) if rows else "no rules: a line is kept until it expires or somebody forgets it"

    shell.show(answer, text)


@retention.command("set")
@click.argument("name")
@click.option("--keep", type=SPAN, metavar="TIME", help="Keep lines for so long, in days: 90d, 12w.")
@click.option("--fade", type=SPAN, metavar="TIME", help="Remove nothing. So much age halves the rank.")
@click.option("--summarise", is_flag=True, help="With --keep: only messages that a summary covers go.")
@click.option("--namespace", "-n", help="Only in this namespace [default: all].")
@click.option("--kind", help="Only lines of this kind [default: all].")
@click.option("--dry-run", is_flag=True, help="Show what the rule would do now. Set nothing.")
@yes_option
@pass_shell
def set_rule(
    shell: Shell,
    name: str,
    keep: int | None,
    fade: int | None,
    summarise: bool,
    namespace: str | None,
    kind: str | None,
    dry_run: bool,
    yes: bool,
) -> None:
    """Set rule NAME, in place of an earlier one. Shows what it will do and asks first."""
    then: Then = FADE if keep is None else SUMMARISE if summarise else FORGET
    request = t.SetRule(name, then, _days(keep, fade, summarise=summarise), namespace, kind)
    if dry_run or not yes:
        would = shell.call(t.SET, replace(request, dry_run=True))
        if dry_run:
            shell.show(would, lambda: f"would set {_described(would)}")
            return
        confirm(f"set {_described(would)}{'' if then == FADE else ', and these go for good'}")
    answer = shell.call(t.SET, request)
    shell.show(answer, lambda: f"set {_described(answer)}")


@retention.command()
@click.argument("name")
@pass_shell
def remove(shell: Shell, name: str) -> None:
    """Remove rule NAME. What it removed does not come back."""
    answer = shell.call(t.REMOVE, t.RemoveRule(name))
    shell.show(answer, lambda: f"removed {answer.removed}")


def _days(keep: int | None, fade: int | None, *, summarise: bool) -> int:
    span = fade if keep is None else keep
    if span is None or (keep is not None and fade is not None) or (summarise and keep is None):
        raise InvalidInput("give --keep, perhaps with --summarise, or --fade")
    days, rest = divmod(span, _DAY_SECONDS)
    if rest or not days:
        raise InvalidInput("a rule counts whole days", hint="Write 90d or 12w.")
    return days


def _described(rule: t.SetAnswer) -> str:
    more = f", and {counted(rule.resting, 'more')} that rest on them alone" if rule.resting else ""
    return f"{rule.name}: {_said(rule)}; {_count(rule)} that old now{more}"


def _said(rule: t.RuleAnswer) -> str:
    what = f"a line of kind {rule.kind}" if rule.kind else "a line"
    where = f" in {rule.namespace}" if rule.namespace else ""
    return f"{what}{where} {_DOES[rule.then]} after {counted(rule.days, 'day')}"


def _count(rule: t.RuleAnswer) -> str:
    return "lines out of reach" if rule.lines is None else counted(rule.lines, "line")
