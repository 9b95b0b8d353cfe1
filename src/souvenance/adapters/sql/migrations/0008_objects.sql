CREATE TABLE shipments (
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
