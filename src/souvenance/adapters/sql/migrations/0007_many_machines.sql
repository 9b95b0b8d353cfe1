CREATE UNIQUE INDEX work_by_seq ON work (workspace, seq);

CREATE TABLE installation (
    instance TEXT NOT NULL PRIMARY KEY
){clustered};
