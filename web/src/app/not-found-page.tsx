import { useDocumentTitle } from '@mantine/hooks'
import { Link } from 'wouter'
import { Icon } from '../ui/icon.tsx'

/** Any address that is no page, inside the frame. */
export function NotFoundPage() {
  useDocumentTitle('Not found · Deployment Watcher')
  return (
    <>
      <h1 tabIndex={-1}>Not found</h1>
      <div className="empty">
        <Icon name="i-missing" />
        <h2>Page not found</h2>
        <p>
          <code>{window.location.pathname}</code>
        </p>
        <Link className="btn btn-s" href="/tasks">
          All tasks
        </Link>
      </div>
    </>
  )
}
