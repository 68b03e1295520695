import { use } from 'react'
import { fallbackReadMs } from '../live/live-connection.ts'
import { Live } from '../live/use-live.ts'
import { duration } from '../ui/duration.ts'
import { Icon } from '../ui/icon.tsx'
import { At } from '../ui/when.tsx'

type Props = {
  /** Unix seconds. */
  since: number
  /** Seconds since the last good read; undefined while reads are answered. */
  age: number | undefined
  retrySeconds: number
}

/** Changes do not come by themselves now: since when, how old the page is, and when it tries again. */
export function ConnectionNotice({ since, age, retrySeconds }: Props) {
  const connection = use(Live)
  const reading = `reading every ${duration(fallbackReadMs / 1000)}`
  const retrying = retrySeconds > 0 ? `Trying again in ${duration(retrySeconds)}, ${reading} until then.` : ''
  return (
    <div className="notice warn">
      <div>
        <Icon name="i-cut" />
        <p>
          <b role="status">
            Not live since <At at={since} />.
          </b>{' '}
          {age === undefined ? '' : `What you see is ${duration(age)} old. `}
          {retrying}
        </p>
        <button className="btn btn-s" type="button" onClick={connection.tryNow}>
          Try now
        </button>
      </div>
    </div>
  )
}
