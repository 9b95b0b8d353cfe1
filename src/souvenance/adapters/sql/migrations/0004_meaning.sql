ALTER TABLE terms ADD COLUMN session TEXT;

ALTER TABLE terms ADD COLUMN turn BIGINT;

ALTER TABLE terms ADD COLUMN at BIGINT NOT NULL DEFAULT 0;

UPDATE terms SET
    session = (SELECT l.session FROM lines l WHERE l.workspace = terms.workspace AND l.owner = terms.owner
        AND l.namespace = terms.namespace AND l.id = terms.id),
    turn = (SELECT l.turn FROM lines l WHERE l.workspace = terms.workspace AND l.owner = terms.owner
        AND l.namespace = terms.namespace AND l.id = terms.id),
    at = COALESCE((SELECT COALESCE(l.occurred_at, l.created_at) FROM lines l
        WHERE l.workspace = terms.workspace AND l.owner = terms.owner
        AND l.namespace = terms.namespace AND l.id = terms.id), 0);

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
