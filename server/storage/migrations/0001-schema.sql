-- The number of the newest migration that a version of the service must know to work with this schema. A migration that does
-- more than add sets its own number, and older versions then refuse to start.
CREATE TABLE schema_min_version (migration integer NOT NULL);
INSERT INTO schema_min_version VALUES (1);

CREATE TABLE replicas (
  id uuid PRIMARY KEY,
  lock_key bigint NOT NULL UNIQUE,
  started_at timestamptz NOT NULL DEFAULT now(),
  heartbeat_at timestamptz NOT NULL DEFAULT now()
);

-- What `search` looks through, a line each, in lower case; images as name:tag. In PL/pgSQL, which plans it once in a session.
CREATE FUNCTION searched_text(app text, author text, project text, images jsonb, id uuid, commit text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  RETURN (
    SELECT lower(concat_ws(E'\n', app, author, project, string_agg(image->>'image' || ':' || (image->>'tag'), E'\n'), id::text, commit))
    FROM jsonb_array_elements(images) AS image);
END
$$;

CREATE TABLE tasks (
  id uuid PRIMARY KEY,
  -- milliseconds, so that a time that a client read and sends back as a filter is exact
  created timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  updated timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  deadline timestamptz(3) NOT NULL,
  app text NOT NULL,
  author text NOT NULL,
  project text NOT NULL,
  images jsonb NOT NULL,
  timeout_seconds integer NOT NULL,
  refresh boolean NOT NULL,
  source jsonb,
  -- a valid credential came with the submission, so the tag may be committed
  may_write boolean NOT NULL,
  status text NOT NULL DEFAULT 'in progress'
    CHECK (status IN ('in progress', 'deployed', 'failed', 'app not found', 'aborted', 'cancelled')),
  status_reason text,
  cause text,
  progress text,
  -- why it is where it is; of bounded size
  diagnosis jsonb,
  app_url text,
  is_rollback boolean NOT NULL DEFAULT false,
  rollback_target_id uuid,
  commit text,
  repository text,
  branch text,
  -- what the application looked like when the task was first watched; must survive a change of owner
  baseline jsonb,
  owner uuid,
  fence bigint NOT NULL DEFAULT 0,
  -- the credentials that submitted the task, several with an Idempotency-Key, may still read it; keyed with the task's id
  reader_digests bytea[],
  -- compared byte by byte, since ILIKE costs ten times as much
  searched text COLLATE "C" NOT NULL
    GENERATED ALWAYS AS (searched_text(app, author, project, images, id, commit)) STORED,
  -- in an index, where `updated` would make every progress of a task change all indexes
  ended timestamptz(3) GENERATED ALWAYS AS (CASE WHEN status <> 'in progress' THEN updated END) STORED,
  -- columns, since an index that holds expressions cannot answer without the table
  source_sha text COLLATE "C" GENERATED ALWAYS AS (source ->> 'sha') STORED,
  committed_at double precision GENERATED ALWAYS AS ((source ->> 'committed_at')::double precision) STORED,
  -- what the service makes of the images (deployments/accept-task.ts): tasks that share a repository supersede each other,
  -- a task with the same set redeploys
  repositories text[] NOT NULL DEFAULT '{}',
  image_set bytea
)
-- Without `owner` in an index, a claim changes the row alone (HOT), for which pages keep some room.
-- Vacuumed after each hundredth that is new: the history reads indexes alone where all transactions see the rows.
WITH (fillfactor = 85, autovacuum_vacuum_insert_scale_factor = 0.01);

-- One page of the list, newest first, is the beginning of an index for each filter.
CREATE INDEX tasks_newest ON tasks (created DESC, id DESC);
CREATE INDEX tasks_newest_of_app ON tasks (app, created DESC, id DESC);
CREATE INDEX tasks_newest_of_author ON tasks (author, created DESC, id DESC);
CREATE INDEX tasks_newest_of_project ON tasks (project, created DESC, id DESC);
CREATE INDEX tasks_newest_of_status ON tasks (status, created DESC, id DESC);
CREATE INDEX tasks_unfinished_of_app ON tasks (app) WHERE ended IS NULL;
CREATE INDEX tasks_deployed_of_app ON tasks (app, created DESC) WHERE status = 'deployed';
CREATE INDEX tasks_deployed_images ON tasks (app, image_set, created DESC) WHERE status = 'deployed';
-- The history reads these two alone. Neither holds unfinished tasks, so a submission does not write them.
CREATE INDEX tasks_by_end ON tasks (ended) INCLUDE (app, project, status, cause, created) WHERE ended IS NOT NULL;
CREATE INDEX tasks_deployed_of_commit ON tasks (source_sha, ended, id) INCLUDE (committed_at, app, project)
  WHERE status = 'deployed' AND source_sha IS NOT NULL;

-- Searching works without this index, slower. It requires the extension pg_trgm, which not every role may create; call this
-- function once it exists.
CREATE FUNCTION add_search_index() RETURNS boolean LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  extension_schema text;
BEGIN
  CREATE EXTENSION IF NOT EXISTS pg_trgm;
  SELECT nspname INTO STRICT extension_schema
  FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace WHERE extname = 'pg_trgm';
  -- Without unfinished tasks: a hundred entries for each submission would cost more than all else that it writes, and each
  -- update that moves the row would write them again. A full pending list is merged by the end of a task that fills it: with
  -- 4 MiB, the default, that takes up to a second.
  EXECUTE format('CREATE INDEX IF NOT EXISTS tasks_searched ON tasks USING gin (searched %I.gin_trgm_ops)
    WITH (gin_pending_list_limit = 512) WHERE ended IS NOT NULL', extension_schema);
  RETURN true;
EXCEPTION
  WHEN insufficient_privilege OR undefined_file OR undefined_object OR feature_not_supported THEN
    RETURN false;
END
$$;
SELECT add_search_index();

CREATE TABLE idempotency_keys (
  -- SHA-256 of the key with the kind and subject of the credential and the application, to which alone it belongs
  key_digest bytea PRIMARY KEY,
  -- SHA-256 of the submission
  body_digest bytea NOT NULL,
  -- no foreign key: it is written before the task, and is long forgotten when the task is
  task_id uuid NOT NULL,
  created timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created);

-- Applications that Argo CD has shown. The name that a task brings is free text, and strangers may submit tasks.
CREATE TABLE confirmed_applications (app text PRIMARY KEY);

-- What Pods wrote before they failed a task. Apart from the tasks, because not everybody who may read those may read it.
CREATE TABLE task_pod_logs (
  task_id uuid PRIMARY KEY REFERENCES tasks (id) ON DELETE CASCADE,
  pod text NOT NULL,
  lines text[] NOT NULL
);

CREATE TABLE task_events (
  row_id bigint GENERATED ALWAYS AS IDENTITY,
  -- no foreign key: events are written by the statement that writes their task, which needs no second look at it
  task_id uuid NOT NULL,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  kind text NOT NULL,
  detail text NOT NULL,
  -- the order readers see; given after commit, null until then
  position bigint
);
-- An event is written twice, so that each time it enters only the indexes that it is looked for in.
CREATE UNIQUE INDEX task_events_numbered ON task_events (position) WHERE position IS NOT NULL;
CREATE INDEX task_events_unnumbered ON task_events (row_id) WHERE position IS NULL;
CREATE INDEX task_events_of_task ON task_events (task_id, position) WHERE position IS NOT NULL;

-- `last`: the highest position given so far; its row lock lets one replica at a time give positions. `deleted_to`: the highest
-- one that retention has deleted; a reader that is behind it has missed events
CREATE TABLE event_counter (last bigint NOT NULL, deleted_to bigint NOT NULL DEFAULT 0);
INSERT INTO event_counter VALUES (0);

-- Gives committed events their position, in one short transaction at a time over all replicas. Relies on READ COMMITTED: what
-- is numbered is looked for after the wait for the counter. Returns the task of each of these events. Its plans are kept, also
-- from when the tables were small, hence no scans of whole tables.
CREATE FUNCTION number_events(at_most integer) RETURNS uuid[] LANGUAGE plpgsql
SET search_path FROM CURRENT SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
DECLARE
  tasks uuid[];
BEGIN
  IF NOT EXISTS (SELECT FROM task_events WHERE position IS NULL) THEN
    RETURN '{}';
  END IF;
  PERFORM last FROM event_counter FOR UPDATE;
  WITH waiting AS (
    SELECT ctid AS place_of_row, row_number() OVER (ORDER BY row_id) AS place
    FROM task_events WHERE position IS NULL ORDER BY row_id LIMIT at_most
  ), numbered AS (
    -- By its place, which nobody else changes meanwhile: looked up by row_id, a plan from when there were few rows goes
    -- through all that wait, and all that have waited since the last vacuum, for each of them.
    UPDATE task_events SET position = last + place
    FROM waiting, event_counter WHERE task_events.ctid = waiting.place_of_row
    RETURNING task_id
  )
  SELECT coalesce(array_agg(task_id), '{}') INTO tasks FROM numbered;
  UPDATE event_counter SET last = last + cardinality(tasks);
  RETURN tasks;
END
$$;

-- who pushes to a repository: one replica at a time
CREATE TABLE repositories (
  -- equal for all spellings of its address (gitops/plan/repository-address.ts)
  name text PRIMARY KEY,
  owner uuid,
  fence bigint NOT NULL DEFAULT 0,
  -- when a replica that could not do the work last gave it to another one
  given timestamptz
);

CREATE TABLE pending_writes (
  task_id uuid PRIMARY KEY REFERENCES tasks (id) ON DELETE CASCADE,
  repository text NOT NULL,
  -- `HEAD` until the host has said which branch that is
  branch text NOT NULL,
  -- where git gets to the repository
  address text NOT NULL,
  -- the planned change: file, parameters, commit message (gitops/plan/plan-write-back.ts)
  plan jsonb NOT NULL,
  state text NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'pushing', 'landed', 'unchanged', 'refused', 'dropped')),
  -- the tip the push was built on, for the look after an unknown outcome
  base text,
  commit text,
  cause text,
  reason text,
  created timestamptz NOT NULL DEFAULT now(),
  updated timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX pending_writes_open ON pending_writes (repository, branch, created) WHERE state IN ('queued', 'pushing');
-- outcomes that a replica may have missed
CREATE INDEX pending_writes_ended ON pending_writes (updated) WHERE state NOT IN ('queued', 'pushing');

-- the deploy lock as a person set it; one row, which a transaction that accepts a task holds FOR SHARE until its commit
CREATE TABLE deploy_lock (
  is_only_row boolean PRIMARY KEY DEFAULT true CHECK (is_only_row),
  is_set boolean NOT NULL DEFAULT false,
  since timestamptz(3),
  until timestamptz(3),
  reason text,
  set_by text,
  -- the schedule has no effect until then: a person released the lock inside a lockdown window
  override_until timestamptz(3)
);
INSERT INTO deploy_lock DEFAULT VALUES;

-- what people did with the deploy lock, for the calendar: each time is over when the next one begins
CREATE TABLE deploy_lock_periods (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- `opened`: the lock was released inside a lockdown window
  kind text NOT NULL CHECK (kind IN ('manual', 'opened')),
  since timestamptz(3) NOT NULL,
  -- null: until released
  until timestamptz(3),
  reason text,
  set_by text
);
CREATE INDEX deploy_lock_periods_by_start ON deploy_lock_periods (since);

CREATE TABLE sessions (
  -- SHA-256 of the random id that only the browser has
  id_digest bytea PRIMARY KEY,
  subject text NOT NULL,
  name text NOT NULL,
  groups text[] NOT NULL,
  -- they stand in an ID token that the provider did not renew at the last check
  has_stale_groups boolean NOT NULL DEFAULT false,
  -- the provider's tokens, sealed with a key made from the id
  tokens bytea NOT NULL,
  created timestamptz NOT NULL DEFAULT clock_timestamp(),
  last_used timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- when the provider last said that this is a user of these groups
  checked timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- until then one replica asks the provider about the user, and no other does
  asked_until timestamptz
);

-- sign-ins that were begun; each row is deleted when its browser comes back
CREATE TABLE sign_ins (
  id_digest bytea PRIMARY KEY,
  state text NOT NULL,
  nonce text NOT NULL,
  code_verifier text NOT NULL,
  return_path text NOT NULL,
  created timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX sign_ins_by_age ON sign_ins (created);

CREATE TABLE deploy_tokens (
  id uuid PRIMARY KEY,
  digest bytea NOT NULL UNIQUE,
  -- globs; null: every application
  apps text[],
  description text NOT NULL,
  created timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  created_by text NOT NULL,
  expires timestamptz(3) NOT NULL,
  last_used timestamptz(3),
  revoked timestamptz(3)
);

CREATE TABLE audit (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  action text NOT NULL,
  actor_kind text NOT NULL,
  -- sub of a user or a JWT, id of a scoped deploy token
  actor text,
  actor_name text,
  -- what it was done to: a task, a token
  subject text,
  detail text
);

CREATE INDEX audit_of_action ON audit (action, id);

CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- retention alone may delete: delete_old_audit, or the owner of the schema in a transaction that says so
  IF TG_OP = 'DELETE' AND current_setting('watcher.retention', true) = 'on' THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'the audit is append-only';
END
$$;
CREATE TRIGGER audit_is_append_only BEFORE UPDATE OR DELETE ON audit
  FOR EACH ROW EXECUTE FUNCTION refuse_audit_change();
CREATE TRIGGER audit_is_not_emptied BEFORE TRUNCATE ON audit
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();

-- Deletes entries of more than so many days ago among the `at_most` oldest, and says how many. The only way for a role that may
-- not delete, hence not for the last 30 days, in which an intruder's traces lie.
CREATE FUNCTION delete_old_audit(days integer, at_most integer) RETURNS integer LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
  deleted integer;
BEGIN
  IF days < 30 THEN
    RAISE EXCEPTION 'the audit is kept for 30 days at least';
  END IF;
  PERFORM set_config('watcher.retention', 'on', true);
  DELETE FROM audit USING (SELECT id, at FROM audit ORDER BY id LIMIT at_most) AS oldest
  WHERE audit.id = oldest.id AND oldest.at < clock_timestamp() - make_interval(days => days);
  GET DIAGNOSTICS deleted = ROW_COUNT;
  PERFORM set_config('watcher.retention', 'off', true);
  RETURN deleted;
END
$$;
REVOKE ALL ON FUNCTION delete_old_audit FROM PUBLIC;
-- Temporary tables come last: they are the caller's, and this runs as the owner.
DO $$
BEGIN
  EXECUTE format('ALTER FUNCTION delete_old_audit SET search_path TO %I, pg_temp', current_schema());
END
$$;
