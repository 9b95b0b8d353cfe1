-- Every object of the current schema: its kind, its name, its table where that is needed, and its definition.
-- What belongs to an extension is left out. With the tables of other schemas that take part in ours: children
-- of a table, and views that read one.
WITH ours AS (
    SELECT c.oid, c.relname::text AS name, c.relkind::text AS kind,
        c.relrowsecurity AND c.relforcerowsecurity AS protected
    FROM pg_class c WHERE c.relnamespace = current_schema()::regnamespace
    AND NOT EXISTS (SELECT 1 FROM pg_depend d
        WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')),
tables AS (SELECT * FROM ours WHERE kind IN ('r', 'p'))
SELECT CASE kind WHEN 'r' THEN 'table' WHEN 'p' THEN 'table' WHEN 'v' THEN 'view' WHEN 'S' THEN 'sequence'
    WHEN 'm' THEN 'materialized view' WHEN 'f' THEN 'foreign table' ELSE 'type' END, name, '', kind
    FROM ours WHERE kind NOT IN ('i', 'I')
UNION ALL SELECT 'column', a.attname::text, t.name, concat_ws(' ', format_type(a.atttypid, a.atttypmod),
    pg_get_expr(d.adbin, d.adrelid), a.attgenerated::text)
    FROM tables t JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
    LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
UNION ALL SELECT 'index', CASE WHEN i.indisprimary THEN 'primary key' ELSE c.relname::text END, t.name,
    concat_ws(' ', m.amname, CASE WHEN i.indisunique THEN 'unique' END,
    (SELECT string_agg(pg_get_indexdef(i.indexrelid, part, true), ', ' ORDER BY part)
        FROM generate_series(1, i.indnatts) AS part),
    'where ' || pg_get_expr(i.indpred, i.indrelid, true))
    FROM tables t JOIN pg_index i ON i.indrelid = t.oid JOIN pg_class c ON c.oid = i.indexrelid
    JOIN pg_am m ON m.oid = c.relam
UNION ALL SELECT 'trigger', g.tgname::text, t.name,
    concat_ws(' ', g.tgenabled::text, g.tgtype, g.tgqual::text, l.lanname, p.prosrc)
    FROM tables t JOIN pg_trigger g ON g.tgrelid = t.oid AND NOT g.tgisinternal
    JOIN pg_proc p ON p.oid = g.tgfoid JOIN pg_language l ON l.oid = p.prolang
UNION ALL SELECT 'rule', r.rulename::text, t.name, '' FROM tables t JOIN pg_rewrite r ON r.ev_class = t.oid
UNION ALL SELECT 'constraint', k.conname::text, t.name, '' FROM tables t JOIN pg_constraint k
    ON k.conrelid = t.oid AND k.contype NOT IN ('p', 'n')
UNION ALL SELECT 'table', h.inhrelid::regclass::text, '', 'child' FROM tables t
    JOIN pg_inherits h ON h.inhparent = t.oid
UNION ALL SELECT DISTINCT CASE v.relkind WHEN 'm' THEN 'materialized view' ELSE 'view' END,
    v.oid::regclass::text, '', 'reader'
    FROM tables t JOIN pg_depend d ON d.refclassid = 'pg_class'::regclass AND d.refobjid = t.oid
    AND d.classid = 'pg_rewrite'::regclass JOIN pg_rewrite r ON r.oid = d.objid
    JOIN pg_class v ON v.oid = r.ev_class WHERE v.relnamespace <> current_schema()::regnamespace
UNION ALL SELECT 'policy', p.policyname::text, p.tablename::text,
    concat_ws(' ', p.permissive, p.roles::text, p.cmd, p.qual, 'check ' || p.with_check)
    FROM pg_policies p WHERE p.schemaname = current_schema()
UNION ALL SELECT 'row security', 'on', name, '' FROM tables WHERE protected
