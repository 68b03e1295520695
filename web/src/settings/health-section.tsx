import type { ServiceStatus } from '../../../contract/service-status.ts'
import { argoCdSentence } from '../service/argo-cd-sentence.ts'
import { useServiceStatus } from '../service/read-status.ts'
import { Answered } from '../ui/answered.tsx'
import { duration } from '../ui/duration.ts'
import { Icon } from '../ui/icon.tsx'
import { useNow } from '../ui/now.tsx'
import { Section } from '../ui/section.tsx'
import { Ago } from '../ui/when.tsx'
import { replicaWords } from './replica-words.ts'

/** The version, and how the service and what it needs are. */
export function HealthSection() {
  return (
    <Section title="Version and health" id="about">
      <Answered query={useServiceStatus()} what="the state of the service">
        {(status) => <Loaded status={status} />}
      </Answered>
    </Section>
  )
}

function Loaded({
  status: { version, started, argo_cd: argoCd, database, replicas, config, notifications },
}: {
  status: ServiceStatus
}) {
  const now = useNow()
  return (
    <>
      <p className="big">{version}</p>
      <dl className="facts">
        <dt>Argo CD</dt>
        <dd>
          {argoCd.version === undefined ? '' : `${argoCd.version}. `}
          {argoCdSentence(argoCd, now)}
        </dd>
        {database === undefined ? null : (
          <>
            <dt>Database</dt>
            <dd>
              PostgreSQL {database.version}, answers in {Math.max(1, Math.round(database.answer_ms))}
              {'\u00a0'}ms
            </dd>
          </>
        )}
        {replicas === undefined ? null : (
          <>
            <dt>Replicas</dt>
            <dd>{replicaWords(replicas, now)}</dd>
          </>
        )}
        {config === undefined ? null : (
          <>
            <dt>Configuration file</dt>
            <dd>
              read <Ago at={config.loaded} />
              {config.issues.length === 0 ? '' : '. The file has changed since, but its new content is invalid: '}
              {config.issues.map((issue) => (
                <code className="code-block" key={issue}>
                  {issue}
                </code>
              ))}
            </dd>
          </>
        )}
        {notifications === undefined || notifications.issues.length === 0 ? null : (
          <>
            <dt>Notifications that wait</dt>
            <dd>
              {notifications.issues.map((issue) => (
                <p className="field-error wrap-any" key={issue}>
                  <Icon name="i-failed" />
                  {issue}
                </p>
              ))}
            </dd>
          </>
        )}
        <dt>Running</dt>
        <dd>for {duration(now - started)}</dd>
      </dl>
    </>
  )
}
