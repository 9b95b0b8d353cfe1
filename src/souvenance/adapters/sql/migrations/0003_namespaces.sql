ALTER TABLE entries ADD COLUMN namespace TEXT NOT NULL DEFAULT 'default';

CREATE INDEX entries_by_namespace ON entries (workspace, kind, namespace, uid, name);

ALTER TABLE work ADD COLUMN namespace TEXT NOT NULL DEFAULT 'default';

ALTER TABLE worked RENAME TO worked_anywhere;

CREATE TABLE worked (
    workspace TEXT NOT NULL,
    session TEXT NOT NULL,
    peer TEXT NOT NULL,
    kind TEXT NOT NULL,
    namespace TEXT NOT NULL,
    units BIGINT NOT NULL,
    PRIMARY KEY (workspace, session, peer, kind, namespace)
){clustered};

INSERT INTO worked (workspace, session, peer, kind, namespace, units)
    SELECT workspace, session, peer, kind, 'default', units FROM worked_anywhere;

DROP TABLE worked_anywhere;
