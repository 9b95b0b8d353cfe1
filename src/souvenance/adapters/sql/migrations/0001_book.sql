CREATE TABLE lines (
    workspace TEXT NOT NULL,
    owner TEXT NOT NULL,
    namespace TEXT NOT NULL,
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    session TEXT,
    created_at BIGINT NOT NULL,
    occurred_at BIGINT,
    supersedes TEXT,
    cap TEXT NOT NULL,
    metadata TEXT NOT NULL,
    epoch BIGINT NOT NULL,
    sealed {blob} NOT NULL,
    PRIMARY KEY (workspace, owner, namespace, id)
){clustered};

CREATE INDEX lines_by_session ON lines (workspace, owner, session, id) WHERE session IS NOT NULL;

CREATE INDEX lines_of_profile ON lines (workspace, owner, namespace, id) WHERE kind = 'profile';

CREATE TABLE invalidations (
    workspace TEXT NOT NULL,
    owner TEXT NOT NULL,
    namespace TEXT NOT NULL,
    target TEXT NOT NULL,
    by_id TEXT NOT NULL,
    PRIMARY KEY (workspace, owner, namespace, target)
){clustered};

CREATE TABLE terms (
    workspace TEXT NOT NULL,
    owner TEXT NOT NULL,
    namespace TEXT NOT NULL,
    seq BIGINT NOT NULL,
    id TEXT NOT NULL,
    tokens {blob},
    counts {blob} NOT NULL,
    PRIMARY KEY (workspace, owner, namespace, seq)
){clustered};

CREATE TABLE room_keys (
    workspace TEXT NOT NULL,
    owner TEXT NOT NULL,
    namespace TEXT NOT NULL,
    purpose TEXT NOT NULL,
    epoch BIGINT NOT NULL,
    wrapped {blob} NOT NULL,
    PRIMARY KEY (workspace, owner, namespace, purpose, epoch)
){clustered};

CREATE TABLE revocations (
    workspace TEXT NOT NULL,
    kind TEXT NOT NULL,
    value TEXT NOT NULL,
    subject TEXT NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (workspace, kind, value, subject)
){clustered};

CREATE TABLE burned_proofs (
    workspace TEXT NOT NULL,
    proof TEXT NOT NULL,
    until BIGINT NOT NULL,
    PRIMARY KEY (workspace, proof)
){clustered};

CREATE TABLE audit (
    workspace TEXT NOT NULL,
    seq BIGINT NOT NULL,
    at BIGINT NOT NULL,
    actor TEXT NOT NULL,
    cap TEXT NOT NULL,
    operation TEXT NOT NULL,
    outcome TEXT NOT NULL,
    namespaces TEXT NOT NULL,
    lines TEXT NOT NULL,
    detail TEXT NOT NULL,
    leaf {blob} NOT NULL,
    PRIMARY KEY (workspace, seq)
){clustered};

CREATE TABLE audit_tiles (
    workspace TEXT NOT NULL,
    tile BIGINT NOT NULL,
    hash {blob} NOT NULL,
    PRIMARY KEY (workspace, tile)
){clustered};

CREATE TABLE counters (
    workspace TEXT NOT NULL,
    name TEXT NOT NULL,
    value BIGINT NOT NULL,
    PRIMARY KEY (workspace, name)
){clustered};
