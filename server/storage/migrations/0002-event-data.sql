-- What an event says in `detail`, as values (contract/task-event.ts); null: only `detail` says it, as of older versions.
ALTER TABLE task_events ADD COLUMN data jsonb;
