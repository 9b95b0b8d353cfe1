CREATE TABLE lines (
    workspace TEXT NOT NULL,
    owner TEXT NOT NULL,
    namespace TEXT NOT NULL,
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    session TEXT,
    created_at BIGINT NOT NULL,
    occurred_at BIGINT,
    expires_at BIGINT,
    supersedes TEXT,
    cap TEXT NOT NULL,
    turn BIGINT,
    about TEXT,
    metadata TEXT NOT NULL,
    epoch BIGINT NOT NULL,
    sealed {blob} NOT NULL,
    tokens BIGINT,
    likeness {blob},
    times BIGINT NOT NULL,
    bytes BIGINT NOT NULL,
    PRIMARY KEY (workspace, owner, namespace, id)
){clustered};

CREATE INDEX lines_expiring ON lines (workspace, expires_at) WHERE expires_at IS NOT NULL;

CREATE INDEX lines_by_session ON lines (workspace, owner, session, id) WHERE session IS NOT NULL;

CREATE INDEX lines_of_profile ON lines (workspace, owner, namespace, id) WHERE kind = 'profile';

CREATE UNIQUE INDEX lines_by_turn ON lines (workspace, session, turn) WHERE turn IS NOT NULL;

CREATE INDEX lines_about ON lines (workspace, owner, about, kind, id) WHERE about IS NOT NULL;

CREATE INDEX lines_about_by_id ON lines (workspace, id) WHERE about IS NOT NULL;

CREATE INDEX lines_alike ON lines (workspace, likeness, id) WHERE likeness IS NOT NULL;

CREATE INDEX lines_held ON lines (workspace, owner, id) WHERE about IS NOT NULL;

CREATE INDEX lines_of ON lines (workspace, about, id) WHERE about IS NOT NULL;

CREATE INDEX lines_concluded ON lines (workspace, session, id) WHERE about IS NOT NULL;

CREATE TABLE invalidations (
    workspace TEXT NOT NULL,
    owner TEXT NOT NULL,
    namespace TEXT NOT NULL,
    target TEXT NOT NULL,
    by_id TEXT NOT NULL,
    PRIMARY KEY (workspace, owner, namespace, target)
){clustered};

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

CREATE TABLE terms (
    workspace TEXT NOT NULL,
    owner TEXT NOT NULL,
    namespace TEXT NOT NULL,
    seq BIGINT NOT NULL,
    id TEXT NOT NULL,
    tokens {blob},
    counts {blob} NOT NULL,
    session TEXT,
    turn BIGINT,
    at BIGINT NOT NULL,
    PRIMARY KEY (workspace, owner, namespace, seq)
){clustered};

CREATE INDEX terms_by_line ON terms (workspace, owner, namespace, id);

CREATE TABLE packs (
    workspace TEXT NOT NULL,
    owner TEXT NOT NULL,
    namespace TEXT NOT NULL,
    seq BIGINT NOT NULL,
    changes {blob} NOT NULL,
    PRIMARY KEY (workspace, owner, namespace, seq)
);

CREATE TABLE vectors (
    workspace TEXT NOT NULL,
    owner TEXT NOT NULL,
    namespace TEXT NOT NULL,
    space TEXT NOT NULL,
    seq BIGINT NOT NULL,
    id TEXT NOT NULL,
    sealed {blob} NOT NULL,
    PRIMARY KEY (workspace, owner, namespace, seq)
){clustered};

CREATE UNIQUE INDEX vectors_by_line ON vectors (workspace, owner, namespace, id, space);

CREATE TABLE embedded (
    workspace TEXT NOT NULL,
    owner TEXT NOT NULL,
    namespace TEXT NOT NULL,
    space TEXT NOT NULL,
    form TEXT NOT NULL,
    seq BIGINT NOT NULL,
    PRIMARY KEY (workspace, owner, namespace, space)
){clustered};

CREATE TABLE vector_form (
    form TEXT NOT NULL PRIMARY KEY
){clustered};

CREATE TABLE analysis (
    version TEXT NOT NULL PRIMARY KEY
){clustered};

CREATE TABLE reindexing (
    workspace TEXT NOT NULL,
    owner TEXT NOT NULL,
    namespace TEXT NOT NULL,
    seq BIGINT NOT NULL,
    PRIMARY KEY (workspace, owner, namespace)
){clustered};

CREATE TABLE compartment_keys (
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
    revoker_hash TEXT NOT NULL,
    revoker TEXT NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (workspace, kind, value, revoker_hash)
){clustered};

CREATE TABLE used_proofs (
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

CREATE INDEX audit_of_tokens ON audit (workspace, operation, seq)
    WHERE operation = 'caps.mint' OR operation = 'caps.attenuate' OR operation = 'keys.new';

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

CREATE TABLE entries (
    workspace TEXT NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    uid TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    metadata TEXT NOT NULL,
    configuration TEXT NOT NULL,
    namespace TEXT NOT NULL,
    PRIMARY KEY (workspace, kind, name)
){clustered};

CREATE INDEX entries_by_uid ON entries (workspace, kind, uid, name);

CREATE INDEX entries_of_workspaces ON entries (workspace, uid, name) WHERE kind = 'workspace';

CREATE INDEX entries_by_namespace ON entries (workspace, kind, namespace, uid, name);

CREATE TABLE memberships (
    workspace TEXT NOT NULL,
    kind TEXT NOT NULL,
    holder TEXT NOT NULL,
    held TEXT NOT NULL,
    since BIGINT NOT NULL,
    until BIGINT,
    configuration TEXT NOT NULL,
    PRIMARY KEY (workspace, kind, holder, held, since)
){clustered};

CREATE INDEX memberships_by_held ON memberships (workspace, kind, held, since);

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

CREATE TABLE jobs (
    seq {serial},
    workspace TEXT NOT NULL,
    kind TEXT NOT NULL,
    session TEXT,
    peer TEXT,
    first_turn BIGINT NOT NULL,
    last_turn BIGINT NOT NULL,
    units BIGINT NOT NULL,
    payload TEXT NOT NULL,
    namespace TEXT NOT NULL,
    attempts BIGINT NOT NULL,
    due BIGINT NOT NULL,
    holder TEXT,
    until BIGINT,
    blocked BIGINT NOT NULL
);

CREATE INDEX jobs_of_session ON jobs (workspace, session, seq);

CREATE INDEX jobs_free ON jobs (workspace, due, seq) WHERE blocked = 0 AND holder IS NULL;

CREATE INDEX jobs_held ON jobs (workspace, until) WHERE blocked = 0 AND holder IS NOT NULL;

CREATE UNIQUE INDEX jobs_by_seq ON jobs (workspace, seq);

CREATE INDEX jobs_of_peer ON jobs (workspace, kind, peer, namespace, session, until, units);

CREATE TABLE finished_jobs (
    workspace TEXT NOT NULL,
    session TEXT NOT NULL,
    peer TEXT NOT NULL,
    kind TEXT NOT NULL,
    namespace TEXT NOT NULL,
    units BIGINT NOT NULL,
    PRIMARY KEY (workspace, session, peer, kind, namespace)
){clustered};

CREATE TABLE failed_jobs (
    workspace TEXT NOT NULL,
    seq BIGINT NOT NULL,
    kind TEXT NOT NULL,
    session TEXT,
    peer TEXT,
    first_turn BIGINT NOT NULL,
    last_turn BIGINT NOT NULL,
    units BIGINT NOT NULL,
    payload TEXT NOT NULL,
    namespace TEXT NOT NULL,
    attempts BIGINT NOT NULL,
    reason TEXT NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (workspace, seq)
){clustered};

CREATE TABLE replication_queue (
    workspace TEXT NOT NULL,
    owner TEXT NOT NULL,
    namespace TEXT NOT NULL,
    what TEXT NOT NULL,
    name TEXT NOT NULL,
    stamp TEXT NOT NULL,
    tries BIGINT NOT NULL,
    due BIGINT NOT NULL,
    PRIMARY KEY (workspace, owner, namespace, what, name)
){clustered};

CREATE TABLE signin_clients (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    redirects TEXT NOT NULL,
    grants TEXT NOT NULL,
    auth TEXT NOT NULL,
    secret {blob},
    created_at BIGINT NOT NULL,
    used_at BIGINT
){clustered};

CREATE TABLE signins (
    id TEXT NOT NULL PRIMARY KEY,
    client TEXT NOT NULL,
    workspace TEXT NOT NULL,
    peer TEXT NOT NULL,
    access TEXT NOT NULL,
    jti TEXT NOT NULL,
    sealed {blob} NOT NULL,
    created_at BIGINT NOT NULL,
    until BIGINT NOT NULL,
    used_at BIGINT
){clustered};

CREATE UNIQUE INDEX signins_by_jti ON signins (jti);

CREATE TABLE signin_slips (
    kind TEXT NOT NULL,
    hash {blob} NOT NULL,
    client TEXT NOT NULL,
    signin TEXT,
    until BIGINT NOT NULL,
    spent_at BIGINT,
    content {blob} NOT NULL,
    PRIMARY KEY (kind, hash)
){clustered};

CREATE INDEX signin_slips_by_signin ON signin_slips (signin);

CREATE INDEX signin_slips_by_until ON signin_slips (until);

CREATE TABLE installation (
    instance TEXT NOT NULL PRIMARY KEY
){clustered};
