-- A change of a task that is to be told, written by the statement that changes the task, where the configuration file has a
-- target. A replica expands it by the routes of that file, and deletes it.
CREATE TABLE outbox (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  task_id uuid NOT NULL REFERENCES tasks ON DELETE CASCADE,
  -- started, ended
  change text NOT NULL,
  at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- What one target is told of one task. `place` is their order: of a task and a target one at a time is sent.
CREATE TABLE deliveries (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  place bigint GENERATED ALWAYS AS IDENTITY,
  task_id uuid NOT NULL REFERENCES tasks ON DELETE CASCADE,
  target text NOT NULL,
  event text NOT NULL,
  -- due, sent, dead
  state text NOT NULL DEFAULT 'due',
  attempts integer NOT NULL DEFAULT 0,
  next_attempt_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- while a replica sends it
  claimed_until timestamptz,
  last_error text,
  -- where the message is that the next event of the task changes
  reference jsonb,
  created timestamptz NOT NULL DEFAULT clock_timestamp(),
  updated timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX deliveries_due ON deliveries (target, next_attempt_at) WHERE state = 'due';
CREATE INDEX deliveries_of_task ON deliveries (task_id, target, place);
CREATE INDEX deliveries_ended ON deliveries (state, updated) WHERE state <> 'due';
