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

-- What the service makes of a task's images (deployments/accept-task.ts), to find those that share one and those that are the
-- same.
ALTER TABLE tasks ADD COLUMN repositories text[] NOT NULL DEFAULT '{}', ADD COLUMN image_set bytea;
CREATE INDEX tasks_deployed_images ON tasks (app, image_set, created DESC) WHERE status = 'deployed';
