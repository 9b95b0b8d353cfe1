DROP INDEX work_free;

CREATE INDEX work_free ON work (workspace, due, seq) WHERE blocked = 0 AND holder IS NULL;

DROP INDEX work_held;

CREATE INDEX work_held ON work (workspace, until) WHERE blocked = 0 AND holder IS NOT NULL;

DROP INDEX work_of_peer;

CREATE INDEX work_of_peer ON work (workspace, kind, peer, namespace, session, until, units);

DROP INDEX entries_of_workspaces;

CREATE INDEX entries_of_workspaces ON entries (workspace, uid, name) WHERE kind = 'workspace';

CREATE TABLE agenda (
    workspace TEXT NOT NULL PRIMARY KEY,
    due BIGINT
){clustered};

INSERT INTO agenda (workspace, due)
    SELECT workspace, MIN(CASE WHEN holder IS NULL THEN due ELSE until END) FROM work
    WHERE blocked = 0 GROUP BY workspace;

CREATE TABLE keeping (
    form TEXT NOT NULL PRIMARY KEY
){clustered};

CREATE INDEX terms_by_line ON terms (workspace, owner, namespace, id);
