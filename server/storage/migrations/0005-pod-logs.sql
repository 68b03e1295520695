-- What Pods wrote before they failed a task. Apart from the tasks, because not everybody who may read those may read it.
CREATE TABLE task_pod_logs (
  task_id uuid PRIMARY KEY REFERENCES tasks (id) ON DELETE CASCADE,
  pod text NOT NULL,
  lines text[] NOT NULL
);
