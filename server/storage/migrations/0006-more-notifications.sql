-- What the annotations notify and notify-on of its application said when the task first saw it.
ALTER TABLE tasks ADD COLUMN notify jsonb;

-- A change of the deploy lock has no task, and its values in `data`.
ALTER TABLE outbox ALTER COLUMN task_id DROP NOT NULL, ADD COLUMN data jsonb;
ALTER TABLE deliveries ALTER COLUMN task_id DROP NOT NULL, ADD COLUMN data jsonb;
CREATE INDEX deliveries_last ON deliveries (target, updated DESC) WHERE state <> 'due';

-- Whether the lock was active when it was last told; null: not yet known.
ALTER TABLE deploy_lock ADD COLUMN told_active boolean;

-- Targets that answered 410: nothing is sent to them while the configuration file has the same `entry` for them, a digest.
CREATE TABLE disabled_targets (
  target text PRIMARY KEY,
  entry text NOT NULL,
  error text NOT NULL,
  since timestamptz NOT NULL DEFAULT clock_timestamp()
);
