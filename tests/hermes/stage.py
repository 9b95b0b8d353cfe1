"""A profile of the host with the provider in it, on a real store, without the host itself."""

import json
from contextlib import contextmanager
from functools import partial

from hermes.honcho_fake import eventually
from souvenance import hermes_backends
from souvenance.gate.conversation.messages import LIST_MESSAGES, ListMessages
from souvenance.gate.conversation.sessions import LIST_SESSIONS, ListSessions
from souvenance.gate.token_verifier import Credentials
from souvenance.hermes.config_files import read_configuration
from souvenance.hermes.profile_runtime import Surroundings
from souvenance.hermes.provider import Provider

WORKSPACE = "hermes"
PATIENCE_SECONDS = 60
"""How long a turn waits for its memory, unless a test says otherwise: it comes on a busy machine too."""


class Stage:
    """Everything that a process of the host would hold; `anew` is the next process."""

    def __init__(self, folder, **settings):
        self.home = folder / "home"
        self.directory = folder / "project"
        self.home.mkdir(parents=True, exist_ok=True)
        self.directory.mkdir(exist_ok=True)
        self.environment = {"HOME": str(folder)}
        self.complaints = []
        self._runtimes = {}
        self._around = self._surroundings()
        if settings or not (self.home / "souvenance.json").exists():
            self.configure(**settings)

    def configure(self, **settings):
        known = {"peerName": "ann", "recallWait": PATIENCE_SECONDS, **settings}
        (self.home / "souvenance.json").write_text(json.dumps(known))
        (self.home / "souvenance.json").chmod(0o600)

    def anew(self):
        """The process ended, and another began."""
        self.close()
        self._runtimes = {}
        self._around = self._surroundings()
        return self

    def _surroundings(self):
        return Surroundings(
            home=lambda: self.home,
            directory=lambda: self.directory,
            configuration=self.configuration,
            runtime=lambda configuration: self.runtime(configuration),  # A test may put another there.
            state_files=hermes_backends.state_files_of,
        )

    def configuration(self, home, profile):
        found, self.complaints = read_configuration(home, self.environment, profile)
        return found, self.complaints

    def runtime(self, configuration):
        key = (configuration.home, configuration.store, configuration.url, configuration.api_key)
        if key not in self._runtimes:
            self._runtimes[key] = hermes_backends.runtime_of(configuration)
        return self._runtimes[key]

    def provider(self, session="s1", platform="cli", *, begin=True, **told):
        made = Provider(self._around)
        if begin:
            made.initialize(session, platform=platform, hermes_home=str(self.home), **told)
        return made

    def tell(self, provider, user, assistant="I see.", session="", messages=None):
        """One turn, written to the end."""
        provider.sync_turn(user, assistant, session_id=session, messages=messages)
        self.flush()

    def recall(self, provider, message, turn=1):
        provider.on_turn_start(turn, message)
        return provider.prefetch(message)

    def flush(self):
        for runtime in self._runtimes.values():
            assert eventually(partial(runtime.flush, 1), PATIENCE_SECONDS)

    def close(self):
        for runtime in self._runtimes.values():
            runtime.close()

    @contextmanager
    def gate(self):
        """The store, with the owner's own cap."""
        backend = hermes_backends.open_backend(read_configuration(self.home, self.environment)[0])
        try:
            yield lambda operation, request: backend.gate.call(
                operation, Credentials(backend.tokens._token()), request
            )
        finally:
            backend.close()

    def sessions(self, workspace=WORKSPACE):
        """The texts of every session, by its name."""
        with self.gate() as ask:
            names = [one.id for one in ask(LIST_SESSIONS, ListSessions(workspace_id=workspace)).items]
            return {
                name: [
                    (one.peer_id, one.content)
                    for one in ask(
                        LIST_MESSAGES, ListMessages(workspace_id=workspace, session_id=name, size=100)
                    ).items
                ]
                for name in names
            }
