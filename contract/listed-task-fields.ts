/** What a row of a list and an event show of a task, in the form that `pick` of a schema takes. */
export const listedTaskFields = {
  id: true,
  created: true,
  updated: true,
  app: true,
  author: true,
  project: true,
  images: true,
  status: true,
  cause: true,
  progress: true,
  unmet_condition: true,
  timeout: true,
  is_rollback: true,
  rollback_target_id: true,
  commit: true,
  app_url: true,
} as const
