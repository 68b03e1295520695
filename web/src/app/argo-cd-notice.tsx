import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import type { TaskList } from '../../../contract/task.ts'
import { useArgoCdOutage } from '../live/use-live.ts'
import { figure } from '../ui/figure.ts'
import { Icon } from '../ui/icon.tsx'
import { readJson } from '../ui/read-json.ts'
import { At } from '../ui/when.tsx'

const waitingTasks = '/tasks?status=in%20progress'

/** Since when Argo CD does not answer, and how many deployments wait for it. */
export function ArgoCdNotice() {
  const outage = useArgoCdOutage()
  return outage === undefined ? null : <Unavailable since={outage.since} />
}

function Unavailable({ since }: { since: number }) {
  const { data } = useQuery({
    queryKey: ['tasks', 'waiting'],
    queryFn: ({ signal }) => readJson<TaskList>(`/api/v1${waitingTasks}&limit=1`, signal),
    refetchInterval: 15_000,
  })
  return (
    <div className="notice warn">
      <div>
        <Icon name="i-aborted" />
        <p>
          <b role="status">
            Argo CD has not answered since <At at={since} />.
          </b>{' '}
          {describeWaiting(data)} Verdicts resume by themselves when it answers.
        </p>
        <Link className="btn btn-s" href={waitingTasks}>
          Show them
        </Link>
      </div>
    </div>
  )
}

function describeWaiting(list: TaskList | undefined): string {
  if (list?.total === undefined) return ''
  if (list.total === 0) return 'No deployment waits for it.'
  const count = `${list.total_capped === true ? 'More than ' : ''}${figure(list.total)}`
  return list.total === 1 ? '1 deployment waits for it.' : `${count} deployments wait for it.`
}
