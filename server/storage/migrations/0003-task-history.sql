-- Tasks that share application, author, project and image names. Beside the tasks there are few groups, so that a search
-- looks through the names of the groups, and for what is a task's own through each task.
CREATE TABLE task_groups (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- SHA-256 of the names, which may be too long for an index
  digest bytea NOT NULL UNIQUE,
  app text NOT NULL,
  author text NOT NULL,
  project text NOT NULL,
  -- the names in small letters, each with the end of its line
  searched text COLLATE "C" NOT NULL
);
CREATE INDEX task_groups_of_app ON task_groups (app);
CREATE INDEX task_groups_of_author ON task_groups (author);
CREATE INDEX task_groups_of_project ON task_groups (project);
-- no foreign key: groups are never deleted, and its check would lock the group at each submission
ALTER TABLE tasks ADD COLUMN group_id integer NOT NULL;
-- The tags in small letters, a line each and no more than an index can hold well; for searches within some groups.
ALTER TABLE tasks ADD COLUMN tags text COLLATE "C" NOT NULL;

-- Each task belongs to a group, and its row in task_searches is to be written (see below).
CREATE FUNCTION make_searchable() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  image_names text;
  names text;
  names_digest bytea;
BEGIN
  IF jsonb_array_length(NEW.images) = 1 THEN -- as nearly always, at half the cost
    image_names := NEW.images->0->>'image';
    NEW.tags := left(lower(NEW.images->0->>'tag'), 100);
  ELSE
    SELECT string_agg(DISTINCT (image->>'image') COLLATE "C", E'\n'), coalesce(left(lower(string_agg(image->>'tag', E'\n')), 100), '')
    INTO image_names, NEW.tags
    FROM jsonb_array_elements(NEW.images) AS image;
  END IF;
  names := concat_ws(E'\n', NEW.app, NEW.author, NEW.project, image_names) || E'\n';
  names_digest := sha256(convert_to(names, 'UTF8'));
  SELECT id INTO NEW.group_id FROM task_groups WHERE digest = names_digest;
  IF NOT FOUND THEN
    INSERT INTO task_groups (digest, app, author, project, searched)
    VALUES (names_digest, NEW.app, NEW.author, NEW.project, lower(names))
    ON CONFLICT (digest) DO UPDATE SET digest = excluded.digest -- somebody was faster
    RETURNING id INTO NEW.group_id;
  END IF;
  INSERT INTO unindexed_tasks VALUES (NEW.id);
  RETURN NEW;
END
$$;
CREATE TRIGGER tasks_are_searchable BEFORE INSERT ON tasks FOR EACH ROW EXECUTE FUNCTION make_searchable();

-- What `search` looks through, a line each, in small letters and compared byte by byte, since ILIKE costs ten times as
-- much; the images as name:tag. Behind the byte 2 stands for its index what is the task's own; the id is in a column.
-- In PL/pgSQL, which plans it once in a session and not in each statement.
CREATE FUNCTION searched_text(app text, author text, project text, images jsonb, id uuid, commit text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  RETURN (
    SELECT lower(concat_ws(E'\n', app, author, project, string_agg(image->>'image' || ':' || (image->>'tag'), E'\n'), id::text)
      || E'\x02' || concat_ws(E'\n', string_agg(image->>'tag', E'\n'), commit))
    FROM jsonb_array_elements(images) AS image);
END
$$;
-- Apart from the tasks, of which each progress and each end would change its entry in the index for searching.
CREATE TABLE task_searches (
  created timestamptz(3) NOT NULL,
  id uuid NOT NULL,
  group_id integer NOT NULL,
  searched text COLLATE "C" NOT NULL,
  -- no foreign key, as for events; in the order of the list
  PRIMARY KEY (created, id)
);

-- Tasks whose row in task_searches is still to be written: sorted into a large index of trigrams it costs as much as half of
-- all that a submission writes.
CREATE TABLE unindexed_tasks (id uuid PRIMARY KEY);

-- What searches read: what is not written yet is made from the task.
CREATE VIEW searchable_tasks AS
  SELECT created, id, group_id, searched FROM task_searches
  UNION ALL
  SELECT created, id, group_id, searched_text(app, author, project, images, id, commit) COLLATE "C"
  FROM unindexed_tasks JOIN tasks USING (id);

-- Writes the rows of some tasks, the oldest of those that nobody else is at, and tells of how many. Relies on READ
-- COMMITTED, and has its plans kept, as number_events.
CREATE FUNCTION index_tasks(at_most integer) RETURNS integer LANGUAGE plpgsql
SET search_path FROM CURRENT SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
DECLARE
  ids CONSTANT uuid[] := ARRAY(SELECT id FROM unindexed_tasks ORDER BY id LIMIT at_most FOR UPDATE SKIP LOCKED);
BEGIN
  -- In a statement of its own, which sees the tasks as they are now that nobody changes what is searched of them.
  INSERT INTO task_searches (created, id, group_id, searched)
  SELECT created, id, group_id, searched_text(app, author, project, images, id, commit) FROM tasks WHERE id = ANY (ids);
  DELETE FROM unindexed_tasks WHERE id = ANY (ids);
  RETURN cardinality(ids);
END
$$;

CREATE FUNCTION change_task_search() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  -- Waits for index_tasks if it is writing this row, or keeps it from that until the change is committed.
  PERFORM FROM unindexed_tasks WHERE id = NEW.id FOR UPDATE;
  UPDATE task_searches SET created = NEW.created, searched =
    searched_text(NEW.app, NEW.author, NEW.project, NEW.images, NEW.id, NEW.commit)
  WHERE created = OLD.created AND id = OLD.id;
  RETURN NULL;
END
$$;
CREATE TRIGGER tasks_are_searched_by_commit AFTER UPDATE OF commit, created ON tasks
  FOR EACH ROW EXECUTE FUNCTION change_task_search();

-- In an index, where `updated` would make every progress of a task change all indexes.
ALTER TABLE tasks ADD COLUMN ended timestamptz(3) GENERATED ALWAYS AS (CASE WHEN status <> 'in progress' THEN updated END) STORED;

-- Applications that Argo CD has shown. The name that a task brings is free text, and strangers may submit tasks.
CREATE TABLE confirmed_applications (app text PRIMARY KEY);

-- One page of the list, newest first, is the beginning of an index for each filter. Most tasks end deployed, so what did
-- not is found in small indexes of its own. What they INCLUDE is for totals and summaries, which then read no rows.
CREATE INDEX tasks_newest ON tasks (created DESC, id DESC);
CREATE INDEX tasks_newest_of_app ON tasks (app, created DESC, id DESC) INCLUDE (status, ended);
CREATE INDEX tasks_newest_of_group ON tasks (group_id, created DESC, id DESC) INCLUDE (status, tags);
CREATE INDEX tasks_newest_of_project ON tasks (project, created DESC, id DESC);
CREATE INDEX tasks_newest_of_author ON tasks (author, created DESC, id DESC);
CREATE INDEX tasks_newest_bad ON tasks (status, created DESC, id DESC) INCLUDE (group_id, app)
  WHERE status <> 'deployed' AND status <> 'in progress';
CREATE INDEX tasks_newest_bad_of_app ON tasks (app, status, created DESC, id DESC)
  WHERE status <> 'deployed' AND status <> 'in progress';
CREATE INDEX tasks_newest_bad_of_project ON tasks (project, status, created DESC, id DESC)
  WHERE status <> 'deployed' AND status <> 'in progress';
CREATE INDEX tasks_newest_bad_of_author ON tasks (author, status, created DESC, id DESC)
  WHERE status <> 'deployed' AND status <> 'in progress';

-- Without `owner` in an index, a claim changes the row alone (HOT), for which pages keep some room.
CREATE INDEX tasks_unfinished ON tasks (created DESC, id DESC) WHERE status = 'in progress';
-- Its condition is not that of tasks_unfinished, so that while PostgreSQL knows nothing of the table it does not go through all that
-- are unfinished, which costs the same in its eyes.
CREATE INDEX tasks_unfinished_of_app ON tasks (app) WHERE ended IS NULL;
-- Only of vacuumed pages an index is read alone, and by default a fifth of the table is not.
ALTER TABLE tasks SET (fillfactor = 85, autovacuum_vacuum_insert_scale_factor = 0.02);

-- Searching works without these indexes, slower. They need the extension pg_trgm, which not everybody may create: whoever
-- has created it later calls this function.
CREATE FUNCTION add_search_index() RETURNS boolean LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  extension_schema text;
BEGIN
  CREATE EXTENSION IF NOT EXISTS pg_trgm;
  SELECT nspname INTO STRICT extension_schema
  FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace WHERE extname = 'pg_trgm';
  EXECUTE format('CREATE INDEX IF NOT EXISTS task_groups_searched ON task_groups USING gin (searched %I.gin_trgm_ops)',
    extension_schema);
  -- Without the dashes of the id, which would make words of its pieces: the third begins with 7 in every id, so that `.70`
  -- stood in one of 16 tasks. Every search reads what waits to be sorted in, which is 4 MiB by default.
  EXECUTE format('CREATE INDEX IF NOT EXISTS task_searches_own ON task_searches USING gin
    ((split_part(searched, E''\x02'', 2) || E''\n'' || replace(id::text, ''-'', '''')) %I.gin_trgm_ops)
    WITH (gin_pending_list_limit = 512)', extension_schema);
  RETURN true;
EXCEPTION
  WHEN insufficient_privilege OR undefined_file OR undefined_object OR feature_not_supported THEN
    RETURN false;
END
$$;
SELECT add_search_index();
