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

-- The repository that the name of an image means, as repositoryOf in contract/image-name.ts has it: two spellings are one.
CREATE FUNCTION repository_of(name text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE
    WHEN strpos(name, '/') = 0 THEN 'docker.io/library/' || name
    WHEN NOT is_host THEN 'docker.io/' || name
    WHEN host <> 'docker.io' THEN host || '/' || path
    WHEN strpos(path, '/') = 0 THEN 'docker.io/library/' || path
    ELSE 'docker.io/' || path
  END
  FROM (SELECT split_part(name, '/', 1) AS first, substr(name, strpos(name || '/', '/') + 1) AS path) AS parts,
  LATERAL (SELECT first ~ '[.:]' OR first = 'localhost' AS is_host,
    CASE WHEN first IN ('index.docker.io', 'registry-1.docker.io') THEN 'docker.io' ELSE lower(first) END AS host) AS registry
$$;

-- What a caller submits, with what else is to be written: the repositories of its images, the texts of its event and of its
-- audit entry, who submitted it, and its Idempotency-Key.
CREATE TYPE submission AS (
  id uuid, app text, author text, project text, images jsonb, repositories text[], source jsonb, timeout_seconds integer,
  refresh boolean, may_write boolean, reader_digest text, accepted_text text, audited_text text, actor_kind text, actor text,
  actor_name text, key_digest text, body_digest text
);

-- Refuses with WL001, whose detail is the time and the lock, a moment at which no task may be created: it is not known
-- whether it is closed, somebody has set the lock, or it lies in a lockdown window that nobody has opened.
CREATE FUNCTION refuse_when_closed(moment timestamptz, lock deploy_lock, known_times tstzrange, closed_times tstzmultirange)
RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  IF NOT moment <@ known_times
    OR (lock.is_set AND (lock.until IS NULL OR moment < lock.until))
    OR (moment <@ closed_times AND (lock.override_until IS NULL OR moment >= lock.override_until))
  THEN
    RAISE EXCEPTION USING ERRCODE = 'WL001', MESSAGE = 'deployments are locked',
      DETAIL = jsonb_build_object('at', moment, 'lock', to_jsonb(lock));
  END IF;
  RETURN true;
END
$$;

-- Accepts tasks of different applications in one statement, which is one transaction and one round trip (decisions 0155
-- and 0185); one with an Idempotency-Key comes alone. They belong to `new_owner` from the beginning, if there is one.
--
-- It relies on READ COMMITTED, where each statement of a function sees what was committed before it began: so whoever
-- waited sees what he waited for. Its plans are kept, as those of number_events, and told to be: PostgreSQL would plan each
-- time anew for so many submissions as there are, which takes longer than the statement.
--
-- Returns {"created": {<id of a task>: <time>}, "superseded": {<id of a task>: […]}}, or {"known": …} for a key that was used
-- within a day. Where the lock refuses one it refuses all, and so does, with WL002, an application that has as many
-- unfinished tasks as it may have.
CREATE FUNCTION accept_tasks(submitted jsonb, new_owner uuid, known_times tstzrange, closed_times tstzmultirange,
  max_unfinished_per_app integer)
RETURNS jsonb LANGUAGE plpgsql
SET search_path FROM CURRENT SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
DECLARE
  submissions CONSTANT submission[] :=
    ARRAY(SELECT jsonb_populate_record(NULL::submission, one) FROM jsonb_array_elements(submitted) AS one);
  use CONSTANT submission := submissions[1];
  known idempotency_keys;
  outdated uuid[];
  outdated_by uuid[];
  superseded jsonb;
  lock deploy_lock;
  now_at timestamptz(3);
  times jsonb;
  moments timestamptz(3)[];
  moment timestamptz(3);
  is_open boolean;
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    RAISE EXCEPTION 'tasks are accepted at isolation level read committed only: see default_transaction_isolation';
  END IF;

  -- Waits for whoever is using the key. A use that was rolled back is none.
  IF use.key_digest IS NOT NULL THEN
    INSERT INTO idempotency_keys AS earlier (key_digest, body_digest, task_id)
    VALUES (decode(use.key_digest, 'hex'), decode(use.body_digest, 'hex'), use.id)
    ON CONFLICT (key_digest) DO UPDATE SET body_digest = excluded.body_digest, task_id = excluded.task_id,
      created = excluded.created
    WHERE earlier.created <= clock_timestamp() - interval '24 hours';
    IF NOT FOUND THEN
      SELECT * INTO known FROM idempotency_keys WHERE key_digest = decode(use.key_digest, 'hex');
      IF NOT FOUND THEN
        RAISE serialization_failure USING MESSAGE = 'the key expired at this moment';
      END IF;
      RETURN jsonb_build_object('known', jsonb_build_object('task_id', known.task_id,
        'body_digest', encode(known.body_digest, 'hex')));
    END IF;
  END IF;

  -- Tasks of one application are accepted one after another, so that of two at once exactly one survives. Everybody takes
  -- the locks in the same order.
  PERFORM pg_advisory_xact_lock(lock_key)
  FROM (SELECT hashtextextended(app, 0) AS lock_key FROM unnest(submissions) ORDER BY lock_key) AS lock_keys;

  SELECT array_agg(unfinished.id), array_agg(task.id) INTO outdated, outdated_by
  FROM (SELECT * FROM unnest(submissions) ORDER BY app) AS task CROSS JOIN LATERAL (
    SELECT tasks.id FROM tasks
    WHERE app = task.app AND ended IS NULL AND (task.may_write OR NOT may_write)
      AND EXISTS (SELECT FROM jsonb_array_elements(images) AS image WHERE repository_of(image->>'image') = ANY (task.repositories))
    ORDER BY tasks.id FOR UPDATE) AS unfinished;
  superseded := '{}';
  IF outdated IS NOT NULL THEN
    -- What is refused anyway is refused before these are written. The looks that count come below.
    PERFORM refuse_when_closed(clock_timestamp(), deploy_lock, known_times, closed_times) FROM deploy_lock;
    WITH ended AS (
      UPDATE tasks SET status = 'cancelled', cause = 'superseded', status_reason = 'superseded by task ' || one.by,
        progress = NULL, updated = clock_timestamp()
      FROM unnest(outdated, outdated_by) AS one (id, by) WHERE tasks.id = one.id
      RETURNING tasks.id, app, created, updated, app_url, one.by
    ), told AS (
      INSERT INTO task_events (task_id, kind, detail)
      SELECT id, 'verdict', 'cancelled: superseded by task ' || ended.by FROM ended
    ), of_each AS (
      SELECT ended.by, jsonb_agg(to_jsonb(ended) - 'by') AS tasks FROM ended GROUP BY ended.by
    )
    SELECT jsonb_object_agg(of_each.by, of_each.tasks) INTO superseded FROM of_each;
  END IF;

  -- As late as can be: whoever sets the lock waits for this transaction from here on (decision 0134).
  SELECT * INTO STRICT lock FROM deploy_lock FOR SHARE;
  now_at := clock_timestamp();
  is_open := refuse_when_closed(now_at, lock, known_times, closed_times); -- so that what is refused writes no task
  -- Without those that have just ended. Tasks without a credential take no room from those with one.
  PERFORM FROM unnest(submissions) AS task
  WHERE max_unfinished_per_app <= (
    SELECT count(*) FROM (SELECT FROM tasks WHERE app = task.app AND ended IS NULL AND (may_write OR NOT task.may_write)
      LIMIT max_unfinished_per_app) AS unfinished);
  IF FOUND THEN
    RAISE EXCEPTION USING ERRCODE = 'WL002', MESSAGE = 'an application has too many unfinished tasks';
  END IF;
  -- Of one application no two have the same millisecond, so that its newest task is the one accepted last. A rollback's
  -- target is the last task that deployed these very images, if others of the same names were deployed since.
  WITH accepted AS (
    INSERT INTO tasks (id, created, updated, deadline, app, author, project, images, timeout_seconds, refresh, source,
      may_write, is_rollback, rollback_target_id, reader_digests, owner, fence)
    SELECT task.id, at, at, at + make_interval(secs => task.timeout_seconds), task.app, task.author, task.project,
      task.images, task.timeout_seconds, task.refresh, task.source, task.may_write, target.id IS NOT NULL, target.id,
      CASE WHEN task.reader_digest IS NOT NULL THEN ARRAY[decode(task.reader_digest, 'hex')] END, new_owner, CASE WHEN new_owner IS NULL THEN 0 ELSE 1 END
    FROM unnest(submissions) AS task
    CROSS JOIN LATERAL (
      SELECT CASE WHEN newest >= now_at AND newest < now_at + interval '1 second'
        THEN newest + interval '1 millisecond' ELSE now_at END AS at
      FROM (SELECT max(created) AS newest FROM tasks WHERE app = task.app) AS newest_of_app
    ) AS time
    LEFT JOIN LATERAL (
      SELECT last.id
      FROM (SELECT id, created FROM tasks
        WHERE app = task.app AND status = 'deployed' AND image_set(images) = image_set(task.images)
        ORDER BY created DESC LIMIT 1) AS last
      WHERE EXISTS (SELECT FROM tasks WHERE app = task.app AND status = 'deployed' AND created > last.created
        AND EXISTS (SELECT FROM jsonb_array_elements(images) AS image WHERE repository_of(image->>'image') = ANY (task.repositories)))
    ) AS target ON true
    RETURNING id, created
  ), told AS (
    INSERT INTO task_events (task_id, kind, detail) SELECT id, 'accepted', accepted_text FROM unnest(submissions)
  ), audited AS (
    INSERT INTO audit (action, actor_kind, actor, actor_name, subject, detail)
    SELECT 'task_submitted', actor_kind, actor, actor_name, id, audited_text FROM unnest(submissions)
  )
  SELECT jsonb_object_agg(id, created), array_agg(created) INTO times, moments FROM accepted;
  FOREACH moment IN ARRAY moments LOOP -- some are later than now
    is_open := refuse_when_closed(moment, lock, known_times, closed_times);
  END LOOP;

  IF outdated IS NOT NULL THEN
    INSERT INTO task_events (task_id, kind, detail)
    SELECT by, 'superseded_others', 'superseded ' || string_agg(id::text, ', ' ORDER BY id)
    FROM unnest(outdated, outdated_by) AS one (id, by) GROUP BY by;
  END IF;

  RETURN jsonb_build_object('created', times, 'superseded', superseded);
END
$$;
