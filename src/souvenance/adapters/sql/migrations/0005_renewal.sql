CREATE TABLE analysis (
    version TEXT NOT NULL PRIMARY KEY
){clustered};

CREATE TABLE renewals (
    workspace TEXT NOT NULL,
    owner TEXT NOT NULL,
    namespace TEXT NOT NULL,
    seq BIGINT NOT NULL,
    PRIMARY KEY (workspace, owner, namespace)
){clustered};
