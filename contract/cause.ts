/**
 * Why a task did not end `deployed`, for machines. The table with the meaning of each code is docs/causes.md.
 * Codes are stable: one may be added, none changes its meaning.
 */
export const causes = [
  'app_not_found',
  'app_gone',
  'image_pull',
  'image_name',
  'container_config',
  'crash_loop',
  'probe_failing',
  'degraded',
  'hook_failed',
  'sync_error',
  'terminated',
  'comparison_error',
  'image_not_in_application',
  'commit_without_effect',
  'not_followed',
  'sync_window',
  'manual_sync_required',
  'auto_sync_stopped',
  'suspended',
  'timeout',
  'controller_unreachable',
  'superseded',
  'cancelled',
  'no_credential',
  'not_managed',
  'annotation_invalid',
  'setting_missing',
  'git_refused',
  'git_unreachable',
  'override_file_invalid',
  'no_replica',
] as const
export type Cause = (typeof causes)[number]
