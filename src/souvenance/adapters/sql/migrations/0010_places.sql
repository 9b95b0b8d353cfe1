CREATE TABLE placed (
    workspace TEXT NOT NULL,
    owner TEXT NOT NULL,
    namespace TEXT NOT NULL,
    space TEXT NOT NULL,
    form TEXT NOT NULL,
    seq BIGINT NOT NULL,
    PRIMARY KEY (workspace, owner, namespace, space)
){clustered};
