import { capitalize } from './capitalize.ts'
import { failureWords } from './failure-words.ts'
import { Icon } from './icon.tsx'
import { AnswerError } from './read-json.ts'

type Props = { what: string; error: Error; retry: () => void }

/** What could not be read, why, and a way to try again. For a page that has nothing to show yet. */
export function ReadFailure({ what, error, retry }: Props) {
  if (error instanceof AnswerError && error.status === 401) return <NeedsSignIn />
  return (
    <div className="alarm s-failed" role="alert">
      <Icon name="i-failed" />
      <div>
        <h2 className="name">{what} could not be read</h2>
        <p>{capitalize(failureWords(error))}. Deployments are not affected.</p>
      </div>
      <div className="when">
        <button className="btn btn-s" type="button" onClick={retry}>
          <Icon name="i-again" />
          Try again
        </button>
      </div>
    </div>
  )
}

function NeedsSignIn() {
  return (
    <div className="empty" role="alert">
      <Icon name="i-locked" />
      <h2>Sign in to read this</h2>
      <p>Deployments are not affected.</p>
    </div>
  )
}
