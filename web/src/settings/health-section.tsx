import type { ServiceStatus } from '../../../contract/service-status.ts'
import { argoCdSentence } from '../service/argo-cd-sentence.ts'
import { useServiceStatus } from '../service/read-status.ts'
import { duration } from '../ui/duration.ts'
import { LoadingRows } from '../ui/loading-rows.tsx'
import { useNow } from '../ui/now.tsx'
import { ReadFailure } from '../ui/read-failure.tsx'
import { Section } from '../ui/section.tsx'
import { replicaWords } from './replica-words.ts'

/** The version, and how the service and what it needs are. */
export function HealthSection() {
  const { data, error, refetch } = useServiceStatus()
  return (
    <Section title="Version and health" id="about">
      {data !== undefined ? (
        <Loaded status={data} />
      ) : error === null ? (
        <LoadingRows label="Loading the state of the service" />
      ) : (
        <ReadFailure what="The state of the service" error={error} retry={() => void refetch()} />
      )}
    </Section>
  )
}

function Loaded({ status: { version, started, argo_cd: argoCd, database, replicas } }: { status: ServiceStatus }) {
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
        <dt>Running</dt>
        <dd>for {duration(now - started)}</dd>
      </dl>
    </>
  )
}
