import { Link } from 'wouter'
import type { Delivery, NotificationTarget } from '../../../contract/notify/delivery.ts'
import { usePermission } from '../auth/session.ts'
import { failureWords } from '../ui/failure-words.ts'
import { figure } from '../ui/figure.ts'
import { Icon } from '../ui/icon.tsx'
import { Section } from '../ui/section.tsx'
import { Cell, Row, RowHead, Table } from '../ui/table.tsx'
import { Ago } from '../ui/when.tsx'
import { useNotificationTargets, useRetryDelivery, useUndelivered } from './deliveries.ts'

const targetColumns = [{ name: 'Target' }, { name: 'Last result' }, { name: 'At' }]
const deliveryColumns = [
  { name: 'Target' },
  { name: 'Deployment' },
  { name: 'Reason' },
  { name: 'Since' },
  { name: 'Action', isHidden: true },
]

/** Targets with their last result, and what could not be told, for those who may send it again; nothing without targets. */
export function NotificationSection() {
  return usePermission().kind === 'allowed' ? <Notifications /> : null
}

function Notifications() {
  const { targets = [] } = useNotificationTargets().data ?? {}
  const undelivered = useUndelivered()
  if (targets.length === 0 && undelivered.length === 0) return null
  return (
    <Section title="Notifications" id="notifications">
      {targets.length === 0 ? null : (
        <Table label="Targets of notifications" className="top" columns={targetColumns}>
          {targets.map((target) => (
            <TargetRow target={target} key={target.name} />
          ))}
        </Table>
      )}
      {undelivered.length === 0 ? null : (
        <>
          <h3>Not taken ({figure(undelivered.length)})</h3>
          <Table label="Notifications that were not taken" className="top" columns={deliveryColumns}>
            {undelivered.map((delivery) => (
              <UndeliveredRow delivery={delivery} key={delivery.id} />
            ))}
          </Table>
        </>
      )}
    </Section>
  )
}

function TargetRow({ target: { name, kind, disabled, last } }: { target: NotificationTarget }) {
  return (
    <Row>
      <RowHead className="full">
        <span className="name">{name}</span>
        <div className="dim">{kind}</div>
      </RowHead>
      <Cell className="full wrap-any">
        {last === undefined ? 'Nothing sent yet' : <LastResult {...last} />}
        {disabled === undefined ? null : (
          <p className="field-error">
            <Icon name="i-failed" />
            Disabled: it answered 410. Send one of its notifications again to enable it.
          </p>
        )}
      </Cell>
      <Cell className="nowrap" data-label="At">
        {last === undefined ? null : <Ago at={last.at} />}
      </Cell>
    </Row>
  )
}

function LastResult({ state, event, error }: NonNullable<NotificationTarget['last']>) {
  if (state === 'sent') return <>Sent: {event}</>
  return (
    <>
      Not taken: {event}
      {error === undefined ? '' : `, ${error}`}
    </>
  )
}

function UndeliveredRow({
  delivery: { id, target, event, task_id: task, last_error: reason = '', created },
}: {
  delivery: Delivery
}) {
  const retry = useRetryDelivery()
  return (
    <Row>
      <RowHead className="full">
        <span className="name">{target}</span>
        <div className="dim">{event}</div>
      </RowHead>
      <Cell data-label="Deployment">
        {task === undefined ? (
          'Deploy lock'
        ) : (
          <Link href={`/task/${encodeURIComponent(task)}`}>
            <code>{task.slice(0, 8)}</code>
          </Link>
        )}
      </Cell>
      <Cell className="full wrap-any">
        {reason}
        {retry.error === null ? null : (
          <p className="field-error" role="alert">
            <Icon name="i-failed" />
            Not sent: {failureWords(retry.error)}
          </p>
        )}
      </Cell>
      <Cell className="nowrap" data-label="Since">
        <Ago at={created} />
      </Cell>
      <Cell className="num push">
        <button
          className="btn btn-s"
          type="button"
          aria-label={`Send the notification of ${task?.slice(0, 8) ?? 'the deploy lock'} to ${target} again`}
          aria-disabled={retry.isPending}
          onClick={() => {
            if (!retry.isPending) retry.mutate(id)
          }}
        >
          {retry.isPending ? 'Sending' : 'Send again'}
        </button>
      </Cell>
    </Row>
  )
}
