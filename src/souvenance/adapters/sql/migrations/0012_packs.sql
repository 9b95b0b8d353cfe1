CREATE TABLE packs (
    workspace TEXT NOT NULL,
    owner TEXT NOT NULL,
    namespace TEXT NOT NULL,
    seq BIGINT NOT NULL,
    changes {blob} NOT NULL,
    PRIMARY KEY (workspace, owner, namespace, seq)
);
