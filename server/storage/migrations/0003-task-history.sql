-- What `search` looks through, a line each; the images as name:tag. In small letters and compared byte by byte, since
-- ILIKE costs ten times as much.
CREATE FUNCTION searched_text(app text, author text, project text, images jsonb, id uuid, commit text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT lower(concat_ws(E'\n', app, author, project, string_agg(image->>'image' || ':' || (image->>'tag'), E'\n'),
    id::text, commit))
  FROM jsonb_array_elements(images) AS image
$$;
ALTER TABLE tasks ADD COLUMN searched text COLLATE "C" NOT NULL
  GENERATED ALWAYS AS (searched_text(app, author, project, images, id, commit)) STORED;

-- The images of a task whatever their order, short enough to be compared by an index.
CREATE FUNCTION image_set(images jsonb) RETURNS uuid
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT md5(string_agg(DISTINCT line, E'\n' ORDER BY line))::uuid
  FROM (SELECT (image->>'image' || E'\t' || (image->>'tag')) COLLATE "C" AS line FROM jsonb_array_elements(images) AS image) AS lines
$$;
CREATE INDEX tasks_deployed_images ON tasks (app, image_set(images), created DESC) WHERE status = 'deployed';

-- One page of the list, newest first, is the beginning of an index for each filter. Most tasks end deployed, so what did
-- not is found in small indexes of its own.
CREATE INDEX tasks_newest_of_project ON tasks (project, created DESC, id DESC);
CREATE INDEX tasks_newest_of_author ON tasks (author, created DESC, id DESC);
CREATE INDEX tasks_newest_bad ON tasks (status, created DESC, id DESC)
  WHERE status <> 'deployed' AND status <> 'in progress';
CREATE INDEX tasks_newest_bad_of_app ON tasks (app, status, created DESC, id DESC)
  WHERE status <> 'deployed' AND status <> 'in progress';
CREATE INDEX tasks_newest_bad_of_project ON tasks (project, status, created DESC, id DESC)
  WHERE status <> 'deployed' AND status <> 'in progress';
CREATE INDEX tasks_newest_bad_of_author ON tasks (author, status, created DESC, id DESC)
  WHERE status <> 'deployed' AND status <> 'in progress';

-- Without `owner` in an index, a claim changes the row alone (HOT), for which pages keep some room.
DROP INDEX tasks_unfinished;
CREATE INDEX tasks_unfinished ON tasks (created DESC, id DESC) WHERE status = 'in progress';
ALTER TABLE tasks SET (fillfactor = 85);

-- Searching works without this index, slower. It needs the extension pg_trgm, which not everybody may create: whoever
-- has created it later calls this function.
CREATE FUNCTION add_search_index() RETURNS boolean LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  extension_schema text;
BEGIN
  CREATE EXTENSION IF NOT EXISTS pg_trgm;
  SELECT nspname INTO STRICT extension_schema
  FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace WHERE extname = 'pg_trgm';
  EXECUTE format('CREATE INDEX IF NOT EXISTS tasks_searched ON tasks USING gin (searched %I.gin_trgm_ops)', extension_schema);
  RETURN true;
EXCEPTION
  WHEN insufficient_privilege OR undefined_file OR undefined_object OR feature_not_supported THEN
    RETURN false;
END
$$;
SELECT add_search_index();
