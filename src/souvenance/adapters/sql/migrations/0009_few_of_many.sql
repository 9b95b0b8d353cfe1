CREATE INDEX lines_held ON lines (workspace, owner, id) WHERE about IS NOT NULL;

CREATE INDEX lines_of ON lines (workspace, about, id) WHERE about IS NOT NULL;

CREATE INDEX lines_concluded ON lines (workspace, session, id) WHERE about IS NOT NULL;

CREATE INDEX work_of_peer ON work (workspace, kind, peer);
