ALTER TABLE lines ADD COLUMN turn BIGINT;

ALTER TABLE lines ADD COLUMN about TEXT;

ALTER TABLE lines ADD COLUMN tokens BIGINT;

ALTER TABLE lines ADD COLUMN likeness {blob};

ALTER TABLE lines ADD COLUMN times BIGINT NOT NULL DEFAULT 1;

CREATE UNIQUE INDEX lines_by_turn ON lines (workspace, session, turn) WHERE turn IS NOT NULL;

CREATE INDEX lines_about ON lines (workspace, owner, about, kind, id) WHERE about IS NOT NULL;

CREATE INDEX lines_about_by_id ON lines (workspace, id) WHERE about IS NOT NULL;

CREATE INDEX lines_alike ON lines (workspace, likeness, id) WHERE likeness IS NOT NULL;

CREATE TABLE citations (
    workspace TEXT NOT NULL,
    owner TEXT NOT NULL,
    namespace TEXT NOT NULL,
    id TEXT NOT NULL,
    source TEXT NOT NULL,
    PRIMARY KEY (workspace, owner, namespace, id, source)
){clustered};

CREATE INDEX citations_by_line ON citations (workspace, id, source);

CREATE INDEX citations_by_source ON citations (workspace, source);

CREATE TABLE entries (
    workspace TEXT NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    uid TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    metadata TEXT NOT NULL,
    configuration TEXT NOT NULL,
    PRIMARY KEY (workspace, kind, name)
){clustered};

CREATE INDEX entries_by_uid ON entries (workspace, kind, uid, name);

CREATE INDEX entries_of_workspaces ON entries (uid, workspace, name) WHERE kind = 'workspace';

CREATE TABLE ties (
    workspace TEXT NOT NULL,
    kind TEXT NOT NULL,
    holder TEXT NOT NULL,
    held TEXT NOT NULL,
    since BIGINT NOT NULL,
    until BIGINT,
    configuration TEXT NOT NULL,
    PRIMARY KEY (workspace, kind, holder, held, since)
){clustered};

CREATE INDEX ties_by_held ON ties (workspace, kind, held, since);

CREATE TABLE batches (
    workspace TEXT NOT NULL,
    session TEXT NOT NULL,
    digest {blob} NOT NULL,
    at BIGINT NOT NULL,
    first_turn BIGINT NOT NULL,
    last_turn BIGINT NOT NULL,
    PRIMARY KEY (workspace, session, digest)
){clustered};

CREATE INDEX batches_by_time ON batches (workspace, session, at);

CREATE TABLE work (
    seq {serial},
    workspace TEXT NOT NULL,
    kind TEXT NOT NULL,
    session TEXT,
    peer TEXT,
    first_turn BIGINT NOT NULL,
    last_turn BIGINT NOT NULL,
    units BIGINT NOT NULL,
    payload TEXT NOT NULL,
    attempts BIGINT NOT NULL,
    due BIGINT NOT NULL,
    holder TEXT,
    until BIGINT,
    blocked BIGINT NOT NULL
);

CREATE INDEX work_of_session ON work (workspace, session, seq);

CREATE INDEX work_free ON work (due, seq) WHERE blocked = 0 AND holder IS NULL;

CREATE INDEX work_held ON work (until) WHERE blocked = 0 AND holder IS NOT NULL;

CREATE TABLE worked (
    workspace TEXT NOT NULL,
    session TEXT NOT NULL,
    peer TEXT NOT NULL,
    kind TEXT NOT NULL,
    units BIGINT NOT NULL,
    PRIMARY KEY (workspace, session, peer, kind)
){clustered};
