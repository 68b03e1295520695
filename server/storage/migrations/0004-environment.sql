-- The environment of a deployment, as its submission names it; null: none.
ALTER TABLE tasks ADD COLUMN environment text;
CREATE INDEX tasks_newest_of_environment ON tasks (environment, created DESC, id DESC) WHERE environment IS NOT NULL;
