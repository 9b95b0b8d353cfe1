ALTER TABLE lines ADD COLUMN bytes BIGINT NOT NULL DEFAULT 0;

UPDATE lines SET bytes = length(sealed);

CREATE INDEX lines_by_kind ON lines (workspace, owner, namespace, kind, bytes);
