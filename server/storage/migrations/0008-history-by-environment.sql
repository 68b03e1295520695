-- The history is read from this index alone, also that of an environment, and counts rollbacks.
DROP INDEX tasks_by_end;
CREATE INDEX tasks_by_end ON tasks (ended) INCLUDE (app, project, environment, status, cause, created, is_rollback)
  WHERE ended IS NOT NULL;
