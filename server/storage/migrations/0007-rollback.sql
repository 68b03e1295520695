-- What follows a failure: rollback or none, by the submission, else by the annotation of the application; null: ON_FAILURE.
ALTER TABLE tasks ADD COLUMN on_failure text CHECK (on_failure IN ('rollback', 'none'));
-- The failed task whose commit this one takes back. One at most does.
ALTER TABLE tasks ADD COLUMN rollback_of uuid;
CREATE UNIQUE INDEX tasks_rollback_of ON tasks (rollback_of) WHERE rollback_of IS NOT NULL;
-- What the entries of a plan had before its commit, by name.
ALTER TABLE pending_writes ADD COLUMN replaced jsonb;
