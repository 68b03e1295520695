import { Link } from 'wouter'
import type { Delivery } from '../../../contract/notify/delivery.ts'
import { usePermission } from '../auth/session.ts'
import { failureWords } from '../ui/failure-words.ts'
import { figure } from '../ui/figure.ts'
import { Icon } from '../ui/icon.tsx'
import { Section } from '../ui/section.tsx'
import { Cell, Row, RowHead, Table } from '../ui/table.tsx'
import { Ago } from '../ui/when.tsx'
import { useDeadDeliveries, useRetryDelivery } from './dead-deliveries.ts'

const columns = [
  { name: 'Target' },
  { name: 'Deployment' },
  { name: 'Reason' },
  { name: 'Since' },
  { name: 'Action', isHidden: true },
]

/** What could not be told, for those who may send it again; nothing where all was told. */
export function NotificationSection() {
  return usePermission().kind === 'allowed' ? <Dead /> : null
}

function Dead() {
  const { deliveries = [] } = useDeadDeliveries().data ?? {}
  if (deliveries.length === 0) return null
  return (
    <Section title="Notifications that were not taken" id="notifications" note={figure(deliveries.length)}>
      <Table label="Notifications that were not taken" className="top" columns={columns}>
        {deliveries.map((delivery) => (
          <DeadRow delivery={delivery} key={delivery.id} />
        ))}
      </Table>
    </Section>
  )
}

function DeadRow({
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
        <Link href={`/task/${encodeURIComponent(task)}`}>
          <code>{task.slice(0, 8)}</code>
        </Link>
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
          aria-label={`Send the notification of ${task.slice(0, 8)} to ${target} again`}
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
