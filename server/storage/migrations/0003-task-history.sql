-- What `search` looks through, a line each, in lower case; images as name:tag. In PL/pgSQL, which plans it once in a session.
CREATE FUNCTION searched_text(app text, author text, project text, images jsonb, id uuid, commit text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  RETURN (
    SELECT lower(concat_ws(E'\n', app, author, project, string_agg(image->>'image' || ':' || (image->>'tag'), E'\n'), id::text, commit))
    FROM jsonb_array_elements(images) AS image);
END
$$;
-- Compared byte by byte, since ILIKE costs ten times as much.
ALTER TABLE tasks ADD COLUMN searched text COLLATE "C" NOT NULL
  GENERATED ALWAYS AS (searched_text(app, author, project, images, id, commit)) STORED;

-- In an index, where `updated` would make every progress of a task change all indexes.
ALTER TABLE tasks ADD COLUMN ended timestamptz(3) GENERATED ALWAYS AS (CASE WHEN status <> 'in progress' THEN updated END) STORED;

-- Applications that Argo CD has shown. The name that a task brings is free text, and strangers may submit tasks.
CREATE TABLE confirmed_applications (app text PRIMARY KEY);

-- One page of the list, newest first, is the beginning of an index for each filter.
CREATE INDEX tasks_newest ON tasks (created DESC, id DESC);
CREATE INDEX tasks_newest_of_app ON tasks (app, created DESC, id DESC);
CREATE INDEX tasks_newest_of_author ON tasks (author, created DESC, id DESC);
CREATE INDEX tasks_newest_of_project ON tasks (project, created DESC, id DESC);
CREATE INDEX tasks_newest_of_status ON tasks (status, created DESC, id DESC);
CREATE INDEX tasks_unfinished_of_app ON tasks (app) WHERE ended IS NULL;
-- Without `owner` in an index, a claim changes the row alone (HOT), for which pages keep some room.
ALTER TABLE tasks SET (fillfactor = 85);

-- Searching works without this index, slower. It requires the extension pg_trgm, which not every role may create; call this
-- function once it exists.
CREATE FUNCTION add_search_index() RETURNS boolean LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  extension_schema text;
BEGIN
  CREATE EXTENSION IF NOT EXISTS pg_trgm;
  SELECT nspname INTO STRICT extension_schema
  FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace WHERE extname = 'pg_trgm';
  -- A full pending list is merged by the submission that fills it: with 4 MiB, the default, that takes up to a second.
  EXECUTE format('CREATE INDEX IF NOT EXISTS tasks_searched ON tasks USING gin (searched %I.gin_trgm_ops)
    WITH (gin_pending_list_limit = 512)', extension_schema);
  RETURN true;
EXCEPTION
  WHEN insufficient_privilege OR undefined_file OR undefined_object OR feature_not_supported THEN
    RETURN false;
END
$$;
SELECT add_search_index();
