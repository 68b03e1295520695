-- Who submitted a task, as far as it says whose commits the task may be reported on: {"kind": "other"}, or {"kind": "ci"} with
-- the address of the CI's pages and the commit that its token names. Null without a credential, and of older tasks.
ALTER TABLE tasks ADD COLUMN submitter jsonb;
-- Where users reach the application, as Argo CD last showed it.
ALTER TABLE tasks ADD COLUMN external_url text;

-- Whether a delivery waits for what only a person can change, such as an App that is not installed.
ALTER TABLE deliveries ADD COLUMN is_blocked boolean NOT NULL DEFAULT false;
