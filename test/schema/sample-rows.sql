-- A row in each table, as a version that has worked for a while leaves them.
INSERT INTO tasks (id, created, updated, deadline, app, author, project, images, timeout_seconds, refresh, may_write, status,
  status_reason, cause, app_url, commit, repository, branch, image_set, repositories)
VALUES
  ('0190a000-0000-7000-8000-000000000001', '2026-01-01 10:00Z', '2026-01-01 10:01Z', '2026-01-01 10:15Z', 'shop', 'ada', 'shop',
    '[{"image": "registry.example/shop", "tag": "v1"}]', 900, true, true, 'deployed', NULL, NULL,
    'https://argocd.example/applications/shop', repeat('a', 40), 'ssh://git@git.example/gitops.git', 'main', '\x01', '{shop}'),
  ('0190a000-0000-7000-8000-000000000002', '2026-01-02 10:00Z', '2026-01-02 10:15Z', '2026-01-02 10:15Z', 'shop', 'ada', 'shop',
    '[{"image": "registry.example/shop", "tag": "v2"}]', 900, true, false, 'failed', 'timed out', 'timeout',
    'https://argocd.example/applications/shop', NULL, NULL, NULL, '\x02', '{shop}');
INSERT INTO task_events (task_id, at, kind, detail) VALUES
  ('0190a000-0000-7000-8000-000000000001', '2026-01-01 10:00Z', 'accepted', 'accepted from ada'),
  ('0190a000-0000-7000-8000-000000000001', '2026-01-01 10:01Z', 'verdict', 'deployed'),
  ('0190a000-0000-7000-8000-000000000002', '2026-01-02 10:15Z', 'verdict', 'failed: timed out');
SELECT number_events(10);
INSERT INTO task_pod_logs VALUES ('0190a000-0000-7000-8000-000000000002', 'shop-1', '{"a line"}');
INSERT INTO pending_writes (task_id, repository, branch, address, plan, state, commit)
VALUES ('0190a000-0000-7000-8000-000000000001', 'git.example/gitops', 'main', 'ssh://git@git.example/gitops.git',
  '{"app": "shop"}', 'landed', repeat('a', 40));
INSERT INTO repositories (name, fence) VALUES ('git.example/gitops', 3);
INSERT INTO idempotency_keys VALUES ('\x01', '\x02', '0190a000-0000-7000-8000-000000000001', '2026-01-01 10:00Z');
INSERT INTO confirmed_applications VALUES ('shop');
INSERT INTO replicas (id, lock_key, heartbeat_at) VALUES ('0190a000-0000-4000-8000-00000000000a', 1, '2026-01-02 10:15Z');
INSERT INTO deploy_lock_periods (kind, since, until, reason, set_by)
VALUES ('manual', '2026-01-01 12:00Z', '2026-01-01 13:00Z', 'OPS-1', 'ada');
INSERT INTO sessions (id_digest, subject, name, groups, tokens) VALUES ('\x01', 'ada', 'Ada', '{dev}', '\x02');
INSERT INTO sign_ins (id_digest, state, nonce, code_verifier, return_path) VALUES ('\x01', 's', 'n', 'v', '/');
INSERT INTO deploy_tokens (id, digest, apps, description, created_by, expires)
VALUES ('0190a000-0000-4000-8000-00000000000b', '\x01', '{shop}', 'pipeline', 'ada', '2027-01-01Z');
INSERT INTO audit (at, action, actor_kind, actor, subject) VALUES ('2026-01-01 10:00Z', 'task_submitted', 'deploy_token', NULL,
  '0190a000-0000-7000-8000-000000000001');
