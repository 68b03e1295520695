-- the deploy lock as a person set it; one row, which a transaction that accepts a task holds FOR SHARE until its commit
CREATE TABLE deploy_lock (
  is_only_row boolean PRIMARY KEY DEFAULT true CHECK (is_only_row),
  is_set boolean NOT NULL DEFAULT false,
  since timestamptz(3),
  until timestamptz(3),
  reason text,
  set_by text,
  -- the schedule counts for nothing until then: somebody released the lock inside a lockdown window
  override_until timestamptz(3)
);
INSERT INTO deploy_lock DEFAULT VALUES;

CREATE TABLE sessions (
  -- SHA-256 of the random id that only the browser has
  id_digest bytea PRIMARY KEY,
  subject text NOT NULL,
  name text NOT NULL,
  groups text[] NOT NULL,
  -- they stand in an ID token that the provider did not renew at the last check
  has_stale_groups boolean NOT NULL DEFAULT false,
  -- the provider's tokens, sealed with a key made from the id
  tokens bytea NOT NULL,
  created timestamptz NOT NULL DEFAULT clock_timestamp(),
  last_used timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- when the provider last said that this is a user of these groups
  checked timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- until then one replica asks the provider about the user, and no other does
  asked_until timestamptz
);

-- sign-ins that were begun; each row is deleted when its browser comes back
CREATE TABLE sign_ins (
  id_digest bytea PRIMARY KEY,
  state text NOT NULL,
  nonce text NOT NULL,
  code_verifier text NOT NULL,
  return_path text NOT NULL,
  created timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX sign_ins_by_age ON sign_ins (created);

CREATE TABLE deploy_tokens (
  id uuid PRIMARY KEY,
  digest bytea NOT NULL UNIQUE,
  -- globs; null: every application
  apps text[],
  description text NOT NULL,
  created timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  created_by text NOT NULL,
  expires timestamptz(3) NOT NULL,
  last_used timestamptz(3),
  revoked timestamptz(3)
);

-- the credentials that submitted a task, with its Idempotency-Key maybe several, may go on reading it; keyed with the task's id
ALTER TABLE tasks ADD COLUMN reader_digests bytea[];

CREATE TABLE audit (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  action text NOT NULL,
  actor_kind text NOT NULL,
  -- sub of a user or a JWT, id of a scoped deploy token
  actor text,
  actor_name text,
  -- what it was done to: a task, a token
  subject text,
  detail text
);

CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- retention alone may delete, in a transaction that says so
  IF TG_OP = 'DELETE' AND current_setting('watcher.retention', true) = 'on' THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'the audit is append-only';
END
$$;
CREATE TRIGGER audit_is_append_only BEFORE UPDATE OR DELETE ON audit
  FOR EACH ROW EXECUTE FUNCTION refuse_audit_change();
CREATE TRIGGER audit_is_not_emptied BEFORE TRUNCATE ON audit
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();
