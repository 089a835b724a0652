"""``fix --interactive``: a prompt to accept or reject each fix, with the keys of ``git add -p``."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence

import click

from ..engine.run import CheckRequest, RuleInputs
from ..model.outcome import Changed, Outcome
from ..reports.patch import patch
from ..verify.change import Change, Verification
from .arguments import FixArguments
from .interactive_state import InteractiveState, Key

Prove = Callable[[Sequence[Change]], Verification]

HELP = """\
y - take this fix
n - leave it
q - quit; leave this fix and all that are undecided
a - take this fix and all later undecided ones of the file
d - leave this fix and all later undecided ones of the file
j - leave it undecided, see the next undecided fix
J - leave it undecided, see the next fix
k - leave it undecided, see the previous undecided fix
K - leave it undecided, see the previous fix
g - go to a fix by its number
/ - search for a fix by a regular expression
v - verify this fix alone, now
p - print it again
? - print this
"""


def choose(
    outcomes: Sequence[Outcome], question: CheckRequest, surroundings: RuleInputs, prove: Prove
) -> tuple[Outcome, ...]:
    """Prompt for each applied fix and return the outcomes with the accepted ones.

    Rejected and undecided fixes are dropped, together with the fixes that depend on them. Raises click.Abort when stdin
    ends during the dialogue.
    """
    return _Dialogue(InteractiveState(outcomes, question, surroundings), prove).run()


class _Dialogue:
    def __init__(self, ballot: InteractiveState, prove: Prove) -> None:
        self._ballot = ballot
        self._prove = prove
        self._verdicts: dict[Key, Verification] = {}

    def run(self) -> tuple[Outcome, ...]:
        at: Key | None = next(iter(self._ballot.open()), None)
        shown: Key | None = None
        while at is not None:
            if at != shown:
                self._show(at)
            shown = at
            answer = _answer(f"({self._number(at)}) Take this fix [y,n,q,a,d,j,J,k,K,g,/,v,p,?]? ")
            if answer == "q":
                break
            if answer in ("p", "v", "?"):
                shown = self._told(answer, at)
            elif answer[:1] in ("g", "/"):
                at = self._sought(answer, at)
            elif answer in ("j", "J", "k", "K"):
                at = self._moved(answer, at)
            elif answer in ("y", "n", "a", "d"):
                at = self._voted(answer, at)
            else:
                click.echo(HELP, nl=False, err=True)
        return self._ballot.result()

    def _number(self, key: Key) -> str:
        keys = self._ballot.keys
        return f"{keys.index(key) + 1}/{len(keys)}"

    def _told(self, answer: str, at: Key) -> Key | None:
        """Handle ``?``, ``v`` or ``p``. Return the displayed fix, or None to print it again."""
        if answer == "?":
            click.echo(HELP, nl=False, err=True)
            return at
        if answer == "v":
            outcome = self._ballot.outcomes[at[0]]
            assert isinstance(outcome, Changed)
            change = Change(outcome.source.path, outcome.source.content, self._ballot.alone(at))
            try:
                self._verdicts[at] = self._prove([change])
                click.echo(_verdict(self._verdicts[at]), err=True)
            except click.ClickException as error:
                click.echo(f"  not verified: {error.format_message()}", err=True)
            return at
        return None

    def _voted(self, answer: str, at: Key) -> Key | None:
        chosen = [at] if answer in "yn" else self._ballot.rest_of_file(at)
        for key in chosen:
            self._ballot.vote(key, answer in "ya")
        left = self._ballot.open()
        return next((key for key in left if _place(key) > _place(at)), left[0] if left else None)

    def _moved(self, answer: str, at: Key) -> Key:
        keys = self._ballot.keys if answer in "JK" else [*self._ballot.open(), at]
        forward = answer in "jJ"
        ones = [key for key in keys if (_place(key) > _place(at) if forward else _place(key) < _place(at))]
        if not ones:
            click.echo(
                f"No {'next' if forward else 'previous'} {'fix' if answer in 'JK' else 'undecided fix'}.", err=True
            )
            return at
        return min(ones, key=_place) if forward else max(ones, key=_place)

    def _sought(self, answer: str, at: Key) -> Key:
        keys = self._ballot.keys
        word = answer[1:].strip() or _answer("go to which fix? " if answer[0] == "g" else "search for regex? ")
        if answer[0] == "g":
            if word.isdigit() and 1 <= int(word) <= len(keys):
                return keys[int(word) - 1]
            click.echo(f"There are fixes 1 to {len(keys)}.", err=True)
            return at
        try:
            found = self._ballot.find(word, keys.index(at))
        except re.error as error:
            click.echo(f"Malformed search regexp {word}: {error}", err=True)
            return at
        if found is None:
            click.echo(f"No fix matches {word}.", err=True)
            return at
        return keys[found]

    def _show(self, key: Key) -> None:
        outcome = self._ballot.outcomes[key[0]]
        assert isinstance(outcome, Changed)
        fix = self._ballot.fix(key)
        line, column = outcome.source.line_column(fix.start)
        path = outcome.source.path.as_posix()
        where = f" in {fix.function}" if fix.function else ""
        say = [
            click.style(f"{path}:{line}:{column}: {fix.rule}{where}", bold=True),
            f"  mode {fix.mode}, {fix.safety.value}: {fix.message}",
        ]
        say += [f"  what changes: {fix.default}"] if fix.default else []
        say += [_verdict(self._verdicts[key])] if key in self._verdicts else []
        if key in self._ballot.votes:
            say.append(f"  so far: {'taken' if self._ballot.votes[key] else 'left'}")
        click.echo("\n".join(say), err=True)
        for row in patch(path.lstrip("/"), *self._ballot.sides(key)).decode("utf-8", "replace").split("\n")[3:-1]:
            colour = {"-": "red", "+": "green", "@": "cyan"}.get(row[:1])
            click.echo(click.style(row, fg=colour) if colour else row, err=True)


def _place(key: Key) -> tuple[int, int, str]:
    return key[0], key[2], key[1]


def _verdict(verification: Verification) -> str:
    return f"  verified alone: {verification.verdict.value}: {verification.reason}"


def _answer(prompt: str) -> str:
    click.echo(click.style(prompt, fg="blue", bold=True), nl=False, err=True)
    answer = sys.stdin.readline()
    if not answer:
        raise click.Abort
    return answer.strip()


def prover(asked: FixArguments) -> Prove:
    """Return a function that verifies changes with the command-line options. A call builds a `SuccessiveVerifier`."""

    def prove(changes: Sequence[Change]) -> Verification:
        from .verify import SuccessiveVerifier

        return SuccessiveVerifier(asked)(changes)

    return prove
