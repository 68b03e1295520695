-- How long the application may take to appear in Argo CD; a replica of an older version accepts tasks without it.
ALTER TABLE tasks ADD COLUMN wait_for_app_seconds integer NOT NULL DEFAULT 0;
