import type { Generated, GeneratedAlways, JSONColumnType } from 'kysely'
import type { ActorKind, AuditAction } from '../../contract/audit.ts'
import type { Cause } from '../../contract/causes.ts'
import type { Diagnosis } from '../../contract/diagnosis.ts'
import type { Delivery } from '../../contract/notify/delivery.ts'
import type { LockChange } from '../../contract/notify/lock-change.ts'
import type { Submitter } from '../../contract/notify/submitter.ts'
import type { Image, TaskSubmission } from '../../contract/task.ts'
import type { TaskEventData, TaskEventKind } from '../../contract/task-event.ts'
import type { TaskStatus } from '../../contract/task-status.ts'

/** The tables as Kysely sees them; the columns are explained in migrations/. bigint arrives as a string. */
export type Schema = {
  replicas: {
    id: string
    lock_key: string
    started_at: Generated<Date>
    heartbeat_at: Generated<Date>
  }
  tasks: {
    id: string
    created: Generated<Date>
    updated: Generated<Date>
    deadline: Date
    app: string
    author: string
    project: string
    images: JSONColumnType<Image[]>
    timeout_seconds: number
    wait_for_app_seconds: Generated<number>
    environment: string | null
    traceparent: string | null
    refresh: boolean
    source: JSONColumnType<NonNullable<TaskSubmission['source']>> | null
    submitter: JSONColumnType<Submitter> | null
    may_write: boolean
    status: Generated<TaskStatus>
    status_reason: string | null
    cause: Cause | null
    progress: string | null
    diagnosis: JSONColumnType<Diagnosis> | null
    app_url: string | null
    external_url: string | null
    is_rollback: Generated<boolean>
    rollback_target_id: string | null
    rollback_of: string | null
    on_failure: 'rollback' | 'none' | null
    commit: string | null
    repository: string | null
    branch: string | null
    baseline: JSONColumnType<object> | null
    owner: string | null
    fence: Generated<string>
    reader_digests: Buffer[] | null
    repositories: Generated<string[]>
    image_set: Buffer | null
    /** The last four are made by the database from the others. */
    searched: GeneratedAlways<string>
    ended: GeneratedAlways<Date | null>
    source_sha: GeneratedAlways<string | null>
    committed_at: GeneratedAlways<number | null>
  }
  confirmed_applications: {
    app: string
  }
  task_pod_logs: {
    task_id: string
    pod: string
    lines: string[]
  }
  idempotency_keys: {
    key_digest: Buffer
    body_digest: Buffer
    task_id: string
    created: Generated<Date>
  }
  task_events: {
    row_id: Generated<string>
    task_id: string
    at: Generated<Date>
    kind: TaskEventKind
    detail: string
    data: JSONColumnType<TaskEventData> | null
    position: string | null
  }
  event_counter: {
    last: string
    deleted_to: Generated<string>
  }
  repositories: {
    name: string
    owner: string | null
    fence: Generated<string>
    given: Date | null
  }
  pending_writes: {
    task_id: string
    repository: string
    branch: string
    address: string
    plan: JSONColumnType<object>
    replaced: JSONColumnType<Record<string, string | null>> | null
    state: Generated<'queued' | 'pushing' | 'landed' | 'unchanged' | 'refused' | 'dropped'>
    base: string | null
    commit: string | null
    cause: Cause | null
    reason: string | null
    created: Generated<Date>
    updated: Generated<Date>
  }
  outbox: {
    id: Generated<string>
    task_id: string | null
    change: 'started' | 'ended' | 'lock_changed'
    data: JSONColumnType<LockChange> | null
    at: Generated<Date>
  }
  deliveries: {
    id: Generated<string>
    place: Generated<string>
    task_id: string | null
    target: string
    event: string
    state: Generated<Delivery['state']>
    attempts: Generated<number>
    next_attempt_at: Generated<Date>
    claimed_until: Date | null
    last_error: string | null
    is_blocked: Generated<boolean>
    reference: JSONColumnType<object> | null
    data: JSONColumnType<LockChange> | null
    created: Generated<Date>
    updated: Generated<Date>
  }
  disabled_targets: {
    target: string
    entry: string
    error: string
    since: Generated<Date>
  }
  deploy_lock: {
    is_only_row: Generated<boolean>
    /** Whether it was active when it was last told; null: not yet known. */
    told_active: boolean | null
    is_set: Generated<boolean>
    since: Date | null
    until: Date | null
    reason: string | null
    set_by: string | null
    override_until: Date | null
  }
  deploy_lock_periods: {
    id: Generated<string>
    kind: 'manual' | 'opened'
    since: Date
    until: Date | null
    reason: string | null
    set_by: string | null
  }
  sessions: {
    id_digest: Buffer
    subject: string
    name: string
    groups: string[]
    has_stale_groups: Generated<boolean>
    tokens: Buffer
    created: Generated<Date>
    last_used: Generated<Date>
    checked: Generated<Date>
    asked_until: Date | null
  }
  sign_ins: {
    id_digest: Buffer
    state: string
    nonce: string
    code_verifier: string
    return_path: string
    created: Generated<Date>
  }
  deploy_tokens: {
    id: string
    digest: Buffer
    apps: string[] | null
    description: string
    created: Generated<Date>
    created_by: string
    expires: Date
    last_used: Date | null
    revoked: Date | null
  }
  audit: {
    id: Generated<string>
    at: Generated<Date>
    action: AuditAction
    actor_kind: ActorKind
    actor: string | null
    actor_name: string | null
    subject: string | null
    detail: string | null
  }
}
