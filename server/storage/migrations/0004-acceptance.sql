CREATE TABLE idempotency_keys (
  key text COLLATE "C" PRIMARY KEY,
  -- the kind of credential that used it first; no other one may learn of the task by it
  caller_kind text NOT NULL,
  -- SHA-256 of the submission
  body_digest bytea NOT NULL,
  -- no foreign key: it is written before the task, and is long forgotten when the task is
  task_id uuid NOT NULL,
  created timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created);

-- Accepts a task in one statement, which is one transaction and one round trip (decision 0155). `task` is a row of tasks
-- with what else is to be written: accepted_text, and for the audit actor_kind, actor, actor_name and audited_text; with
-- an Idempotency-Key also key and body_digest.
--
-- It relies on READ COMMITTED, where each statement of a function sees what was committed before it began: so whoever
-- waited sees what he waited for.
--
-- Returns {"superseded": […]}, or {"known": …} for a key that was used within a day. Refuses a locked task with WL001,
-- whose detail is the time and the lock it was judged by.
CREATE FUNCTION accept_task(task jsonb, known_times tstzrange, closed_times tstzmultirange) RETURNS jsonb
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  new_id CONSTANT uuid := task->>'id';
  new_app CONSTANT text := task->>'app';
  new_images CONSTANT jsonb := task->'images';
  new_names CONSTANT text[] := ARRAY(SELECT image->>'image' FROM jsonb_array_elements(new_images) AS image);
  new_set CONSTANT uuid := image_set(new_images);
  may_supersede CONSTANT boolean := task->>'may_write';
  superseding CONSTANT text := 'superseded by task ' || new_id;
  known idempotency_keys;
  target tasks;
  is_current boolean;
  superseded jsonb;
  lock deploy_lock;
  at timestamptz(3);
  newest timestamptz;
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    RAISE EXCEPTION 'tasks are accepted at isolation level read committed only: see default_transaction_isolation';
  END IF;

  -- Waits for whoever is using the key. A use that was rolled back is none.
  IF task->>'key' IS NOT NULL THEN
    INSERT INTO idempotency_keys AS earlier (key, caller_kind, body_digest, task_id)
    VALUES (task->>'key', task->>'actor_kind', decode(task->>'body_digest', 'hex'), new_id)
    ON CONFLICT (key) DO UPDATE SET caller_kind = excluded.caller_kind, body_digest = excluded.body_digest,
      task_id = excluded.task_id, created = excluded.created
    WHERE earlier.created <= clock_timestamp() - interval '24 hours';
    IF NOT FOUND THEN
      SELECT * INTO known FROM idempotency_keys WHERE key = task->>'key';
      IF NOT FOUND THEN
        RAISE serialization_failure USING MESSAGE = 'the key expired at this moment';
      END IF;
      RETURN jsonb_build_object('known', jsonb_build_object('task_id', known.task_id, 'caller_kind', known.caller_kind,
        'body_digest', encode(known.body_digest, 'hex')));
    END IF;
  END IF;

  -- Tasks of one application are accepted one after another, so that of two at once exactly one survives.
  PERFORM pg_advisory_xact_lock(hashtextextended(new_app, 0));

  -- The last task that deployed these very images; what was deployed of the same images since then would be rolled back.
  SELECT * INTO target FROM tasks
  WHERE app = new_app AND status = 'deployed' AND image_set(images) = new_set
  ORDER BY created DESC LIMIT 1;
  is_current := NOT FOUND OR NOT EXISTS (
    SELECT FROM tasks WHERE app = new_app AND status = 'deployed' AND created > target.created
      AND EXISTS (SELECT FROM jsonb_array_elements(images) AS image WHERE image->>'image' = ANY (new_names)));

  WITH ended AS (
    UPDATE tasks
    SET status = 'cancelled', cause = 'superseded', status_reason = superseding, progress = NULL, updated = clock_timestamp()
    WHERE app = new_app AND status = 'in progress' AND (may_supersede OR NOT may_write)
      AND EXISTS (SELECT FROM jsonb_array_elements(images) AS image WHERE image->>'image' = ANY (new_names))
    RETURNING id, app, created, updated, app_url
  ), told AS (
    INSERT INTO task_events (task_id, kind, detail) SELECT id, 'verdict', 'cancelled: ' || superseding FROM ended
  )
  SELECT coalesce(jsonb_agg(to_jsonb(ended)), '[]') INTO superseded FROM ended;

  -- As late as can be: whoever sets the lock waits for this transaction from here on (decision 0134).
  SELECT * INTO STRICT lock FROM deploy_lock FOR SHARE;
  at := clock_timestamp();
  -- Of one application no two have the same millisecond, so that its newest task is the one accepted last.
  SELECT max(created) INTO newest FROM tasks WHERE app = new_app;
  IF newest >= at AND newest < at + interval '1 second' THEN
    at := newest + interval '1 millisecond';
  END IF;
  IF NOT at <@ known_times
    OR (lock.is_set AND (lock.until IS NULL OR at < lock.until))
    OR (at <@ closed_times AND (lock.override_until IS NULL OR at >= lock.override_until))
  THEN
    RAISE EXCEPTION USING ERRCODE = 'WL001', MESSAGE = 'deployments are locked',
      DETAIL = jsonb_build_object('at', at, 'lock', to_jsonb(lock));
  END IF;

  INSERT INTO tasks (id, created, updated, deadline, app, author, project, images, timeout_seconds, refresh, source,
    may_write, is_rollback, rollback_target_id, reader_digest)
  VALUES (new_id, at, at, at + make_interval(secs => (task->>'timeout_seconds')::integer), new_app, task->>'author',
    task->>'project', new_images, (task->>'timeout_seconds')::integer, (task->>'refresh')::boolean,
    nullif(task->'source', 'null'), may_supersede, NOT is_current, CASE WHEN NOT is_current THEN target.id END,
    decode(task->>'reader_digest', 'hex'));
  INSERT INTO task_events (task_id, kind, detail) VALUES (new_id, 'accepted', task->>'accepted_text');
  IF superseded <> '[]' THEN
    INSERT INTO task_events (task_id, kind, detail)
    SELECT new_id, 'superseded_others', 'superseded ' || string_agg(one->>'id', ', ')
    FROM jsonb_array_elements(superseded) AS one;
  END IF;
  INSERT INTO audit (action, actor_kind, actor, actor_name, subject, detail)
  VALUES ('task_submitted', task->>'actor_kind', task->>'actor', task->>'actor_name', new_id, task->>'audited_text');
  RETURN jsonb_build_object('superseded', superseded);
END
$$;
