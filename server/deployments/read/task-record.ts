import { ListedTask, type TaskRecord } from '../../../contract/task.ts'
import type { Task } from '../task.ts'

/** The task as callers see it, without the right to write. */
export function taskRecordOf(task: Task): TaskRecord {
  return {
    id: task.id,
    created: secondsOf(task.created),
    updated: secondsOf(task.updated),
    app: task.app,
    author: task.author,
    project: task.project,
    ...given('environment', task.environment),
    images: task.images.map(({ image, tag }) => ({ image, tag })),
    status: task.status,
    timeout: task.timeoutSeconds,
    ...(task.waitForAppSeconds === 0 ? {} : { wait_for_app: task.waitForAppSeconds }),
    refresh: task.refresh,
    ...given('status_reason', task.statusReason),
    ...given('cause', task.cause),
    ...given('headline', task.headline),
    ...given('progress', task.progress),
    ...given('unmet_condition', task.unmetCondition),
    ...given('diagnosis', task.diagnosis),
    ...(task.isRollback ? { is_rollback: true } : {}),
    ...given('rollback_target_id', task.rollbackTargetId),
    ...given('rollback_of', task.rollbackOf),
    ...given('commit', task.commit),
    ...given('repository', task.repository),
    ...given('branch', task.branch),
    ...given('app_url', task.appUrl),
    ...given('source', task.source),
    ...given('previous', task.previous && { ...task.previous, images: [...task.previous.images] }),
  }
}

/** The task as a row of a list shows it. */
export const listedTaskOf = (task: Task): ListedTask => ListedTask.parse(taskRecordOf(task))

const secondsOf = (time: Date) => time.getTime() / 1000

const given = <Name extends string, Value>(name: Name, value: Value | undefined) =>
  (value === undefined ? {} : { [name]: value }) as { [name in Name]?: Value }
