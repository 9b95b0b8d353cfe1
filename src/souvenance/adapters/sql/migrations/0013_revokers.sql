ALTER TABLE revocations RENAME TO revocations_before;

CREATE TABLE revocations (
    workspace TEXT NOT NULL,
    kind TEXT NOT NULL,
    value TEXT NOT NULL,
    revoker_hash TEXT NOT NULL,
    revoker TEXT NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (workspace, kind, value, revoker_hash)
){clustered};

INSERT INTO revocations (workspace, kind, value, revoker_hash, revoker, at)
    SELECT workspace, kind, value, subject, '[["*","*",["*"],["*"],null],true]', at FROM revocations_before;

DROP TABLE revocations_before;
