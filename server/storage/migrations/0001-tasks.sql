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
  app_url text,
  is_rollback boolean NOT NULL DEFAULT false,
  rollback_target_id uuid,
  commit text,
  repository text,
  branch text,
  -- what the application looked like when the task was first watched; must survive a change of owner
  baseline jsonb,
  owner uuid,
  fence bigint NOT NULL DEFAULT 0
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

-- the highest position given so far; its row lock lets one replica at a time give positions
CREATE TABLE event_counter (last bigint NOT NULL);
INSERT INTO event_counter VALUES (0);

-- Gives committed events their position, in one short transaction at a time over all replicas (decision 0020). Relies on
-- READ COMMITTED: what is numbered is looked for after the wait for the counter. Returns the task of each of these events.
-- Its plans are kept, also from when the tables were small, hence no scans of whole tables.
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

CREATE TABLE repositories (
  address text NOT NULL,
  branch text NOT NULL,
  owner uuid,
  fence bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (address, branch)
);

CREATE TABLE pending_writes (
  task_id uuid PRIMARY KEY REFERENCES tasks (id) ON DELETE CASCADE,
  repository text NOT NULL,
  branch text NOT NULL,
  -- the planned change: file, parameters, commit message (gitops/plan-write-back.ts)
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
