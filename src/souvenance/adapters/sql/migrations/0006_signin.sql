CREATE TABLE signin_clients (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    redirects TEXT NOT NULL,
    grants TEXT NOT NULL,
    auth TEXT NOT NULL,
    secret {blob},
    created_at BIGINT NOT NULL,
    used_at BIGINT
){clustered};

CREATE TABLE signins (
    id TEXT NOT NULL PRIMARY KEY,
    client TEXT NOT NULL,
    workspace TEXT NOT NULL,
    peer TEXT NOT NULL,
    access TEXT NOT NULL,
    jti TEXT NOT NULL,
    sealed {blob} NOT NULL,
    created_at BIGINT NOT NULL,
    until BIGINT NOT NULL,
    used_at BIGINT
){clustered};

CREATE UNIQUE INDEX signins_by_jti ON signins (jti);

CREATE TABLE signin_slips (
    kind TEXT NOT NULL,
    hash {blob} NOT NULL,
    client TEXT NOT NULL,
    signin TEXT,
    until BIGINT NOT NULL,
    spent_at BIGINT,
    content {blob} NOT NULL,
    PRIMARY KEY (kind, hash)
){clustered};

CREATE INDEX signin_slips_by_signin ON signin_slips (signin);

CREATE INDEX signin_slips_by_until ON signin_slips (until);
