import type { AuditEntry } from '../../../contract/audit.ts'
import type { DeployLockDetails } from '../../../contract/deploy-lock.ts'
import { usePermission } from '../auth/session.ts'
import { WhyNot } from '../auth/why-not.tsx'
import { Answered } from '../ui/answered.tsx'
import { Icon, type IconName } from '../ui/icon.tsx'
import { isoTime } from '../ui/moment.ts'
import { Section } from '../ui/section.tsx'
import { Cell, Row, RowHead, Table } from '../ui/table.tsx'
import { noteWords } from './lock-words.ts'
import { useLockAudit } from './read-lock-audit.ts'

type Props = { lock: DeployLockDetails; time: (at: number) => string }

/** Who locked and released, for those who may read the audit. */
export function LockAudit(props: Props) {
  const permission = usePermission()
  return (
    <Section title="Who did what" id="audit">
      {permission.kind === 'allowed' ? (
        <Entries {...props} />
      ) : (
        <WhyNot id="why-audit" permission={permission} verb="read the audit" />
      )}
    </Section>
  )
}

const columns = [{ name: 'When' }, { name: 'Who' }, { name: 'What' }, { name: 'Note' }]

function Entries({ lock, time }: Props) {
  const audit = useLockAudit(lock)
  return (
    <Answered query={audit} what="the audit">
      {({ pages }) => {
        const entries = pages.flatMap((page) => page.entries)
        if (entries.length === 0) return <p className="why">No user has locked or released deployments yet.</p>
        return (
          <>
            <Table label="Lock audit" className="top" columns={columns}>
              {entries.map((entry) => (
                <Entry entry={entry} time={time} key={entry.id} />
              ))}
            </Table>
            {audit.hasNextPage ? (
              <button
                className="btn btn-s"
                type="button"
                aria-disabled={audit.isFetchingNextPage}
                onClick={() => audit.isFetchingNextPage || void audit.fetchNextPage()}
              >
                Older entries
              </button>
            ) : null}
          </>
        )
      }}
    </Answered>
  )
}

/** Actions that a newer service knows keep their own name. */
const actions: Partial<Record<string, { words: string; icon: IconName }>> = {
  lock_set: { words: 'Locked', icon: 'i-locked' },
  lock_released: { words: 'Released', icon: 'i-open' },
}

function Entry({ entry, time }: { entry: AuditEntry } & Pick<Props, 'time'>) {
  const { at, action, actor, actor_name: name, actor_kind: kind, detail } = entry
  const known = actions[action]
  return (
    <Row>
      <Cell className="nowrap">
        <time dateTime={isoTime(at)}>{time(at)}</time>
      </Cell>
      <Cell className="push reason who">{name ?? actor ?? kind}</Cell>
      <RowHead className="full">
        <span className="row tightrow">
          {known === undefined ? null : <Icon name={known.icon} />}
          {known?.words ?? action}
        </span>
      </RowHead>
      <Cell className="full reason">{detail && noteWords(detail, time)}</Cell>
    </Row>
  )
}
